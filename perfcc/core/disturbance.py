"""What keeps a helper process from telling anything about its input: it was killed from outside, or the disk was full.

Such a failure must not become a verdict: nothing is kept of it, and the next build looks again.
"""

from __future__ import annotations

import errno
import re
import signal

_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
# What drivers say whose own helper was killed (GCC 12, clang 19), and the C library of a full disk or a spent quota.
_SAID = re.compile(
    r"(?:Killed|Terminated|Hangup|Interrupt|Quit) signal terminated program|command failed due to signal|"
    r"No space left on device|Disk quota exceeded|Cannot allocate memory|virtual memory exhausted"
)


class Disturbed(RuntimeError):
    """A helper process failed for reasons that are not in its input."""


_SHORT = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EIO, errno.EROFS)


def heed(status: int, errors: str) -> None:
    """Raises Disturbed when a process that ended so, with that on its standard error, was disturbed. The texts are the C locale's."""
    if -status in _OUTSIDE:
        raise Disturbed(f"ended by {signal.Signals(-status).name}")
    said = _SAID.search(errors) if status != 0 else None
    if said is not None:
        raise Disturbed(said[0])


def heed_error(error: Exception) -> None:
    """Raises Disturbed for an error that tells of the machine: no memory, no room, no processes."""
    if isinstance(error, Disturbed):
        raise error
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SHORT):
        raise Disturbed(str(error) or type(error).__name__) from error
