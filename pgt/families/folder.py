"""A folder of simulations as a family, by what can be written on a command line."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pgt.families.simulations import Simulations
from pgt.ground.errors import InputError
from pgt.ground.parser import suggestion
from pgt.ground.registry import parts
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE


def family_in(
    folder: Path,
    equation: str | None,
    coefficients: Sequence[str] = (),
    periodic: Sequence[str] = (),
    crop: Mapping[str, int] | None = None,
) -> Simulations:
    """The simulations of a folder; `equation` is a name of the library, or text with a `=`."""
    if equation is None:
        raise InputError(
            f"{folder} is a folder of simulations: say which equation they solve, by its name, "
            '--equation heat, or as text, --equation "u_t = diffusivity*u_xx".'
        )
    return Simulations(folder, _form(equation), coefficients, crop, periodic)


def _form(equation: str) -> Callable[..., AbstractPDE]:
    if "=" in equation:
        return partial(Equation, equation)
    known = parts("equation")
    if equation not in known:
        raise InputError(
            f"there is no equation called {equation!r}.{suggestion(equation, known)} An equation as "
            'text has a `=`, as in "u_t = diffusivity*u_xx".'
        )
    return known[equation]
