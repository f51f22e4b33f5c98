"""perfcc: a compiler driver that makes existing C and C++ programs faster by themselves."""

__version__ = "0.1.0"
