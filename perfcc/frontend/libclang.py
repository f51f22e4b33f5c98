"""A thin typed layer over libclang's C API: the only place where perfcc meets it.

The PyPI package's own Python classes are not used: they import slowly and cost about ten times as much a cursor.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

DETAILED_PREPROCESSING_RECORD = 0x01


class LibclangError(Exception):
    """libclang is missing, does not load, is too old, or gave no translation unit."""


class Cursor(ctypes.Structure):
    _fields_ = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]
    kind: int
    data: Sequence[int | None]


class Type(ctypes.Structure):
    _fields_ = [("kind", c_int), ("data", c_void_p * 2)]
    kind: int


class _Location(ctypes.Structure):
    _fields_ = [("data", c_void_p * 2), ("raw", c_uint)]


class _Range(ctypes.Structure):
    _fields_ = [("data", c_void_p * 2), ("begin", c_uint), ("end", c_uint)]


class _String(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class _UnsavedFile(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("contents", c_char_p), ("length", c_ulong)]


_Visitor = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)
_InclusionVisitor = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Location), c_uint, c_void_p)

_PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "clang_createIndex": (c_void_p, (c_int, c_int)),
    "clang_disposeIndex": (None, (c_void_p,)),
    "clang_parseTranslationUnit2": (
        c_int, (c_void_p, c_char_p, POINTER(c_char_p), c_int, POINTER(_UnsavedFile), c_uint, c_uint, POINTER(c_void_p)),
    ),
    "clang_disposeTranslationUnit": (None, (c_void_p,)),
    "clang_getTranslationUnitCursor": (Cursor, (c_void_p,)),
    "clang_getTranslationUnitTargetInfo": (c_void_p, (c_void_p,)),
    "clang_TargetInfo_dispose": (None, (c_void_p,)),
    "clang_TargetInfo_getTriple": (_String, (c_void_p,)),
    "clang_TargetInfo_getPointerWidth": (c_int, (c_void_p,)),
    "clang_getNumDiagnostics": (c_uint, (c_void_p,)),
    "clang_getDiagnostic": (c_void_p, (c_void_p, c_uint)),
    "clang_getDiagnosticSeverity": (c_int, (c_void_p,)),
    "clang_getDiagnosticSpelling": (_String, (c_void_p,)),
    "clang_getDiagnosticLocation": (_Location, (c_void_p,)),
    "clang_disposeDiagnostic": (None, (c_void_p,)),
    "clang_visitChildren": (c_uint, (Cursor, _Visitor, c_void_p)),
    "clang_getInclusions": (None, (c_void_p, _InclusionVisitor, c_void_p)),
    "clang_getCursorExtent": (_Range, (Cursor,)),
    "clang_getCursorLocation": (_Location, (Cursor,)),
    "clang_getRangeStart": (_Location, (_Range,)),
    "clang_getRangeEnd": (_Location, (_Range,)),
    "clang_getExpansionLocation": (None, (_Location, c_void_p, c_void_p, c_void_p, POINTER(c_uint))),
    "clang_getSpellingLocation": (None, (_Location, c_void_p, c_void_p, c_void_p, POINTER(c_uint))),
    "clang_getFileLocation": (None, (_Location, c_void_p, c_void_p, c_void_p, POINTER(c_uint))),
    "clang_Location_isFromMainFile": (c_int, (_Location,)),
    "clang_Location_isInSystemHeader": (c_int, (_Location,)),
    "clang_getFileName": (_String, (c_void_p,)),
    "clang_getFile": (c_void_p, (c_void_p, c_char_p)),
    "clang_getLocationForOffset": (_Location, (c_void_p, c_void_p, c_uint)),
    "clang_getCursorSpelling": (_String, (Cursor,)),
    "clang_getCursorReferenced": (Cursor, (Cursor,)),
    "clang_getCursorDefinition": (Cursor, (Cursor,)),
    "clang_getCanonicalCursor": (Cursor, (Cursor,)),
    "clang_getSpecializedCursorTemplate": (Cursor, (Cursor,)),
    "clang_getCursorSemanticParent": (Cursor, (Cursor,)),
    "clang_getCursorLinkage": (c_int, (Cursor,)),
    "clang_Cursor_getMangling": (_String, (Cursor,)),
    "clang_getCursorTLSKind": (c_int, (Cursor,)),
    "clang_Cursor_getStorageClass": (c_int, (Cursor,)),
    "clang_Cursor_getVarDeclInitializer": (Cursor, (Cursor,)),
    "clang_Cursor_isNull": (c_int, (Cursor,)),
    "clang_Cursor_isBitField": (c_uint, (Cursor,)),
    "clang_Cursor_isFunctionInlined": (c_uint, (Cursor,)),
    "clang_CXXMethod_isVirtual": (c_uint, (Cursor,)),
    "clang_CXXMethod_isStatic": (c_uint, (Cursor,)),
    "clang_CXXMethod_isConst": (c_uint, (Cursor,)),
    "clang_getCursorBinaryOperatorKind": (c_int, (Cursor,)),
    "clang_getCursorUnaryOperatorKind": (c_int, (Cursor,)),
    "clang_getCursorType": (Type, (Cursor,)),
    "clang_getCursorResultType": (Type, (Cursor,)),
    "clang_getEnumConstantDeclValue": (c_longlong, (Cursor,)),
    "clang_EnumDecl_isScoped": (c_uint, (Cursor,)),
    "clang_getEnumDeclIntegerType": (Type, (Cursor,)),
    "clang_getTypedefDeclUnderlyingType": (Type, (Cursor,)),
    "clang_getCanonicalType": (Type, (Type,)),
    "clang_getPointeeType": (Type, (Type,)),
    "clang_getArrayElementType": (Type, (Type,)),
    "clang_getArraySize": (c_longlong, (Type,)),
    "clang_getTypeSpelling": (_String, (Type,)),
    "clang_getTypeDeclaration": (Cursor, (Type,)),
    "clang_Type_getSizeOf": (c_longlong, (Type,)),
    "clang_Type_getTemplateArgumentAsType": (Type, (Type, c_uint)),
    "clang_isConstQualifiedType": (c_uint, (Type,)),
    "clang_isVolatileQualifiedType": (c_uint, (Type,)),
    "clang_isRestrictQualifiedType": (c_uint, (Type,)),
    "clang_getUnqualifiedType": (Type, (Type,)),
    "clang_getExceptionSpecificationType": (c_int, (Type,)),
    "clang_Cursor_Evaluate": (c_void_p, (Cursor,)),
    "clang_EvalResult_getKind": (c_int, (c_void_p,)),
    "clang_EvalResult_getAsLongLong": (c_longlong, (c_void_p,)),
    "clang_EvalResult_isUnsignedInt": (c_uint, (c_void_p,)),
    "clang_EvalResult_getAsUnsigned": (c_ulonglong, (c_void_p,)),
    "clang_EvalResult_getAsDouble": (c_double, (c_void_p,)),
    "clang_EvalResult_dispose": (None, (c_void_p,)),
    "clang_getCString": (c_char_p, (_String,)),
    "clang_disposeString": (None, (_String,)),
}  # fmt: skip


@lru_cache(maxsize=1)
def library() -> Any:
    """The loaded library with prototypes set. Raises LibclangError."""
    try:
        spec = importlib.util.find_spec("clang")
    except (ImportError, ValueError) as error:
        raise LibclangError(f"the libclang package can't be looked up: {error}") from None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "native" / "libclang.so"
        if path.is_file():
            break
    else:
        raise LibclangError("the libclang package is not installed")
    try:
        lib = ctypes.CDLL(str(path))
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(lib, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise LibclangError(f"libclang does not load: {error}") from None
    return lib


def _text(lib: Any, string: _String) -> str:
    raw = lib.clang_getCString(string)
    value = raw.decode("utf-8", "surrogateescape") if raw is not None else ""
    lib.clang_disposeString(string)
    return value


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that libclang reports: its message, and the byte offset when it lies in the main file."""

    message: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """A location resolved to a file (``None``: built in or command line) and a byte offset."""

    file: str | None
    offset: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that was entered at include depth ``depth`` (0: the main file); ``root`` is the file whose directive led there first, the main
    file unless a flag did (``None``)."""

    file: str
    depth: int
    root: str | None


class Ast:
    """One parsed translation unit. Use as a context manager: leaving it frees the unit, and no cursor may be used after that.

    ``folder`` is put before the main file's name, and taken off the names of files where it is found.
    """

    def __init__(self, filename: str, text: bytes, args: Sequence[str], options: int = 0, folder: str = "") -> None:
        self.lib = library()
        lib = self.lib
        self._file_names: dict[int, str] = {}
        self._folder = folder
        self._index = lib.clang_createIndex(0, 0)
        name = (folder + filename).encode("utf-8", "surrogateescape")
        argv = (c_char_p * len(args))(*(a.encode("utf-8", "surrogateescape") for a in args))
        unsaved = (_UnsavedFile * 1)(_UnsavedFile(name, text, len(text)))
        unit = c_void_p()
        code = lib.clang_parseTranslationUnit2(self._index, name, argv, len(args), unsaved, 1, options, byref(unit))
        self._unit = unit.value
        if code != 0 or not self._unit:
            self.close()
            raise LibclangError(f"libclang gave no translation unit (error {code})")

    def close(self) -> None:
        if self._unit:
            self.lib.clang_disposeTranslationUnit(self._unit)
            self._unit = None
        if self._index:
            self.lib.clang_disposeIndex(self._index)
            self._index = None

    def __enter__(self) -> Ast:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def root(self) -> Cursor:
        cursor: Cursor = self.lib.clang_getTranslationUnitCursor(self._unit)
        return cursor

    # -- the unit ------------------------------------------------------------------------------------------------

    def is_lp64(self) -> bool:
        """True when pointers and ``long`` have 64 bits and ``int`` 32, as everything after the frontend takes for granted."""
        info = self.lib.clang_getTranslationUnitTargetInfo(self._unit)
        triple = _text(self.lib, self.lib.clang_TargetInfo_getTriple(info))
        width = self.lib.clang_TargetInfo_getPointerWidth(info)
        self.lib.clang_TargetInfo_dispose(info)
        return width == 64 and "windows" not in triple

    def first_error(self) -> Problem | None:
        """The first diagnostic of severity error or fatal."""
        lib = self.lib
        for n in range(lib.clang_getNumDiagnostics(self._unit)):
            diagnostic = lib.clang_getDiagnostic(self._unit, n)
            try:
                if lib.clang_getDiagnosticSeverity(diagnostic) >= 3:
                    location = lib.clang_getDiagnosticLocation(diagnostic)
                    message = _text(lib, lib.clang_getDiagnosticSpelling(diagnostic))
                    inside = bool(lib.clang_Location_isFromMainFile(location))
                    place = self._place(location, lib.clang_getExpansionLocation)
                    if inside:
                        return Problem(message, place.offset)
                    return Problem(f"{message} in {place.file}" if place.file else message, None)
            finally:
                lib.clang_disposeDiagnostic(diagnostic)
        return None

    def entries(self) -> tuple[Entry, ...]:
        """Each time the preprocessor entered a file, the main one included. A file that its guard keeps out is not entered again."""
        lib = self.lib
        found: list[Entry] = []

        def visit(file: int | None, stack: Any, depth: int, _data: Any) -> None:
            if file:
                root = self._place(stack[depth - 1], lib.clang_getExpansionLocation).file if depth else None
                found.append(Entry(self._file_name(file), depth, root))

        lib.clang_getInclusions(self._unit, _InclusionVisitor(visit), None)
        return tuple(found)

    def is_system_header(self, name: str) -> bool:
        """True when the file counts as a system header from its first byte on."""
        lib = self.lib
        file = lib.clang_getFile(self._unit, name.encode("utf-8", "surrogateescape"))
        return bool(file) and bool(lib.clang_Location_isInSystemHeader(lib.clang_getLocationForOffset(self._unit, file, 0)))

    # -- cursors -------------------------------------------------------------------------------------------------

    def children(self, cursor: Cursor) -> list[Cursor]:
        found: list[Cursor] = []
        keep = found.append

        def visit(child: Cursor, _parent: Cursor, _data: Any) -> int:
            keep(child)
            return 1

        self.lib.clang_visitChildren(cursor, _Visitor(visit), None)
        return found

    def visit_top(self, visit: Callable[[Cursor], None]) -> None:
        """Calls ``visit`` for each top-level cursor, preprocessing record included."""

        def callback(child: Cursor, _parent: Cursor, _data: Any) -> int:
            visit(child)
            return 1

        self.lib.clang_visitChildren(self.root, _Visitor(callback), None)

    def file_of(self, cursor: Cursor) -> str | None:
        """The file in which the cursor's text, or the use of the macro that it comes from, stands."""
        return self._place(self.lib.clang_getCursorLocation(cursor), self.lib.clang_getExpansionLocation).file

    def in_system_header(self, cursor: Cursor) -> bool:
        return bool(self.lib.clang_Location_isInSystemHeader(self.lib.clang_getCursorLocation(cursor)))

    def extent(self, cursor: Cursor) -> tuple[int, int]:
        """Byte offsets of the cursor's range in the file where its text stands, macros expanded at their use."""
        lib = self.lib
        spread = lib.clang_getCursorExtent(cursor)
        offset = c_uint()
        lib.clang_getExpansionLocation(lib.clang_getRangeStart(spread), None, None, None, byref(offset))
        begin = offset.value
        lib.clang_getExpansionLocation(lib.clang_getRangeEnd(spread), None, None, None, byref(offset))
        return begin, offset.value

    def place(self, cursor: Cursor) -> Place:
        """Where the cursor's range begins, macros expanded at their use."""
        start = self.lib.clang_getRangeStart(self.lib.clang_getCursorExtent(cursor))
        return self._place(start, self.lib.clang_getExpansionLocation)

    def location(self, cursor: Cursor) -> int:
        """The byte offset of a declaration's name, in the file where its text stands."""
        return self._place(self.lib.clang_getCursorLocation(cursor), self.lib.clang_getExpansionLocation).offset

    def spelling(self, cursor: Cursor) -> str:
        return _text(self.lib, self.lib.clang_getCursorSpelling(cursor))

    def mangled(self, cursor: Cursor) -> str:
        """The symbol of a function or variable."""
        return _text(self.lib, self.lib.clang_Cursor_getMangling(cursor))

    def referenced(self, cursor: Cursor) -> Cursor | None:
        return self._or_none(self.lib.clang_getCursorReferenced(cursor))

    def definition(self, cursor: Cursor) -> Cursor | None:
        return self._or_none(self.lib.clang_getCursorDefinition(cursor))

    def canonical(self, cursor: Cursor) -> Cursor:
        first: Cursor = self.lib.clang_getCanonicalCursor(cursor)
        return first

    def template_of(self, cursor: Cursor) -> Cursor | None:
        return self._or_none(self.lib.clang_getSpecializedCursorTemplate(cursor))

    def parent(self, cursor: Cursor) -> Cursor | None:
        return self._or_none(self.lib.clang_getCursorSemanticParent(cursor))

    def initialiser(self, cursor: Cursor) -> Cursor | None:
        return self._or_none(self.lib.clang_Cursor_getVarDeclInitializer(cursor))

    def key(self, cursor: Cursor) -> int:
        """The identity of a declaration, the same for all its redeclarations."""
        return self.canonical(cursor).data[0] or 0

    def evaluate(self, cursor: Cursor) -> int | float | None:
        """The value of a constant expression or of a variable's constant initialiser."""
        lib = self.lib
        result = lib.clang_Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            match lib.clang_EvalResult_getKind(result):
                case 1:
                    if lib.clang_EvalResult_isUnsignedInt(result):
                        return int(lib.clang_EvalResult_getAsUnsigned(result))
                    return int(lib.clang_EvalResult_getAsLongLong(result))
                case 2:
                    return float(lib.clang_EvalResult_getAsDouble(result))
                case _:
                    return None
        finally:
            lib.clang_EvalResult_dispose(result)

    # -- types ---------------------------------------------------------------------------------------------------

    def type(self, cursor: Cursor) -> Type:
        type: Type = self.lib.clang_getCursorType(cursor)
        return type

    def canonical_type(self, type: Type) -> Type:
        canonical: Type = self.lib.clang_getCanonicalType(type)
        return canonical

    def type_spelling(self, type: Type) -> str:
        return _text(self.lib, self.lib.clang_getTypeSpelling(type))

    # -- inside --------------------------------------------------------------------------------------------------

    def _or_none(self, cursor: Cursor) -> Cursor | None:
        return None if self.lib.clang_Cursor_isNull(cursor) or 70 <= cursor.kind < 100 else cursor

    def _place(self, location: _Location, resolve: Any) -> Place:
        file, offset = c_void_p(), c_uint()
        resolve(location, byref(file), None, None, byref(offset))
        return Place(self._file_name(file.value) if file.value else None, offset.value)

    def _file_name(self, file: int) -> str:
        name = self._file_names.get(file)
        if name is None:
            name = self._file_names[file] = _text(self.lib, self.lib.clang_getFileName(file)).removeprefix(self._folder)
        return name
