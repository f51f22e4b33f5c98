from collections.abc import Iterable
from os import PathLike
from typing import TypedDict

version: str

class Classified(TypedDict):
    eligible: bool
    held_back: bool
    reason: str
    detail: str
    argv: list[str]
    source: str
    source_index: int
    output: str
    language: str
    depfile: str
    inputs: list[str]
    links: bool
    sources: list[tuple[str, int, str, str]]

class FoundCompiler(TypedDict):
    path: str
    real: str
    family: str

class FileRecord(TypedDict):
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    hash: str

class Manifest(TypedDict):
    verdict: str
    object: str
    original: str
    recorded_ns: int
    files: list[FileRecord]
    dependencies: list[str]

class LauncherSettings(TypedDict):
    file: str
    mode: str
    store: str

_Path = str | PathLike[str]

def classify(argv: Iterable[str], cwd: _Path) -> Classified: ...
def option_table() -> list[tuple[str, str, str, str]]: ...
def find_option(word: str) -> tuple[str, str, str, str] | None: ...
def pass_reasons() -> list[tuple[str, str]]: ...
def blake2b(data: bytes) -> str: ...
def machine_label() -> str: ...
def unit_key(argv: Iterable[str], cwd: _Path, compiler: _Path, source: _Path) -> str: ...
def find_compiler(word: str, cwd: _Path) -> FoundCompiler: ...
def settings(directory: _Path) -> LauncherSettings: ...
def loops_in(text: bytes, language: str) -> str: ...
def refusals() -> list[tuple[str, str, bool, str]]: ...
def parse_make_rule(text: bytes) -> list[str]: ...
def parse_header_list(text: bytes) -> list[str]: ...
def record_files(paths: Iterable[_Path], cwd: _Path) -> list[FileRecord] | None: ...
def write_manifest(
    store: _Path, key: str, object: str, original: str, files: Iterable[FileRecord], dependencies: Iterable[str], recorded_ns: int = 0
) -> bool: ...
def replace_file(path: _Path, bytes: bytes) -> bool: ...
def read_manifest(store: _Path, key: str) -> Manifest | None: ...
def manifest_holds(store: _Path, key: str, cwd: _Path) -> bool: ...
def link_path(store: _Path, output: _Path) -> str: ...
def unit_path(store: _Path, key: str) -> str: ...
def object_path(store: _Path, hash: str) -> str: ...
