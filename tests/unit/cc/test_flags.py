"""Flags: which words of a command line can change a kernel's code."""

from __future__ import annotations

from perfcc.cc.flags import decisive


def test_decisive_words_keep_their_values() -> None:
    argv = ("g++", "-O2", "-mavx", "-D", "N=4", "-UX", "--param", "max-unroll-times=2", "-std=c++17", "-c", "a.cpp", "-o", "a.o")
    assert decisive(argv) == ("-O2", "-mavx", "-D", "N=4", "-UX", "--param", "max-unroll-times=2", "-std=c++17")


def test_what_only_diagnoses_or_places_is_left_out() -> None:
    argv = ("g++", "-O2", "-Wall", "-g", "-I", "dir", "-MMD", "-MF", "x.d", "-x", "c++", "-c", "b.cpp", "-ob.o")
    assert decisive(argv) == ("-O2",)
