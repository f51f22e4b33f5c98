"""A kernel lifted out of its function: one entry ``perfcc_codelet_run(void** args)`` over its live-ins, original or candidate, C or C++.

``args[i]`` is the address of the i-th variable's storage: the scalar, the first element, the array or the vector object.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from perfcc.cc import runtime
from perfcc.core.candidate import Candidate
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.types import Scope, Storage, TypeKind, Variable

ENTRY = "perfcc_codelet_run"
SIZES = {
    "bool": 8, "_Bool": 8, "char": 8, "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32,
    "unsigned int": 32,
    "long": 64, "unsigned long": 64, "long long": 64, "unsigned long long": 64, "float": 32, "double": 64, "wchar_t": 32, "char8_t": 8,
    "char16_t": 16, "char32_t": 32,
}  # fmt: skip

Splice = Callable[[Kernel, Candidate, float], str]
"""The text that takes the kernel's place: guard with that threshold, fast path, original."""


def plain_splice(kernel: Kernel, candidate: Candidate, threshold: float) -> str:
    """Guard, fast path, original; without a test of the work."""
    guard = f"({candidate.guard or '1'})"
    if candidate.threads:
        guard = f"perfcc_rt_parallel_ok() && {guard}"
    return f"{{ if ({guard}) {{\n{candidate.fast}\n}} else {{\n{kernel.text}\n}} }}"


@dataclass(frozen=True, slots=True)
class Codelets:
    """What every codelet of one kernel shares: ``variables`` in the order of the entry's arguments."""

    kernel: Kernel
    variables: tuple[Variable, ...]
    compared: frozenset[str]

    @property
    def suffix(self) -> str:
        return ".c" if self.kernel.language == "c" else ".cpp"

    def original(self) -> str:
        return self._text("", self.kernel.text)

    def candidate(self, candidate: Candidate, splice: Splice) -> str:
        """The codelet of the text that would be shipped, with a count of how often the fast path ran."""
        counted = replace(candidate, fast=f"{{\n++perfcc_codelet_fast_runs;\n{candidate.fast}\n}}")
        body = splice(self.kernel, counted, 0.0)
        return self._text(runtime.text(runtime.GUARD) + f"\n{_EXPORT} unsigned long perfcc_codelet_fast_runs = 0;\n", body)

    def _text(self, before: str, body: str) -> str:
        kernel = self.kernel
        cpp = kernel.language != "c"
        headers = [h if h.startswith("#") else f"#include {h}" if h[:1] in '<"' else f"#include <{h}>" for h in kernel.headers]
        if any(v.storage is Storage.VECTOR for v in self.variables):
            headers.append("#include <vector>")
        definitions = [call.definition for call in kernel.calls if call.definition]
        helpers = [_helpers(index, v) for index, v in enumerate(self.variables) if v.storage is Storage.VECTOR]
        # The extents of arrays of variable length are scalars, so these come first.
        order = sorted(enumerate(self.variables), key=lambda entry: bool(entry[1].extents))
        bind = [line for index, v in order for line in self._bind(index, v, cpp)]
        written = [(index, v) for index, v in enumerate(self.variables) if self._copied(v, cpp) and v.id in kernel.live_out]
        back = [f"*({_type(v)} *)args[{index}] = {v.name};" for index, v in written]
        entry = f'{_EXPORT if not cpp else _EXPORT_CPP} void {ENTRY}(void **args)'
        parts = [
            *dict.fromkeys(headers), before, *kernel.prelude, *dict.fromkeys(definitions), *helpers,
            f"{entry} {{\n(void)args;", *bind, "{", body, "}", *back, "}", "",
        ]  # fmt: skip
        return "\n".join(parts)

    def _copied(self, v: Variable, cpp: bool) -> bool:
        """True for a scalar that lives in a register of its own, as a local or a parameter does."""
        return v.storage is Storage.SCALAR and (not cpp or (v.scope in (Scope.LOCAL, Scope.PARAMETER) and not v.is_reference))

    def _bind(self, index: int, v: Variable, cpp: bool) -> list[str]:
        type = _type(v)
        slot = f"args[{index}]"
        match v.storage:
            case Storage.SCALAR if self._copied(v, cpp):
                return [f"{type} {v.name} = *({type} *){slot};", f"(void){v.name};"]
            case Storage.SCALAR:
                return [f"{type} &{v.name} = *({type} *){slot};", f"(void){v.name};"]
            case Storage.POINTER:
                star = "*__restrict " if v.is_restrict else "*"
                rows = "".join(f"[{extent}]" for extent in (*v.dims[1:], *v.extents))
                if rows:
                    return [f"{type} ({star}{v.name}){rows} = ({type} (*){rows}){slot};", f"(void){v.name};"]
                return [f"{type} {star}{v.name} = ({type} *){slot};", f"(void){v.name};"]
            case Storage.ARRAY:
                dims = "".join(f"[{n}]" for n in v.dims)
                if cpp and None not in v.dims:
                    return [f"{type} (&{v.name}){dims} = *({type} (*){dims}){slot};", f"(void){v.name};"]
                rest = "".join(f"[{n}]" for n in v.dims[1:])
                return [f"{type} (*{v.name}){rest} = ({type} (*){rest}){slot};", f"(void){v.name};"]
            case _:
                vector = f"std::vector<{_plain(v)}>"
                return [f"{vector} &{v.name} = *({vector} *){slot};", f"(void){v.name};"]


