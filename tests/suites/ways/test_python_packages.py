"""Python packages with C and C++ in them, installed from source with perfcc as the compiler."""

from __future__ import annotations

import sys

import pytest

from tests.suites.ways.place import GCC, GXX, LOOP, PERFCC, Place

MODULE = """#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifdef __cplusplus
extern "C"
#endif
int total(const int *, int);
static PyObject *run(PyObject *self, PyObject *none) { int a[] = {1, 2, 4}; return PyLong_FromLong(total(a, 3)); }
static PyMethodDef methods[] = {{"run", run, METH_NOARGS, ""}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "NAME", "", -1, methods};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&module); }
"""
SETUP = """from setuptools import Extension, setup
setup(name="sample", version="1.0", ext_modules=[
    Extension("inc", ["inc.c", "total.c"], extra_compile_args=["-O2"]),
    Extension("plus", ["plus.cpp", "total.c"], language="c++", extra_compile_args=["-O2"]),
])
"""
PYPROJECT = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
WAYS = {
    "drivers": {"CC": GCC, "CXX": GXX},
    "launcher form": {"CC": f"{PERFCC} gcc", "CXX": f"{PERFCC} g++"},
    "linker too": {"CC": GCC, "CXX": GXX, "LDSHARED": f"{GCC} -shared", "LDCXXSHARED": f"{GXX} -shared"},
}
PIP = (sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--target", "installed", ".")


@pytest.mark.parametrize("way", WAYS)
def test_setuptools(place: Place, way: str) -> None:
    files = {"setup.py": SETUP, "pyproject.toml": PYPROJECT, "total.c": LOOP, "inc.c": MODULE.replace("NAME", "inc")}
    place.write({**files, "plus.cpp": MODULE.replace("NAME", "plus")})
    place.run(place.built, *PIP, **WAYS[way])
    script = "import inc, plus; print(inc.run(), plus.run())"
    assert place.run(place.built, sys.executable, "-c", script, PYTHONPATH="installed").stdout == "7 7\n"
    assert place.compiled() == 4


SCIKIT = '[build-system]\nrequires = ["scikit-build-core", "pybind11"]\nbuild-backend = "scikit_build_core.build"\n'
SCIKIT += '[project]\nname = "sample"\nversion = "1.0"\n'
CMAKE = """cmake_minimum_required(VERSION 3.22)
project(sample C CXX)
find_package(pybind11 REQUIRED)
pybind11_add_module(bound bound.cpp total.c)
install(TARGETS bound DESTINATION .)
"""
BOUND = """#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
extern "C" int total(const int *, int);
PYBIND11_MODULE(bound, m) { m.def("total", [](const std::vector<int> &v) { return total(v.data(), (int)v.size()); }); }
"""


def test_pybind11_and_scikit_build_core(place: Place) -> None:
    place.write({"pyproject.toml": SCIKIT, "CMakeLists.txt": CMAKE, "bound.cpp": BOUND, "total.c": LOOP})
    place.run(place.built, *PIP, CC=GCC, CXX=GXX)
    script = "import bound; print(bound.total([1, 2, 4]))"
    assert place.run(place.built, sys.executable, "-c", script, PYTHONPATH="installed").stdout == "7\n"
    passed = place.counters()["passed"]
    assert passed > 0, "pybind11 asks for link-time optimisation, which is handed on"
