"""From a translation unit to its kernels. The only package that uses libclang."""

from __future__ import annotations

from perfcc.frontend.parse import parse

__all__ = ["parse"]
