"""The rewritten unit as an object that takes the original's place: same flags, same lines, same link line."""

from perfcc.cc.emit.emission import Emitted, emit
from perfcc.cc.emit.identity import Injected, inject
from perfcc.cc.emit.install import Beside, OutputState, install

__all__ = ["Beside", "Emitted", "Injected", "OutputState", "emit", "inject", "install"]
