"""Networks that come with the library."""

from functools import cache
from pathlib import Path

from pgt.families.pretrained import Pretrained
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.parser import suggestion

FOLDER = Path(__file__).parent / "weights"


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
