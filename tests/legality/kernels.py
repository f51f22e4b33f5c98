"""Random but plausible kernels as C++ or C text, each a function with one nest, and how a driver calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

TYPES = {
    "d": "double", "f": "float", "i": "int", "u": "unsigned", "l": "long", "z": "std::size_t",
    "h": "short", "c": "unsigned char", "a": "signed char",
}  # fmt: skip
_ARENA_OF = {"u": "i", "z": "l", "a": "c"}
_FLOATING = "df"
_NAMES = ("p", "q", "r")

PRELUDE = """
static int gi = 3;
static unsigned gu = 2;
static long gl = 4;
static int gtable[64];
static double gsquare[24][24];
static float grow[64];
enum shade { dark, pale = 3, light };
static const int four = 4;
static inline int half(int x) { return x / 2; }
static inline int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
static inline double blend(double x, const double &y) { double t = x * 0.5; return t + y * 0.25; }
#define CELL(i, j) ((i) * 7 + (j))
"""
# The same in C: what the driver, which is C++, looks at as well has external linkage.
C_PRELUDE = PRELUDE.replace("const double &y", "double y")
for _shared in ("int gi", "unsigned gu", "long gl", "int gtable", "double gsquare", "float grow"):
    C_PRELUDE = C_PRELUDE.replace(f"static {_shared}", _shared)
C_SHARED = """
extern "C" {
extern int gi, gtable[64];
extern unsigned gu;
extern long gl;
extern double gsquare[24][24];
extern float grow[64];
}
"""


@dataclass
class Kernel:
    """``text`` is the function ``NAME``, ``call`` its arguments in terms of the driver's input; ``disjoint``: needs buffers apart.

    ``types`` are its parameters' types, arrays of variable length as ``void *``.
    """

    text: str
    call: str
    disjoint: bool
    types: str


@dataclass
class _Scope:
    """What may be mentioned: loop variables with their types, scalars that are set, arrays with element types, integers."""

    loops: list[tuple[str, str]] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    scalars: list[tuple[str, str]] = field(default_factory=list)
    arrays: list[tuple[str, str, bool]] = field(default_factory=list)
    squares: list[tuple[str, str]] = field(default_factory=list)

    def copy(self) -> _Scope:
        return _Scope(list(self.loops), list(self.integers), list(self.scalars), list(self.arrays), list(self.squares))


class Generator:
    """Kernels from one random source, in ``c++`` or ``c``."""

    def __init__(self, random: Random, language: str = "c++") -> None:
        self._r = random
        self._c = language == "c"
        self._types = {**TYPES, "z": "size_t"} if self._c else TYPES
        self._fresh = 0

    def kernel(self) -> Kernel:
        r = self._r
        scope, parameters, arguments = _Scope(), [], []
        restrict = r.random() < 0.3
        family = r.choice(["dd", "ii", "di", "iu", "lz", "fi", "hh", "cc", "ci", "uu", "aa"])
        for position, name in enumerate(_NAMES[: r.choice([1, 2, 2, 3])]):
            kind = r.choice(family)
            constant = position > 0 and r.random() < 0.4
            quick = " *__restrict " if restrict else " *"
            parameters.append(f"{'const ' if constant else ''}{self._types[kind]}{quick}{name}")
            arguments.append(f"({self._types[kind]} *)at_{_ARENA_OF.get(kind, kind)}(in, {position})")
            scope.arrays.append((name, kind, not constant))
        if self._c and r.random() < 0.4:
            self._rows(scope, parameters, arguments, restrict)
        for name in ("v", "w")[: 0 if self._c else r.choice([0, 0, 1, 2])]:
            kind = r.choice("di")
            parameters.append(f"std::vector<{self._types[kind]}> &{name}")
            arguments.append(f"vector_{kind}(in, {'vw'.index(name)})")
            scope.arrays.append((name, kind, True))
            if not restrict:  # a size as a stride would lead from one buffer into the next
                scope.integers.append(f"{r.choice(['', '(int)'])}{name}.size()")
        for name in ("n", "m", "k"):
            kind = r.choice("iiiiuulzh")
            reference = not self._c and r.random() < 0.12
            type = self._types[kind]
            parameters.append(f"{'const ' if r.random() < 0.2 else ''}{type} {'&' if reference else ''}{name}")
            arguments.append(f"*({type} *)bound_{_ARENA_OF.get(kind, kind)}(in, '{name}')" if reference else f"({type})in.{name}")
            scope.integers.append(name)
        if r.random() < 0.3:
            scope.integers += [r.choice(["gi", "gu", "gl", "four", "pale"])]
        if r.random() < 0.3:
            scope.arrays.append(r.choice([("gtable", "i", True), ("grow", "f", True)]))
        if r.random() < 0.25:
            scope.squares.append(("gsquare", "d"))
        before, after = [], []
        for name in ("s", "t")[: r.choice([0, 1, 2])]:
            kind = r.choice("iiuldhcaz")
            if not self._c and r.random() < 0.15 and kind in "ild":
                parameters.append(f"{self._types[kind]} &{name}")
                arguments.append(f"*({self._types[kind]} *)at_{_ARENA_OF.get(kind, kind)}(in, 3)")
            else:
                before.append(f"{self._types[kind]} {name} = {r.choice(['0', '1', 'n', 'k'])};")
            scope.scalars.append((name, kind))
            if r.random() < 0.75:
                after.append(f"result = result * 31 + (long){name};")
        if r.random() < 0.2:
            before.append("int e = 2;")
            scope.scalars.append(("e", "i"))
        outside: list[str] = []
        if r.random() < 0.4:
            nest = self._perfect(scope, r.choice([2, 2, 3]), outside, after)
        else:
            nest = self._loop(scope, r.choice([1, 1, 2, 2, 2, 3]), outside, after)
        inside = "\n    ".join([*before, *outside, *nest.split("\n"), "long result = 0;", *after, "return result;"])
        types = ", ".join("void *" if "(*" in one else re.sub(r"__restrict|\w+$", "", one) for one in parameters)
        types = types.replace("size_t", "std::size_t") if self._c else types
        return Kernel(f"static long NAME({', '.join(parameters)}) {{\n    {inside}\n}}\n", ", ".join(arguments), restrict, types)

    def _rows(self, scope: _Scope, parameters: list[str], arguments: list[str], restrict: bool) -> None:
        """A parameter that is an array of variable length; its extent is a parameter of its own, and at least 1."""
        r = self._r
        kind, extent = r.choice("dif"), r.choice(["c", "c", "c + 1", "2 * c", "11"])
        quick = "__restrict " if restrict else ""
        parameters += [f"{r.choice(['int', 'long', 'size_t', 'unsigned'])} c", f"{self._types[kind]} (*{quick}g)[{extent}]"]
        arguments += ["(in.m > 0 ? in.m : 4)", f"(void *)at_{kind}(in, 3)"]
        scope.squares.append(("g", kind))
        scope.integers.append("c")

    # ---- loops -------------------------------------------------------------------------------------------------

    def _loop(self, scope: _Scope, depth: int, outside: list[str], after: list[str]) -> str:
        r = self._r
        name = "ijl"[len(scope.loops)] if len(scope.loops) < 3 else f"x{len(scope.loops)}"
        kind = r.choice("iiiiiulz")
        type = self._types[kind]
        bound, low = self._bound(scope), r.choice(["0", "0", "0", "1", "2", *(["k"] if "k" in scope.integers else [])])
        if scope.loops and r.random() < 0.25:
            outer = scope.loops[-1][0]
            low, bound = r.choice([(outer, bound), ("0", outer), ("0", f"{outer} + 1"), (f"{outer} + 1", bound)])
        step = r.choice([1, 1, 1, 1, 2, 3])
        shape = r.random()
        if shape < 0.72:
            head = f"{name} = {low}; {name} {r.choice(['<', '<', '<', '<='])} {bound}; {f'{name} += {step}' if step > 1 else f'{name}++'}"
        elif shape < 0.8:
            head = f"{name} = {low}; {name} != {bound}; ++{name}"
        elif shape < 0.86:
            head = f"{name} = {low}; {bound} > {name}; {name} = {name} + {step}"
        else:
            head = f"{name} = {bound} - 1; {name} {r.choice(['>=', '>'])} {low}; {f'{name} -= {step}' if step > 1 else f'--{name}'}"
        if r.random() < 0.3 and not any(f" {name} = " in line for line in outside):
            outside.append(f"{type} {name} = 7;")
            if r.random() < 0.4:
                after.append(f"result = result * 31 + (long){name};")
        else:
            head = f"{type} {head}"
        inner = scope.copy()
        inner.loops.append((name, kind))
        lines: list[str] = []
        if depth > 1 and r.random() < 0.55:
            lines = self._loop(inner, depth - 1, outside, after).split("\n")
        else:
            for _ in range(r.choice([1, 1, 2, 3])):
                lines += self._statement(inner, 0)
            if depth > 1:
                lines += self._loop(inner, depth - 1, outside, after).split("\n")
                if r.random() < 0.4:
                    lines += self._statement(inner, 0)
        if len(lines) == 1 and r.random() < 0.5 and not lines[0].startswith(("const", *self._types.values())):
            return f"for ({head})\n    {lines[0]}"
        return "\n".join([f"for ({head}) {{", *(f"    {line}" for line in lines), "}"])

    def _perfect(self, scope: _Scope, depth: int, outside: list[str], after: list[str]) -> str:
        """A rectangular nest over rows and columns, its loops in any order: what rules that reorder iterations look for."""
        r = self._r
        heads: list[str] = []
        names = ["i", "j", "l"][:depth]
        r.shuffle(names)
        inner = scope.copy()
        for name in names:
            kind = r.choice("iiiiiulz")
            step = r.choice([1, 1, 1, 1, 2])
            bound = r.choice(["n", "m", "n", "m", "7", "n - 1", "m - 1"])
            low = r.choice(["0", "0", "1", "2"])
            if r.random() < 0.85:
                head = (
                    f"{name} = {low}; {name} {r.choice(['<', '<', '<', '<='])} {bound}; {f'{name} += {step}' if step > 1 else f'{name}++'}"
                )
            else:
                head = f"{name} = {bound}; {name} > {low}; {name} -= {step}"
            if r.random() < 0.25:
                outside.append(f"{self._types[kind]} {name} = 7;")
                if r.random() < 0.3:
                    after.append(f"result = result * 31 + (long){name};")
                heads.append(head)
            else:
                heads.append(f"{self._types[kind]} {head}")
            inner.loops.append((name, kind))
        statement = self._matrix(inner) if r.random() < 0.8 else self._statement(inner, 0)[0]
        if "{" in statement:
            statement = self._matrix(inner)
        lines = [statement, *([self._matrix(inner)] if r.random() < 0.3 else [])]
        return "\n".join([*(f"{'    ' * k}for ({head})" for k, head in enumerate(heads)), "{", *lines, "}"])

    def _matrix(self, scope: _Scope) -> str:
        r = self._r
        names = [name for name, _ in scope.loops]

        def place(name: str) -> str:
            i, j = r.sample(names, 2)
            row = r.choice([i, i, f"({i} + 1)", f"({i} - 1)"])
            column = r.choice([j, j, f"{j} + 1", f"{j} - 1", f"2 * {j}"])
            if name in squares:
                return f"{name}[{row}][{column}]"
            linear = [f"{row} * m + {column}", f"{row} * m + {column}", f"{row} * n + {column}", f"{row} * 24 + {column}", i, j]
            return f"{name}[{r.choice(linear)}]"

        squares = [name for name, _ in scope.squares]
        choices = [(name, kind) for name, kind, writable in scope.arrays if writable and name in (*_NAMES, "v", "w")]
        name = r.choice([*choices, *scope.squares])[0]
        others = [entry[0] for entry in (*scope.arrays, *scope.squares) if entry[0] in (*_NAMES, "v", "w", *squares)]
        value = f"{place(r.choice(others))} {r.choice('+-*')} {r.choice([place(r.choice(others)), '1', *names])}"
        return f"{place(name)} {r.choice(['=', '=', '+=', '+='])} {value};"

    def _bound(self, scope: _Scope) -> str:
        r = self._r
        base = r.choice(scope.integers)
        moved, least = f"{base} + k" if "k" in scope.integers else base, self._extreme("<", "long", "n", "9")
        return r.choice([base, base, base, f"{base} - 1", moved, "8", least, f"{base} / 2"])

    # ---- statements --------------------------------------------------------------------------------------------

    def _statement(self, scope: _Scope, deep: int) -> list[str]:
        r = self._r
        pick = r.random()
        if pick < 0.42:
            return [self._store(scope)]
        if pick < 0.6 and scope.scalars:
            return [self._scalar(scope)]
        if pick < 0.72 and deep < 2:
            then = [line for _ in range(r.choice([1, 2])) for line in self._statement(scope.copy(), deep + 1)]
            lines = [f"if ({self._condition(scope)}) {{", *(f"    {line}" for line in then), "}"]
            if r.random() < 0.3:
                lines += ["else {", *(f"    {line}" for line in self._statement(scope.copy(), deep + 1)), "}"]
            return lines
        if pick < 0.76 and deep == 0:
            return [f"if ({self._condition(scope)}) continue;"]
        if pick < 0.88:
            return self._declaration(scope)
        if pick < 0.93:
            return self._row(scope)
        return [self._store(scope)]

    def _row(self, scope: _Scope) -> list[str]:
        r = self._r
        pointers = [entry for entry in scope.arrays if entry[0] in _NAMES]
        name, kind, writable = r.choice(pointers)
        self._fresh += 1
        own = f"row{self._fresh}"
        if not self._c and r.random() < 0.3:
            scope.scalars.append((own, kind)) if writable else None
            return [f"{'' if writable else 'const '}{self._types[kind]} &{own} = {name}[{self._index(scope, name)}];"]
        scope.arrays.append((own, kind, writable))
        return [f"{'' if writable else 'const '}{self._types[kind]} *{own} = {name} + {self._index(scope, name)};"]

    def _declaration(self, scope: _Scope) -> list[str]:
        r = self._r
        self._fresh += 1
        kind, name = r.choice("iiildfubz"), f"x{self._fresh}"
        constant = "const " if r.random() < 0.4 else ""
        if kind == "b":
            scope.integers.append(name)
            return [f"{constant}{r.choice(['bool', '_Bool']) if self._c else 'bool'} {name} = {self._condition(scope)};"]
        if kind in _FLOATING:
            line = f"{constant}{self._types[kind]} {name} = {self._value(scope, kind)};"
            if not constant:
                scope.scalars.append((name, kind))
            return [line]
        line = f"{constant}{self._types[kind]} {name} = {r.choice([self._index(scope, ''), self._value(scope, kind)])};"
        scope.integers.append(name)
        if not constant:
            scope.scalars.append((name, kind))
        return [line]

    def _store(self, scope: _Scope) -> str:
        r = self._r
        writable = [entry for entry in scope.arrays if entry[2]]
        if (scope.squares and r.random() < 0.3) or not writable:
            if not scope.squares:
                return ";"
            name, kind = r.choice(scope.squares)
            return f"{name}[{self._small(scope)}][{self._small(scope)}] {r.choice(['=', '+='])} {self._value(scope, kind)};"
        name, kind, _ = r.choice(writable)
        place = f"{name}[{self._index(scope, name)}]"
        if r.random() < 0.1:
            return f"{place}{r.choice(['++', '--'])};"
        op = r.choice(["=", "=", "=", "=", "+=", "-=", "*="] + ([] if kind in _FLOATING else ["^=", "|=", "&="]))
        return f"{place} {op} {self._bits(scope, kind) if op in ('^=', '|=', '&=') else self._value(scope, kind)};"

    def _extreme(self, relation: str, type: str, one: str, two: str) -> str:
        """The smaller or the larger value."""
        if self._c:
            return f"({one} {relation} {two} ? {one} : {two})"
        return f"std::{'min' if relation == '<' else 'max'}<{type}>({one}, {two})"

    def _bits(self, scope: _Scope, kind: str) -> str:
        """A value that bitwise operators take."""
        value = self._value(scope, kind)
        floating = scope.squares or any(entry[1] in _FLOATING for entry in (*scope.arrays, *scope.scalars))
        return f"({self._types[kind]})({value})" if floating else value

    def _scalar(self, scope: _Scope) -> str:
        r = self._r
        name, kind = r.choice(scope.scalars)
        value = self._value(scope, kind) if kind in _FLOATING else self._bits(scope, kind)
        if kind in _FLOATING:
            return f"{name} {r.choice(['=', '=', '+='])} {value};"
        pick = r.random()
        if pick < 0.3:
            return f"{name} = {value};"
        if pick < 0.6:
            return f"{name} {r.choice(['+=', '-=', '^=', '|=', '&=', '*='])} {value};"
        if pick < 0.72:
            return f"if ({value} {r.choice('<>')} {name}) {name} = {value};"
        if pick < 0.8:
            return f"{name} = {self._extreme(r.choice('<>'), self._types[kind], name, value)};"
        if pick < 0.9:
            cast = r.choice(["", "(int)", "(unsigned)", "(long)", "(unsigned char)", "(short)"])
            return f"{name} = {cast}({name} {r.choice('+-|^&*')} {value});"
        return f"{name} = {value} {r.choice('+|^')} {name} {r.choice(['', '+ 1', '- k'])};"

    # ---- expressions -------------------------------------------------------------------------------------------

    def _condition(self, scope: _Scope) -> str:
        r = self._r
        one, two = self._term(scope), r.choice([self._term(scope), "0", "2", "5"])
        basic = f"{one} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {two}"
        return r.choice([basic, basic, basic, f"(long)({one}) % 2 == 0", f"{basic} && {one} > 1", f"{basic} || {two} == 1"])

    def _term(self, scope: _Scope) -> str:
        r = self._r
        choices = [name for name, _ in scope.loops] * 3 + scope.integers
        if r.random() < 0.25:
            return self._load(scope)
        return r.choice(choices)

    def _load(self, scope: _Scope) -> str:
        r = self._r
        if scope.squares and r.random() < 0.3:
            return f"{r.choice(scope.squares)[0]}[{self._small(scope)}][{self._small(scope)}]"
        name, _, _ = r.choice(scope.arrays)
        return f"{name}[{self._index(scope, name)}]"

    def _small(self, scope: _Scope) -> str:
        r = self._r
        name = r.choice(scope.loops)[0]
        return r.choice([name, name, f"{name} + 1", f"{name} / 2", f"23 - {name}", f"{name} % 5", "2"])

    def _index(self, scope: _Scope, array: str) -> str:
        r = self._r
        names = [name for name, _ in scope.loops]
        i = r.choice(names)
        j = r.choice(names)
        number = r.choice(scope.integers)
        indirect = [name for name, kind, _ in scope.arrays if kind in "ih" and name != array]
        plain = [i, i, i, f"{i} + 1", f"{i} - 1", f"2 * {i}", f"2 * {i} + 1", f"{number} - 1 - {i}", f"{i} + {number}", f"{i} - {number}"]
        linear = [f"{i} * {number} + {j}", f"{j} * m + {i}", f"{i} * m + {j}", f"{i} * n + {j}", f"CELL({i}, {j})", f"({i} + 1) * m + {j}"]
        odd = [
            f"{i} / 2", f"{i} % 3", f"({i} >> 1)", f"({i} & 3)", f"{i} + {j}", f"{i} - {j}", f"{i} * {j}", "0", "3", number,
            f"{i} * 4 + {j} % 4",
            f"(unsigned)({i} - 1)", f"(short)({i} + k)", f"(unsigned char)({i} + {number})", f"{i} + half({number})", f"clamp({i}, 0, 5)",
            f"({self._types['z']}){i} * m + {j}", f"(int)({i} + 1u) - 1", f"{i} * {i}", f"({i} > 2 ? {i} : 0)", f"{i} + ({j} == 2)",
        ]  # fmt: skip
        if indirect:
            odd += [f"{r.choice(indirect)}[{i}]"] * 3
        return r.choice(r.choice([plain, plain, linear, linear if len(names) > 1 else plain, odd]))

    def _value(self, scope: _Scope, kind: str) -> str:
        r = self._r
        parts = [self._load(scope)]
        if r.random() < 0.5:
            parts.append(r.choice([self._load(scope), r.choice(scope.loops)[0], r.choice(scope.integers), "3"]))
        if scope.scalars and r.random() < 0.25:
            parts.append(r.choice(scope.scalars)[0])
        if kind in _FLOATING and r.random() < 0.2:
            return f"blend({parts[0]}, {parts[-1]})"
        if r.random() < 0.08:
            return f"({self._condition(scope)} ? {parts[0]} : {parts[-1]})"
        if r.random() < 0.08:
            return self._extreme(">", self._types[kind], parts[0], parts[-1])
        return f" {r.choice('+-+*')} ".join(parts)
