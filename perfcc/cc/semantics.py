"""What the user's flags allow: the last one wins, as in the compilers."""

from __future__ import annotations

from collections.abc import Sequence

from perfcc.core.unit import Semantics

_SANITIZE = "-fsanitize="


def semantics(argv: Sequence[str]) -> Semantics:
    """The legality that ``argv`` (``argv[0]`` included) gives; where compilers differ, the stricter reading.

    GCC applies the last ``-O`` first and all other flags after it in order (gcc/opts.cc, default_options_optimization); reassociation
    needs -fassociative-math together with -fno-signed-zeros and -fno-trapping-math (GCC manual, "Options That Control Optimization").
    """
    level = optimisation(argv)
    state = {
        "unsafe-math-optimizations": False,
        "associative-math": False,
        "signed-zeros": True,
        "trapping-math": True,
        "rounding-math": False,
        "math-errno": True,
        "strict-aliasing": level in ("2", "3", "s", "z", "fast"),
        "wrapv": False,
        "trapv": False,
        "openmp": False,
    }
    if level == "fast":
        _fast_math(state, True)
    sanitized = False
    for word in argv[1:]:
        if word.startswith(_SANITIZE):
            sanitized = True
        if not word.startswith("-f"):
            continue
        on = not word.startswith("-fno-")
        name = word[5:] if not on else word[2:]
        if name == "fast-math":
            _fast_math(state, on)
        elif name == "unsafe-math-optimizations":
            _unsafe_math(state, on)
        elif name == "strict-overflow":
            state["wrapv"] = not on
        elif name == "wrapv" and on:
            state["wrapv"], state["trapv"] = True, False
        elif name == "trapv" and on:
            state["wrapv"], state["trapv"] = False, True
        elif name.startswith("openmp=") and on:
            state["openmp"] = True
        elif name in state:
            state[name] = on
    reassociate = state["associative-math"] and not (state["signed-zeros"] or state["trapping-math"] or state["rounding-math"])
    return Semantics(
        reassociate=reassociate,
        math_errno=state["math-errno"],
        strict_aliasing=state["strict-aliasing"],
        wrapv=state["wrapv"],
        trapping=state["trapv"] or sanitized,
        openmp=state["openmp"],
        contracts=_last(argv, "-ffp-contract=", "fast") != "off",
        excess_precision=_last(argv, "-mfpmath=", "sse") != "sse",
    )


def _last(argv: Sequence[str], flag: str, default: str) -> str:
    """The value of the last ``flag``."""
    return next((word.removeprefix(flag) for word in reversed(argv) if word.startswith(flag)), default)


def optimisation(argv: Sequence[str]) -> str:
    """The level of the last ``-O``: "0" to "3", "s", "z", "g" or "fast"."""
    level = "0"
    for word in argv[1:]:
        if word.startswith("-O"):
            level = word[2:] or "1"
    if level.isdigit():
        level = str(min(int(level), 3))
    return level


def _fast_math(state: dict[str, bool], on: bool) -> None:
    _unsafe_math(state, on)
    state["math-errno"] = not on
    if on:
        state["rounding-math"] = False


def _unsafe_math(state: dict[str, bool], on: bool) -> None:
    state["unsafe-math-optimizations"] = on
    state["associative-math"] = on
    state["signed-zeros"] = not on
    state["trapping-math"] = not on
