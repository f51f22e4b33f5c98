"""What the launcher noted of links: which inputs an executable or library was made of."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path


def link_inputs(store: Path, linked: Path) -> tuple[Path, ...] | None:
    """The inputs of the last link that wrote ``linked``, absolute, in order; None when it is not known here."""
    place = os.path.join(os.path.realpath(linked.parent), linked.name)
    name = hashlib.blake2b(os.fsencode(place), digest_size=32).hexdigest()
    try:
        record = json.loads((store / "links" / name).read_text("utf-8", "surrogateescape"))
        return tuple(Path(record["cwd"], path) for path in record["inputs"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
