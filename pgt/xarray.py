"""The accessor `.pgt` of xarray: from a Dataset with gaps to the field, by a governing equation.

Registered by `import pgt.xarray`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from pgt._reconstruct import reconstruct
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.domain import AXES, Domain
from pgt.data.observations import Observations
from pgt.physics.conditions import AbstractCondition
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE
from pgt.physics.problem_inputs import Governing, Where
from pgt.reconstruction.result import Reconstruction


@xr.register_dataset_accessor("pgt")
@xr.register_dataarray_accessor("pgt")
class FieldAccessor:
    """`dataset.pgt`: the variables are fields over coordinates among x, y, z, t, NaN where nothing was
    measured.

    A grid, or readings along one dimension with their coordinates along it. Other names are renamed by
    xarray: `dataset.rename(time="t")`. A DataArray is the field of its name.

    >>> import numpy as np
    >>> import pgt.xarray
    >>> truth = pgt.datasets.heat({1: 1.0}, x=21, t=11)
    >>> gaps = truth.where(np.random.default_rng(0).uniform(size=truth.u.shape) < 0.2)
    >>> field = gaps.pgt.reconstruct("u_t = 0.01*u_xx")
    >>> dict(field.grid(x=101, t=11).sizes)
    {'t': 11, 'x': 101}
    """

    def __init__(self, data: xr.Dataset | xr.DataArray):
        self._data = data

    @checked
    def reconstruct(
        self,
        pde: Governing,
        domain: Where | None = None,
        conditions: Sequence[AbstractCondition] = (),
        *,
        noise: Any = None,
        **options,
    ) -> Reconstruction:
        """The field that fits what was measured and the equation.

        Parameters
        ----------
        pde, domain, conditions
            As in `pgt.reconstruct`; the default domain is the smallest box that holds the coordinates.
            Variables that are no fields of the equation are not read: `dataset[["u"]]` reads u alone.
        noise
            The standard deviation of a value: one number, or a dict by field. Default: estimated.
        **options
            Further arguments of `pgt.reconstruct`: `model`, `error_bars`, `seed`, ...
        """
        pde, readings = self._problem(pde, noise)
        if domain is None:
            columns = dict(zip(readings.coords, np.asarray(readings.points).T, strict=True))
            units = {a: unit for a, unit in readings.units if a in readings.coords}
            domain = Domain.around(columns, units=units)
        return reconstruct(readings, pde, domain, conditions, **options)

    @checked
    def fill(
        self,
        pde: Governing,
        domain: Where | None = None,
        conditions: Sequence[AbstractCondition] = (),
        *,
        noise: Any = None,
        **options,
    ) -> xr.Dataset:
        """The Dataset with its gaps filled by the field, and with the hidden fields of the equation.

        What was measured stays. The arguments are those of `reconstruct`.
        """
        found = self.like(self.reconstruct(pde, domain, conditions, noise=noise, **options))
        dataset = self._dataset
        return dataset.assign(
            {n: dataset[n].fillna(found[n]) if n in dataset else found[n] for n in found}
        )

    def like(self, result: Reconstruction) -> xr.Dataset:
        """The fields of a result at the coordinates of the Dataset."""
        axes = {axis: self._dataset[axis] for axis in result.domain.axes}
        fields = list(result.pde.fields)
        if all(column.dims in ((), (axis,)) for axis, column in axes.items()):
            at = {axis: c.to_numpy()[()] for axis, c in axes.items() if not c.dims}
            positions = {axis: c.to_numpy() for axis, c in axes.items() if c.dims}
            found = result.grid(fields, None, at=at, **positions).reset_coords(drop=True)
        else:
            columns = xr.broadcast(*axes.values())
            points = {str(c.name): c.to_numpy().ravel() for c in columns}
            table, shape = result.at(points, fields), columns[0].shape
            arrays = {name: table[name].to_numpy().reshape(shape) for name in fields}
            found = xr.Dataset({n: (columns[0].dims, array) for n, array in arrays.items()})
        dims = [dim for dim in self._data.dims if dim in found.dims]
        return found[fields].transpose(*dims).assign_coords(self._dataset[list(axes)].coords)

    @property
    def _dataset(self) -> xr.Dataset:
        if isinstance(self._data, xr.Dataset):
            return self._data
        if self._data.name is None:
            raise InputError(
                "the DataArray has no name; give it that of its field: array.rename('u')."
            )
        return self._data.to_dataset()

    def _problem(self, pde: Governing, noise: Any) -> tuple[AbstractPDE, Observations]:
        """The equation, and the variables that are fields of it as readings."""
        dataset = self._dataset
        if not isinstance(pde, AbstractPDE):
            pde = Equation(pde, coords=tuple(axis for axis in AXES if axis in dataset.coords))
        found = [name for name in pde.fields if name in dataset.data_vars]
        if not found:
            known = ", ".join(map(str, dataset.data_vars))
            raise InputError(
                f"the fields of the equation are {', '.join(pde.fields)}, the variables of the dataset "
                f"{known}; rename them, as in dataset.rename(T='u')."
            )
        return pde, Observations.from_xarray(dataset, found, noise=noise)
