"""How building a nest stops: an exception that never leaves the package, carrying the Reason."""

from __future__ import annotations

from perfcc.core.reason import Reason


class Refused(Exception):
    """The loop at hand can't be modelled."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason
