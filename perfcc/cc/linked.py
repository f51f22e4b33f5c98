"""Units whose object lives only until it is linked: compile and link in one step."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.flags import flags
from perfcc.cc.options import Effect, find
from perfcc.core.unit import Invocation

COMPILE_SECONDS = 600.0
_OUTPUTS = (Effect.OUTPUT, Effect.DEPEND, Effect.DEPEND_ALL, Effect.DEPEND_FILE, Effect.DEPEND_TARGET)
_REPORTS = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")


def original_object(invocation: Invocation, info: CompilerInfo, scratch: Path) -> Path:
    """The original's object: where the compiler left it, or made again in ``scratch`` where the link has used it up.

    Raises CalledProcessError when it can't be made, TimeoutExpired, OSError.
    """
    if not invocation.linked:
        return Path(invocation.cwd, invocation.output)
    made = scratch / "original.o"
    arguments = [info.path]
    for flag in flags(invocation.argv):
        option = find(flag.words[0]) if flag.name else None
        if (option is None or option.effect not in _OUTPUTS) and not flag.words[0].startswith("-Wp,-M"):
            arguments += flag.words
    environ = {key: value for key, value in os.environ.items() if key not in _REPORTS}
    subprocess.run(
        [*arguments, "-w", "-o", str(made)], cwd=invocation.cwd, env=environ, capture_output=True, timeout=COMPILE_SECONDS, check=True
    )
    return made
