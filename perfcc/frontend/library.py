"""What is known of library functions: which are pure, what they do to errno, and why the others stop a rewrite."""

from __future__ import annotations

from perfcc.core.kernel import CallEffect

EDOM = ("EDOM",)
ERANGE = ("ERANGE",)
BOTH = ("EDOM", "ERANGE")

# errno as glibc's manual pages give it ("ERRORS" of sqrt(3), exp(3), pow(3), ...)
_MATHS: dict[str, tuple[str, ...]] = {
    "sqrt": EDOM, "cbrt": (), "hypot": ERANGE, "pow": BOTH, "fma": (),
    "exp": ERANGE, "exp2": ERANGE, "expm1": ERANGE, "log": BOTH, "log2": BOTH, "log10": BOTH, "log1p": BOTH,
    "sin": EDOM, "cos": EDOM, "tan": BOTH, "asin": EDOM, "acos": EDOM, "atan": (), "atan2": ERANGE,
    "sinh": ERANGE, "cosh": ERANGE, "tanh": (), "asinh": (), "acosh": EDOM, "atanh": BOTH,
    "floor": (), "ceil": (), "trunc": (), "round": (), "rint": (), "nearbyint": (), "fabs": (), "copysign": (),
    "fmin": (), "fmax": (), "fdim": ERANGE, "fmod": EDOM, "remainder": EDOM, "erf": (), "erfc": ERANGE,
}  # fmt: skip
_INTEGER = ("abs", "labs", "llabs")
_CLASSIFY = ("isnan", "isinf", "isfinite", "signbit", "isnormal")
_BUILTIN_CONSTANTS = ("huge_val", "huge_valf", "huge_vall", "inf", "inff", "infl")


def effect(name: str, language: str) -> CallEffect | None:
    """The effect of a pure library function, called ``name`` in namespace std or at global scope; ``None`` for any other.

    ``rint`` and ``nearbyint`` read the rounding mode, which threads inherit. ``lgamma`` writes ``signgam`` and is left out.
    """
    plain = name.removeprefix("__builtin_")
    maths = "<cmath>" if language == "c++" else "<math.h>"
    if name.startswith("__builtin_"):
        maths = ""
        if plain in _BUILTIN_CONSTANTS:
            return CallEffect(name, True)
    for candidate in (plain, plain[:-1] if plain[-1:] in ("f", "l") else plain):
        if candidate in _MATHS:
            return CallEffect(name, True, _MATHS[candidate], header=maths)
    if plain in _INTEGER:
        standard = "<cstdlib>" if language == "c++" else "<stdlib.h>"
        return CallEffect(name, True, header="" if name.startswith("__builtin_") else standard)
    if plain in _CLASSIFY:
        return CallEffect(name, True, header=maths)
    return None


_INPUT_OUTPUT_WORDS = """
printf fprintf vprintf vfprintf puts fputs putchar putc fputc putchar_unlocked fwrite fread fgets gets fgetc getc getchar ungetc
scanf fscanf getline getdelim perror fflush fopen fclose fseek ftell rewind feof ferror read write pread pwrite open close lseek
send recv sendto recvfrom poll select ioctl syslog getch wprintf fwprintf __printf_chk __fprintf_chk __builtin_printf
__builtin_putchar __builtin_puts opendir readdir closedir stat unlink remove rename flush put get ignore peek tellg seekg tellp
seekp good fail eof bad is_open
"""
INPUT_OUTPUT = frozenset(_INPUT_OUTPUT_WORDS.split())
_ALLOCATION_WORDS = """
malloc calloc realloc free strdup strndup posix_memalign aligned_alloc memalign valloc alloca __builtin_alloca __builtin_malloc
make_unique make_shared allocate deallocate
"""
ALLOCATION = frozenset(_ALLOCATION_WORDS.split())
_GROWTH_WORDS = """
push_back emplace_back push_front emplace_front pop_back pop_front insert emplace erase clear resize reserve assign append
shrink_to_fit push pop swap insert_or_assign try_emplace merge splice
"""
GROWTH = frozenset(_GROWTH_WORDS.split())

# names in namespace std that a kernel's text may mention, with the header that declares them
STD_TYPES: dict[str, str] = {
    "size_t": "<cstddef>", "ptrdiff_t": "<cstddef>", "size_type": "<vector>", "difference_type": "<vector>", "value_type": "<vector>",
    **{f"{u}int{kind}{n}_t": "<cstdint>" for u in ("", "u") for kind in ("", "_fast", "_least") for n in (8, 16, 32, 64)},
    **{f"{u}int{kind}_t": "<cstdint>" for u in ("", "u") for kind in ("ptr", "max")},
}  # fmt: skip