_EXPORT = '__attribute__((visibility("default")))'
_EXPORT_CPP = f'extern "C" {_EXPORT}'


def build(kernel: Kernel) -> Codelets | Reason:
    """The codelets of ``kernel``, or why one of its variables can't be exercised."""
    outside = [v for v in kernel.variables if not v.declared_in_kernel]
    outputs = set(kernel.live_out)
    for v in outside:
        problem = _unsupported(v, outputs, kernel)
        if problem:
            return Reason("live-in-unsupported", v.span or kernel.span, f"{v.name}: {problem}")
    dead = set(kernel.dead_after)
    compared = frozenset(v.id for v in outside if v.id not in dead)
    return Codelets(kernel, tuple(outside), compared)


def _unsupported(v: Variable, outputs: set[str], kernel: Kernel) -> str:
    if v.storage is Storage.OTHER or v.element is None:
        return f"a {v.type_spelling}"
    if SIZES.get(v.element.spelling) != v.element.bits:
        return f"elements of type {v.element.spelling}"
    if not re.fullmatch(r"[A-Za-z_]\w*", v.name):
        return "its name is not a plain identifier"
    if v.storage is Storage.VECTOR and v.element.kind is TypeKind.BOOL:
        return "a vector of bits"
    if v.storage is Storage.ARRAY and (not v.dims or None in v.dims[1:]):
        return "an array of unknown extent"
    if v.storage is Storage.ARRAY and kernel.language == "c" and re.search(r"\bsizeof\b", kernel.text):
        return "an array whose size the loop asks for"
    if v.storage is Storage.POINTER and v.id in outputs and _pointer_written(v, kernel):
        return "a pointer that the loop moves"
    return ""


def _pointer_written(v: Variable, kernel: Kernel) -> bool:
    from perfcc.core.ir import Assign, VarRef, statements

    if kernel.nest is None:
        return True
    return any(isinstance(s, Assign) and isinstance(s.target, VarRef) and s.target.var.id == v.id for s in statements(kernel.nest))


def _plain(v: Variable) -> str:
    assert v.element is not None
    return v.element.spelling


def _type(v: Variable) -> str:
    """The element's type; const for a pointer to const, so that the text means what it meant."""
    const = v.storage is Storage.POINTER and re.search(r"\bconst\b", v.type_spelling.split("*")[0]) is not None
    return ("const " if const else "") + _plain(v)


def _helpers(index: int, v: Variable) -> str:
    vector = f"std::vector<{_plain(v)}>"
    return (
        f"{_EXPORT_CPP} void *perfcc_codelet_make_{index}(const void *data, __SIZE_TYPE__ bytes) {{ "
        f"const {_plain(v)} *first = (const {_plain(v)} *)data; return new {vector}(first, first + bytes / sizeof({_plain(v)})); }}\n"
        f"{_EXPORT_CPP} void perfcc_codelet_view_{index}(void *vector, void **data, __SIZE_TYPE__ *bytes) {{ "
        f"{vector} &v = *({vector} *)vector; *data = v.empty() ? (void *)0 : (void *)&v[0]; *bytes = v.size() * sizeof({_plain(v)}); }}\n"
        f"{_EXPORT_CPP} void perfcc_codelet_free_{index}(void *vector) {{ delete ({vector} *)vector; }}"
    )
