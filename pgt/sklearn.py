"""A scikit-learn estimator: rows of coordinates in, fields out, with a governing equation in between.

Imported by name, `import pgt.sklearn`, where scikit-learn is installed.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from pgt._reconstruct import reconstruct
from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.result import Reconstruction

try:
    from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("pgt.sklearn needs scikit-learn: pip install scikit-learn.") from error


class FieldRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A field that obeys an equation, as a regressor on coordinates.

    A column of `X` is a coordinate, a column of `y` a field. Fields of the equation that `y` does not
    have are hidden, and inferred.

    Parameters
    ----------
    equation
        A text such as "u_t = 0.1*u_xx", several of them, or an equation of the library.
    axes
        The coordinates that the columns of `X` are. Default: the names of the columns where `X` has
        them, else those of the equation in the order x, y, z, t.
    fields
        The fields that the columns of `y` are. Default: the first fields of the equation.
    domain
        A `Domain`, or a dict of bounds by axis. Default: the smallest box that holds `X`; the field
        beyond it, where `predict` may be asked after a split, is an extrapolation.
    conditions, model, method, training, error_bars
        As in `pgt.reconstruct`. `predict(X, return_std=True)` needs `error_bars=pgt.Posterior()` or an
        `Ensemble`.
    noise
        The standard deviation of a value of `y`: one number, or a dict by field. Default: estimated.
    random_state
        An integer, the seed of the fit; None means 0. A generator gives a seed.

    Attributes
    ----------
    result_ : Reconstruction
        The fit: grids, derivatives, coefficients, stated errors.
    coefficients_ : dict
        The learned coefficients by name.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(40, 2))  # x, t
    >>> y = np.sin(np.pi * X[:, 0]) * np.exp(-0.1 * np.pi**2 * X[:, 1])
    >>> field = FieldRegressor("u_t = 0.1*u_xx", axes=("x", "t")).fit(X, y)
    >>> field.score(X, y) > 0.999
    True
    """

    def __init__(
        self, equation, *, axes=None, fields=None, domain=None, conditions=(), model=None, method=None,
        training=None, error_bars=None, noise=None, random_state=None,
    ):  # fmt: skip
        # Nothing is checked before `fit`, as scikit-learn wants it.
        self.equation = equation
        self.axes = axes
        self.fields = fields
        self.domain = domain
        self.conditions = conditions
        self.model = model
        self.method = method
        self.training = training
        self.error_bars = error_bars
        self.noise = noise
        self.random_state = random_state

    def fit(self, X, y) -> "FieldRegressor":
        """Fit the field to the values `y` at the coordinates `X`."""
        given = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64, ensure_min_samples=2
        )
        rows, y = (np.asarray(part, float) for part in given)
        self.axes_ = self._axes(rows.shape[1])
        points = self._points(rows)
        domain = self.domain if self.domain is not None else Domain.around(points)
        domain = domain if isinstance(domain, Domain) else Domain(**domain)
        if set(domain.axes) != set(self.axes_):
            raise InputError(
                f"FieldRegressor(domain=...): its axes are {', '.join(domain.axes)}, those of X "
                f"{', '.join(self.axes_)}."
            )
        pde = self.equation
        if not isinstance(pde, AbstractPDE):
            pde = Equation(pde, coords=domain.axes)
        values = y.reshape(len(y), -1)
        self.fields_ = self._fields(pde, values.shape[1])
        self._is_one_column = y.ndim == 1
        readings = Observations.from_arrays(
            points, values, fields=self.fields_, noise=self.noise, duplicates="mean"
        )
        self.result_: Reconstruction = reconstruct(
            readings, pde, domain, self.conditions, model=self.model, method=self.method,
            training=self.training, error_bars=self.error_bars, seed=_seed(self.random_state),
            progress=False,
        )  # fmt: skip
        self.coefficients_ = self.result_.parameters
        return self

    def predict(self, X, return_std: bool = False):
        """The fields at the coordinates `X`, in the shape of `y`; with `return_std` a pair of the mean
        and the standard deviation."""
        check_is_fitted(self)
        if return_std and self.error_bars is None:
            raise InputError(
                "predict(return_std=True): the fit has no error bars; write "
                "FieldRegressor(..., error_bars=pgt.Posterior())."
            )
        rows = np.asarray(validate_data(self, X, reset=False, dtype=np.float64))
        found = self.result_.at(self._points(rows), self.fields_)
        mean = self._columns([found[name].to_numpy() for name in self.fields_])
        if not return_std:
            return mean
        return mean, self._columns([found[f"{name}_std"].to_numpy() for name in self.fields_])

    def _points(self, rows: Float[np.ndarray, "n _"]) -> dict[str, Float[np.ndarray, " n"]]:
        return {axis: rows[:, k] for k, axis in enumerate(self.axes_)}

    def _columns(self, columns: list[np.ndarray]) -> Float[np.ndarray, "n *c"]:
        return columns[0] if self._is_one_column else np.stack(columns, axis=-1)

    def _axes(self, count: int) -> tuple[str, ...]:
        """The coordinate of every column of X."""
        given = self.axes
        if given is None:
            known = getattr(self.equation, "coords", None)
            names = tuple(str(name) for name in getattr(self, "feature_names_in_", ()))
            given = names if known is None or set(names) == set(known) else known
        axes = (given,) if isinstance(given, str) else tuple(given)
        if len(axes) != count:
            what = f"the coordinates are {', '.join(axes)}" if axes else "nothing names them"
            raise InputError(
                f"FieldRegressor: X has {count} feature(s), and {what}; write axes=('x', 't') with "
                "a name for every column."
            )
        return axes

    def _fields(self, pde: AbstractPDE, count: int) -> tuple[str, ...]:
        """The field of every column of y."""
        given = self.fields if self.fields is not None else pde.fields[:count]
        fields = (given,) if isinstance(given, str) else tuple(given)
        if len(fields) != count or not set(fields) <= set(pde.fields):
            raise InputError(
                f"FieldRegressor: y has {count} column(s), and the fields are {', '.join(fields)}; write "
                f"fields=(...) with one of {', '.join(pde.fields)} for every column."
            )
        return fields


def _seed(random_state: Any) -> int:
    """The seed that scikit-learn's `random_state` stands for; None is 0."""
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    return 0 if random_state is None else random_state
