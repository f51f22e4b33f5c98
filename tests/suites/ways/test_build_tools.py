"""Autotools, CMake and Meson with perfcc as the compiler: their probes find what they found, and the programs are the same."""

from __future__ import annotations

import pytest

from tests.suites.ways.place import GCC, GXX, LOOP, PERFCC, Place

C_MAIN = (
    '#include <stdio.h>\nint total(const int *, int);\nint main(void) { int a[] = {1, 2, 4}; printf("%d\\n", total(a, 3)); return 0; }\n'
)
PLUS_MAIN = """#include <cstdio>
#include <numeric>
#include <vector>
extern "C" int total(const int *, int);
int main() { std::vector<int> a(5); std::iota(a.begin(), a.end(), 1); std::printf("%d\\n", total(a.data(), 5)); }
"""
CONFIGURE = """AC_INIT([sample], [1.0])
AC_CONFIG_AUX_DIR([aux])
AC_CONFIG_MACRO_DIRS([m4])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_CONFIG_HEADERS([config.h])
AC_PROG_CC
AC_PROG_CXX
AM_PROG_AR
LT_INIT
AC_C_INLINE
AC_C_RESTRICT
AC_C_BIGENDIAN
AC_C_VARARRAYS
AC_OPENMP
AC_CHECK_HEADERS([pthread.h no/such/header.h])
AC_CHECK_FUNCS([strlcpy mempcpy no_such_function])
AC_CHECK_SIZEOF([long double])
AC_SEARCH_LIBS([sqrt], [m])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#error no]])], [AC_DEFINE([STRANGE], [1], [must not be])])
AC_COMPUTE_INT([ANSWER], [6 * 7])
AC_DEFINE_UNQUOTED([ANSWER], [$ANSWER], [computed])
AC_RUN_IFELSE([AC_LANG_PROGRAM([], [[return 3;]])], [AC_DEFINE([RAN], [0], [])], [AC_DEFINE([RAN], [3], [ran])])
AC_LANG_PUSH([C++])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string>]], [[std::string s;]])], [AC_DEFINE([HAVE_STRING], [1], [C++])])
AC_LANG_POP
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
AUTOMAKE = """lib_LTLIBRARIES = libtotal.la
libtotal_la_SOURCES = total.c
bin_PROGRAMS = app plus
app_SOURCES = main.c
app_LDADD = libtotal.la
plus_SOURCES = plus.cpp
plus_LDADD = libtotal.la
ACLOCAL_AMFLAGS = -I m4
"""


def test_autotools(place: Place) -> None:
    """configure, automake and libtool, built beside the sources; then cleaned and built again."""
    sources = {"total.c": LOOP, "main.c": C_MAIN, "plus.cpp": PLUS_MAIN, "m4/.keep": ""}
    place.write({"configure.ac": CONFIGURE, "Makefile.am": AUTOMAKE, **sources})
    place.run(place.bare, "autoreconf", "-i")
    place.run(place.built, "cp", "-r", f"{place.bare}/.", ".")
    shown = []
    for tree, cc, cxx in ((place.bare, "gcc", "g++"), (place.built, GCC, PERFCC)):
        (tree / "out").mkdir()
        place.run(tree / "out", "../configure", f"CC={cc}", f"CXX={cxx}", "--quiet")
        for target in ("all", "clean", "all"):
            place.run(tree / "out", "make", "-j2", target)
        programs = [place.run(tree / "out", f"./{name}").stdout for name in ("app", "plus")]
        archive = place.run(tree / "out", "ar", "t", ".libs/libtotal.a").stdout
        shown.append([(tree / "out" / "config.h").read_text(), archive, *programs])
    assert shown[0] == shown[1]
    assert shown[0][2:] == ["7\n", "15\n"]
    assert "#define ANSWER 42" in shown[0][0]
    assert place.compiled() >= 6


CMAKE = """cmake_minimum_required(VERSION 3.22)
project(sample C CXX)
set(CMAKE_CXX_STANDARD 17)
include(CheckCCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)
include(CheckFunctionExists)
include(CheckIPOSupported)
include(CheckTypeSize)
check_c_compiler_flag(-Wall HAS_WALL)
check_c_compiler_flag(-fno-such-flag HAS_NONSENSE)
check_cxx_source_compiles("int main() { return no; }" COMPILES_NONSENSE)
check_cxx_source_runs("int main() { return 0; }" RUNS)
check_function_exists(mempcpy HAS_MEMPCPY)
check_type_size("long double" LONG_DOUBLE)
check_ipo_supported(RESULT IPO LANGUAGES C CXX)
find_package(Threads REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/found "${HAS_WALL} ${HAS_NONSENSE} ${COMPILES_NONSENSE} ${RUNS} ${HAS_MEMPCPY} ${LONG_DOUBLE} ${IPO}
${CMAKE_C_COMPILER_ID} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES}
${CMAKE_C_COMPILE_FEATURES} ${CMAKE_CXX_COMPILE_FEATURES}\\n")
add_library(total STATIC total.c)
add_library(shared SHARED part.cpp)
add_library(objects OBJECT other.cpp)
add_executable(app main.cpp $<TARGET_OBJECTS:objects>)
target_link_libraries(app total shared Threads::Threads)
add_executable(whole main.cpp other.cpp part.cpp total.c)
set_target_properties(whole PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
add_executable(united main.cpp other.cpp part.cpp total.c)
set_target_properties(united PROPERTIES UNITY_BUILD ON)
add_executable(headed main.cpp other.cpp part.cpp)
target_link_libraries(headed total)
target_precompile_headers(headed PRIVATE <vector> <cstdio> all.h)
"""
PIECES = {
    "CMakeLists.txt": CMAKE,
    "all.h": "#include <string>\n",
    "total.c": LOOP,
    "main.cpp": PLUS_MAIN,
    "part.cpp": LOOP.replace("total", "part"),
    "other.cpp": LOOP.replace("total", "other"),
}


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
@pytest.mark.parametrize("way", ["compilers", "launchers"])
def test_cmake(place: Place, generator: str, way: str) -> None:
    """try_compile, shared, static and object libraries, link-time optimisation, precompiled headers, unity builds."""
    place.write(PIECES)
    compilers = [f"-DCMAKE_C_COMPILER={GCC}", f"-DCMAKE_CXX_COMPILER={GXX}"]
    launchers = [f"-DCMAKE_{language}_{kind}LAUNCHER={PERFCC}" for language in ("C", "CXX") for kind in ("COMPILER_", "LINKER_")]
    bare = ["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"]
    apps = ("app", "whole", "united", "headed")
    shown = []
    for tree, words in ((place.bare, bare), (place.built, compilers if way == "compilers" else [*bare, *launchers])):
        place.run(tree, "cmake", "-G", generator, "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=Release", *words)
        place.run(tree, "cmake", "--build", "out", "-j2")
        again = place.run(tree, "cmake", "--build", "out").stdout
        assert "Building" not in again, "a second build has nothing to do"
        shown.append(((tree / "out" / "found").read_text(), [place.run(tree, f"out/{app}").stdout for app in apps]))
    assert shown[0] == shown[1]
    assert shown[0][1] == ["15\n"] * 4
    assert place.compiled() >= 8


MESON = """project('sample', 'c', 'cpp', default_options: ['cpp_std=c++17', 'buildtype=release', 'warning_level=2'])
cc = meson.get_compiler('c')
conf = configuration_data()
conf.set10('HAS_MEMPCPY', cc.has_function('mempcpy'))
conf.set10('HAS_NOTHING', cc.has_function('no_such_function'))
conf.set10('HAS_FLAG', cc.has_argument('-fno-such-flag'))
conf.set('LONG', cc.sizeof('long'))
conf.set('ANSWER', cc.compute_int('6 * 7'))
conf.set_quoted('ID', cc.get_id() + cc.version() + meson.get_compiler('cpp').get_id())
configure_file(output: 'config.h', configuration: conf)
total = static_library('total', 'total.c', pic: true)
shared = shared_library('part', 'part.cpp')
app = executable('app', 'main.cpp', 'other.cpp', cpp_pch: 'pch/all.h', link_with: [total, shared], dependencies: dependency('threads'))
test('answers', app)
"""


@pytest.mark.parametrize("unity", ["off", "on"])
def test_meson(place: Place, unity: str) -> None:
    place.write({**PIECES, "meson.build": MESON, "pch/all.h": "#include <string>\n"})
    shown = []
    for tree, cc, cxx in ((place.bare, "gcc", "g++"), (place.built, GCC, f"{PERFCC} g++")):
        place.run(tree, "meson", "setup", "out", f"--unity={unity}", CC=cc, CXX=cxx)
        place.run(tree, "ninja", "-C", "out")
        place.run(tree, "meson", "test", "-C", "out")
        shown.append([(tree / "out" / "config.h").read_text(), place.run(tree, "out/app").stdout])
    assert shown[0] == shown[1]
    assert shown[0][1] == "15\n"
    assert place.compiled() >= 2
