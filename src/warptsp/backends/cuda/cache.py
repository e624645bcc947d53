"""Compiled kernels on disk, so that only the first run after an installation or an update compiles.

An entry is a file named by the digest of everything that it was made from, written whole or not at all. A
cache that cannot be read or written costs time and nothing else.
"""

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger(__name__)

VARIABLE = "WARPTSP_CACHE_DIR"
MAX_ENTRIES = 256  # of some hundred kilobytes each
_MAGIC = b"warptsp kernels 1\n"


@dataclass(frozen=True, slots=True)
class Code:
    """Compiled kernels."""

    kind: str  # "cubin", or "ptx", which the driver compiles when it is loaded
    binary: bytes
    symbols: dict[str, str]  # the name in the binary for each kernel's name expression


def folder() -> Path | None:
    """Return where compiled kernels are kept: ``$WARPTSP_CACHE_DIR`` (empty: nowhere, None), or else the
    user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return Path(chosen) / "kernels" if chosen else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "warptsp" / "kernels"
    except RuntimeError:  # no home
        return None


def digest(*parts: object) -> str:
    """Return a name for what was made from these parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def has(key: str) -> bool:
    """Tell whether there is an entry of this name, damaged or not."""
    place = folder()
    return place is not None and (place / key).is_file()


def load(key: str) -> Code | None:
    """Return the entry of this name; None if there is none, or a damaged one, which is removed."""
    place = folder()
    if place is None:
        return None
    path = place / key
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("the kernel cache cannot be read and kernels are compiled again: %s", error)
        return None
    code = _decode(content)
    if code is None:
        logger.warning("the kernel cache's entry %s is damaged and will be compiled again", path)
        _remove(path)
    return code


def store(key: str, code: Code) -> None:
    """Keep an entry; a warning is logged if it cannot be written."""
    place = folder()
    if place is None:
        return
    temporary = None
    try:
        place.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place, prefix="writing-")
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_encode(code))
        temporary.replace(place / key)
    except OSError as error:
        logger.warning(
            "the kernel cache cannot be written, kernels will be compiled in every run: %s; "
            "%s names another folder",
            error,
            VARIABLE,
        )
        return
    finally:
        if temporary is not None:
            _remove(temporary)  # also after a signal
    _prune(place)


def _encode(code: Code) -> bytes:
    head = json.dumps({"kind": code.kind, "symbols": code.symbols}).encode()
    body = len(head).to_bytes(4, "little") + head + code.binary
    return _MAGIC + hashlib.sha256(body).digest() + body


def _decode(content: bytes) -> Code | None:
    start = len(_MAGIC) + 32
    body = content[start:]
    if not content.startswith(_MAGIC) or content[len(_MAGIC) : start] != hashlib.sha256(body).digest():
        return None
    size = int.from_bytes(body[:4], "little")
    head = json.loads(body[4 : 4 + size])
    return Code(head["kind"], body[4 + size :], head["symbols"])


def _prune(place: Path) -> None:
    """Remove the oldest entries, which other versions and other GPUs left."""
    try:
        entries = sorted(place.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # another process removes entries, too
        return
    for path in entries[MAX_ENTRIES:]:
        _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.debug("%s cannot be removed: %s", path, error)
