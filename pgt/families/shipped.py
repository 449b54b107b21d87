"""Networks and patterns that come with the library, or lie in a file."""

import os
from functools import cache
from pathlib import Path

from pgt.families.patterns import Kept, Patterns
from pgt.families.pretrained import Pretrained
from pgt.ground import serialise
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.parser import suggestion

FOLDER = Path(__file__).parent / "weights"
PATTERNS = Path(__file__).parent / "flows"


def shipped_names() -> tuple[str, ...]:
    """The families whose network comes with the library.

    >>> shipped_names()
    ('advection_diffusion', 'burgers', 'heat', 'wave')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.safetensors")))


@checked
def shipped(name: str) -> Pretrained:
    """The network of a family that comes with the library.

    >>> shipped("heat").card.family
    'heat'
    """
    known = shipped_names()
    if name not in known:
        raise InputError(
            f"no network for {name!r} comes with the library; there are {', '.join(known)}."
            f"{suggestion(name, known)} Others are trained by `pgt pretrain`."
        )
    return _loaded(name)


@cache
def _loaded(name: str) -> Pretrained:
    return Pretrained.load(FOLDER / f"{name}.safetensors")


def shipped_patterns_names() -> tuple[str, ...]:
    """The families whose patterns come with the library.

    >>> shipped_patterns_names()
    ('wake',)
    """
    return tuple(sorted(path.stem for path in PATTERNS.glob("*.safetensors")))


@checked
def shipped_patterns(name: str) -> Patterns:
    """The patterns of a family that come with the library: those of the "wake" of a cylinder.

    >>> shipped_patterns("plume")
    Traceback (most recent call last):
    ...
    pgt.InputError: no patterns of 'plume' come with the library; there are wake.
    """
    known = shipped_patterns_names()
    if name not in known:
        raise InputError(
            f"no patterns of {name!r} come with the library; there are {', '.join(known)}."
        )
    return _patterns(name)


@cache
def _patterns(name: str) -> Patterns:
    return Patterns.load(PATTERNS / f"{name}.safetensors")


def opened(path: str | os.PathLike) -> Pretrained | Patterns:
    """What `Pretrained.save` or `Patterns.save` wrote."""
    path = Path(path)
    found = serialise.load(path.parent, path.name.removesuffix(".safetensors"))
    return Patterns.load(path) if isinstance(found, Kept) else Pretrained.load(path)
