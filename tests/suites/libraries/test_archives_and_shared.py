"""Static and shared libraries with a rewritten object link, export and need what they did, and their regions get threads."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.suites.libraries.library_builds import CALL, TWO, Yard, declared

PROGRAM = f'#include <stdio.h>\n{declared()}{CALL}int main(void) {{ int r = work(); printf("%d %d\\n", r, scale_team()); return 0; }}\n'
LINKERS = ["bfd", "gold", *(name for name in ("lld", "mold") if shutil.which(f"ld.{name}"))]


@pytest.mark.parametrize(
    "commands",
    [
        ["ar rcs libscale.a scale-new.o"],
        ["ar rc libscale.a scale-new.o", "ranlib libscale.a"],
        ["ar rcsT libscale.a scale-new.o"],
        ["ar rcs --thin libscale.a scale-new.o"],
        ["gcc-ar rcsD libscale.a scale-new.o"],
        ["ar rcs inner.a scale-new.o", "ar rcsT libscale.a inner.a"],
        ["ar qS libscale.a scale-new.o", "ar s libscale.a"],
        ["ld -r scale-new.o -o joined.o", "strip --strip-debug joined.o", "ar rcs libscale.a joined.o"],
        ["objcopy --localize-hidden scale-new.o local.o", "ar rcs libscale.a local.o"],
    ],
    ids=lambda commands: commands[0].replace(" libscale.a scale-new.o", ""),
)
def test_archives(yard: Yard, commands: list[str]) -> None:
    yard.rewritten("-g")
    for command in commands:
        yard.run(*command.split())
    yard.program(PROGRAM, "-L.", "-lscale")
    assert yard.run("./after", environ=TWO) == "999 2\n"
    assert "libgomp.so.1" not in yard.needed("after")


@pytest.mark.parametrize("linker", LINKERS)
def test_archive_and_shared_library_under_every_linker(yard: Yard, linker: str) -> None:
    yard.rewritten("-fPIC")
    yard.run("ar", "rcs", "libscale.a", "scale-new.o")
    yard.program(PROGRAM, f"-fuse-ld={linker}", "-Wl,--gc-sections", "libscale.a")
    assert yard.run("./after", environ=TWO) == "999 2\n"
    yard.run(
        "g++", f"-fuse-ld={linker}", "-shared", "-Wl,-z,defs", "-Wl,--whole-archive", "libscale.a", "-Wl,--no-whole-archive", "-o", "s.so"
    )
    yard.program(PROGRAM, f"-fuse-ld={linker}", "./s.so")
    assert yard.run("./after", environ=TWO) == "999 2\n"


@pytest.mark.parametrize(
    ("compile", "link"),
    [
        ((), ("-Wl,-z,defs",)),
        ((), ("-Wl,--no-undefined", "-Wl,--as-needed")),
        ((), ("-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,-z,relro")),
        ((), ("-Wl,-Bsymbolic-functions", "-Wl,--hash-style=sysv")),
        (("-fvisibility=hidden",), ("-Wl,--no-allow-shlib-undefined",)),
        ((), ("-Wl,--version-script=exports.map",)),
        ((), ("-Wl,--version-script=versions.map", "-Wl,-soname,libscale.so.3")),
        (("-ffunction-sections", "-fdata-sections"), ("-Wl,--gc-sections", "-s")),
        (("-fno-semantic-interposition", "-fno-plt"), ("-static-libgcc", "-static-libstdc++")),
        (("-mcmodel=large",), ()),
        (("-fcf-protection=full", "-fstack-protector-strong", "-fstack-clash-protection"), ("-Wl,-z,noexecstack",)),
        ((), ("-nodefaultlibs", "-lc", "-Wl,-z,defs")),
    ],
    ids=lambda flags: " ".join(flag.removeprefix("-Wl,") for flag in flags) or "plain",
)
def test_shared_libraries(yard: Yard, compile: tuple[str, ...], link: tuple[str, ...]) -> None:
    yard.rewritten("-fPIC", *compile)
    yard.write("exports.map", "{ global: scale; scale_team; local: *; };\n")
    yard.write("versions.map", "SCALE_1 { global: scale; }; SCALE_2 { global: scale_team; local: *; } SCALE_1;\n")
    for object_name, library in (("scale.o", "libbefore.so"), ("scale-new.o", "libscale.so")):
        yard.run("g++", "-shared", *link, object_name, "-o", library)
    assert yard.exported("libscale.so") == yard.exported("libbefore.so")
    assert set(yard.needed("libscale.so")) <= {*yard.needed("libbefore.so"), "libc.so.6"}
    yard.run("ln", "-s", "libscale.so", "libscale.so.3")
    yard.program(PROGRAM, "-L.", "-lscale", "-Wl,-rpath,$ORIGIN")
    assert yard.run("./after", environ=TWO) == "999 2\n"
    script = "import ctypes; lib = ctypes.CDLL('./libscale.so'); x = (ctypes.c_int * 1000)(); lib.scale(x, 1000);"
    script += "print(x[999], lib.scale_team())"
    assert yard.run(sys.executable, "-c", script, environ=TWO) == "999 2\n"


STANDALONE = """void scale(int *, int);
int scale_team(void);
static int x[1000];
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
void _start(void) {
  scale(x, 1000);
  long code = x[999] == 999 && scale_team() == 0 ? 7 : 1;
#if defined(__x86_64__)
  __asm__ volatile("syscall" : : "a"(231L), "D"(code));
#else
  register long number __asm__("x8") = 94, first __asm__("x0") = code;
  __asm__ volatile("svc 0" : : "r"(number), "r"(first));
#endif
  __builtin_unreachable();
}
"""


@pytest.mark.parametrize("flags", [("-static",), ("-static-pie",), ("-no-pie", "-Wl,-z,defs")], ids=" ".join)
def test_programs_without_a_c_library(yard: Yard, flags: tuple[str, ...]) -> None:
    """Nothing that libc has may be needed to link: such objects run the original path."""
    compile = ("-fno-stack-protector", "-fPIE" if flags == ("-static-pie",) else "-fno-pie")
    yard.rewritten(*compile, suffix=".c")
    yard.write("start.c", STANDALONE)
    yard.run("gcc", *compile, "-O2", "-nostdlib", *flags, "start.c", "scale-new.o", "-o", "after")
    yard.run("./after", environ=TWO, expect=7)


@pytest.mark.parametrize("flags", [("-static",), ("-static-pie", "-fPIE"), ("-static", "-Wl,--gc-sections", "-pthread")], ids=" ".join)
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_static_programs_run_the_original_path(yard: Yard, flags: tuple[str, ...], suffix: str) -> None:
    yard.rewritten("-fPIE", suffix=suffix)
    yard.run("ar", "rcs", "libscale.a", "scale-new.o")
    yard.program(PROGRAM, *flags, "libscale.a", compiler="gcc" if suffix == ".c" else "g++", suffix=suffix)
    assert yard.run("./after", environ=TWO) == "999 0\n"


OWN_MALLOC = """#include <stddef.h>
#include <stdio.h>
#include <string.h>
static _Alignas(64) char pool[1 << 24];
static size_t used;
static int calls;
void *malloc(size_t n) { size_t at = __atomic_fetch_add(&used, (n + 79) / 64 * 64, __ATOMIC_SEQ_CST); calls++;
  *(size_t *)(pool + at) = n; return pool + at + 64 - 48; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }
