"""Conversion of a user's inputs to `Observations`, an equation and a `Domain`.

Short forms are a table whose columns are the coordinates and fields, the text of an equation, and the
bounds of a domain in a dict.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr

from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.physics.curved_coordinates import in_domain
from pgt.physics.equation import Equation
from pgt.physics.equation_checks import check_dimensions, check_homogeneous, warn_of_growth
from pgt.physics.pde import AbstractPDE
from pgt.physics.unit_conversion import in_problem_units

Readings = Observations | pd.DataFrame | xr.Dataset | Mapping[str, Any]
Governing = AbstractPDE | str | Sequence[str]
Where = Domain | Mapping[str, Any]


def as_problem(
    readings: Readings | None, pde: Governing, domain: Where
) -> tuple[Observations, AbstractPDE, Domain]:
    """The readings, the equation and the domain, with coefficients in the units of the problem.

    >>> table = {"x": [0.2, 0.4], "t": [0.0, 0.5], "T": [1.0, 2.0]}
    >>> found, pde, domain = as_problem(table, "T_t = 0.01*T_xx", {"x": (0, 1), "t": (0, 1)})
    >>> found.fields, pde.coords, domain
    (('T',), ('x', 't'), Domain(x=(0, 1), t=(0, 1)))
    """
    domain = domain if isinstance(domain, Domain) else Domain(**domain)
    if not isinstance(pde, AbstractPDE):
        pde = Equation(pde, coords=domain.axes)
    pde = in_domain(pde, domain)
    observations = as_readings(readings, pde, domain)
    units = {**domain.units, **dict(observations.units)}
    converted = in_problem_units(pde, dict.fromkeys(domain.axes, "") | units)
    if converted is not pde:
        check_homogeneous(converted, units)
    pde = converted
    check_dimensions(pde, units)
    warn_of_growth(pde)
    return observations, pde, domain


def as_readings(readings: Readings | None, pde: AbstractPDE, domain: Domain) -> Observations:
    """The readings as `Observations`; none for None."""
    if readings is None:
        return Observations.none(domain.axes, pde.fields)
    if isinstance(readings, Observations):
        return readings
    names = [str(name) for name in readings]
    fields = [name for name in pde.fields if name in names]
    missing = [axis for axis in domain.axes if axis not in names]
    if isinstance(readings, xr.Dataset):
        missing = [axis for axis in domain.axes if axis not in readings.coords]
    if missing or not fields:
        what = (
            f"no column {missing[0]!r}"
            if missing
            else f"none of the fields {', '.join(pde.fields)}"
        )
        raise InputError(
            f"the readings have {what}; their columns are {', '.join(names) or 'none'}. Rename them, or "
            "write pgt.Observations.from_arrays(points, values)."
        )
    if isinstance(readings, xr.Dataset):
        return Observations.from_xarray(readings, fields)
    if isinstance(readings, pd.DataFrame):
        return Observations.from_table(readings, domain.axes, fields)
    points, values = ({n: readings[n] for n in wanted} for wanted in (domain.axes, fields))
    return Observations.from_arrays(points, values)
