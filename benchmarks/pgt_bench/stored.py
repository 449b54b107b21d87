"""Records as files: one run, one file of plain data, written in one piece."""

import json
import math
from pathlib import Path

from pgt.core.errors import InputError
from pgt.core.files import in_one_piece


def write_record(path: Path, record: dict) -> None:
    """Store a record; JSON knows no NaN, which is written as null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_one_piece(path) as unfinished:
        text = json.dumps(plain(record), indent=1, allow_nan=False)
        unfinished.write_text(text + "\n", encoding="utf-8")


def read_record(path: Path) -> dict:
    """What `write_record` stored."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: {error}; delete the file, and the run is made again.") from None


def plain(value):
    """The same with text for keys and null for what is not finite."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