void *aligned_alloc(size_t a, size_t n) { size_t p = (size_t)malloc(n + a); return (void *)((p + a - 1) / a * a); }
void *memalign(size_t a, size_t n) { return aligned_alloc(a, n); }
int posix_memalign(void **p, size_t a, size_t n) { *p = aligned_alloc(a, n); return 0; }
"""


def test_program_with_its_own_malloc(yard: Yard) -> None:
    yard.rewritten(suffix=".c")
    main = 'int main(void) { int r = work(); printf("%d %d %d\\n", r, scale_team(), calls > 0); return 0; }\n'
    yard.program(OWN_MALLOC + declared() + CALL + main, "scale-new.o", compiler="gcc", suffix=".c")
    assert yard.run("./after", environ=TWO) == "999 2 1\n"


def test_wrapped_functions(yard: Yard) -> None:
    """--wrap acts on the program's own references; a region needs none of them."""
    yard.rewritten()
    wrapped = """#include <cstdio>
#include <cstdlib>
extern "C" { void *__real_malloc(size_t); int __real_getpid();
int mallocs = 0;
void *__wrap_malloc(size_t n) { ++mallocs; return __real_malloc(n); }
int __wrap_getpid() { return __real_getpid(); } }
"""
    main = (
        'int main() { int r = work(); int before = mallocs; free(malloc(3)); printf("%d %d %d\\n", r, scale_team(), mallocs - before); }\n'
    )
    yard.program(wrapped + declared() + CALL + main, "scale-new.o", "-Wl,--wrap=malloc", "-Wl,--wrap=getpid")
    assert yard.run("./after", environ=TWO) == "999 2 1\n"


@pytest.mark.parametrize("flags", [("-flto",), ("-flto=auto", "-ffat-lto-objects", "-fno-plt"), ("-fwhole-program", "-flto")], ids=" ".join)
def test_rewritten_object_in_a_link_time_optimised_program(yard: Yard, flags: tuple[str, ...]) -> None:
    yard.rewritten()
    yard.write("other.cpp", "int twice(int x) { return 2 * x; }\n")
    yard.run("g++", "-O2", "-flto", "-c", "other.cpp")
    main = f"#include <cstdio>\n{declared()}{CALL}int twice(int);\n"
    main += 'int main() { int r = work(); printf("%d %d\\n", twice(r), scale_team()); }\n'
    yard.program(main, "-O2", *flags, "other.o", "scale-new.o")
    assert yard.run("./after", environ=TWO) == "1998 2\n"
