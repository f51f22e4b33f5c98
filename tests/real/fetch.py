"""Sources of real projects: Debian source packages through apt, source distributions through pip; kept in the user's cache directory.

apt gets state of its own, with the machine's package sources turned into sources of source packages: nothing of the machine's is
changed, and apt checks the signatures as ever. dpkg-source then checks each file against the sums in the package's description.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.real.table import Project

TIMEOUT = 600


def cache() -> Path:
    """Where downloads stay (XDG Base Directory specification)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "perfcc-tests", "real")


def unpack(project: Project, target: Path) -> None:
    """Puts the project's pristine source, patched as Debian patches it, at ``target``, which must not exist yet."""
    if project.debian:
        folder = _kept(project.debian, _debian)
        description = next(folder.glob("*.dsc"))
        _run(["dpkg-source", "--no-copy", "-x", str(description), str(target)], folder)
        return
    archive = next(_kept(project.pypi, _pypi).glob("*.tar.gz"))
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch, tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
        next(Path(scratch).iterdir()).rename(target)


def _kept(name: str, fetch: Callable[[str, Path], None]) -> Path:
    """The folder that holds the download; it appears there whole or not at all."""
    folder = cache() / re.sub(r"[^\w.+~-]+", "_", name)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            fetch(name, Path(scratch, "download"))
            if not folder.is_dir():
                Path(scratch, "download").rename(folder)
    return folder


def _pypi(name: str, folder: Path) -> None:
    only = name.partition("==")[0]
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", only, "--dest", str(folder), name], folder.parent)


def _debian(name: str, folder: Path) -> None:
    folder.mkdir()
    apt = _apt()
    fetch = [*apt, "--download-only", "--only-source", "source", name]
    try:
        _run(fetch, folder)
    except AssertionError:  # the lists lack it, or are older than the archive
        subprocess.run([*apt, "update"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
        _run(fetch, folder)


def _apt() -> list[str]:
    """apt-get with lists of source packages, made from the package sources that this machine is configured with."""
    state = cache() / "apt"
    for part in ("lists/partial", "cache/archives/partial", "sources"):
        (state / part).mkdir(parents=True, exist_ok=True)
    told = _run(["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"], state)
    places = dict(re.findall(r"^(\w+)='(.*)'$", told, re.MULTILINE))
    parts = Path(places.get("PARTS", ""))
    for file in (Path(places.get("LIST", "")), *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))):
        if file.is_file():
            text = file.read_text("utf-8")
            text = re.sub(r"^deb(?=\s)", "deb-src", text, flags=re.MULTILINE)
            text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)
            (state / "sources" / file.name).write_text(text, "utf-8")
    settings = {
        "Dir::State::Lists": state / "lists",
        "Dir::Cache": state / "cache",
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": state / "sources",
        "APT::Sandbox::User": "root",  # root's own fetching user could not write here; elsewhere there is none
    }
    return ["apt-get", "-q", *(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))]


def _run(command: list[str], folder: Path) -> str:
    """What the command prints. Raises AssertionError with all of it when it fails or is not there."""
    assert shutil.which(command[0]), f"{command[0]} is missing: tools/setup.sh real"
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout
