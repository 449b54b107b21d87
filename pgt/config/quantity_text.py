"""Coefficients of a run file with units of their own, as numbers in the units of the run."""

from collections.abc import Callable, Mapping
from typing import Any

from pgt.config.descriptions import RESERVED
from pgt.config.run import RunFile
from pgt.core.arguments import powers_of
from pgt.core.registry import parts
from pgt.data.unit_text import amount, in_units


def in_run_units(run: RunFile, units: Callable[[], Mapping[str, str]]) -> dict[str, Any]:
    """The table [pde] with numbers for amounts such as "1.2e-5 m^2/s"; `units` are only asked for where
    there is one."""
    table = run.pde
    needed = powers_of(parts("equation").get(str(table.get("name"))))

    def number(value: Any, *key: str | int) -> Any:
        match value:
            case str() if amount(value) is not None:
                with run.located(*key):
                    return in_units(value, units(), needed.get(str(key[1])))
            case {"value": int() | float() as given, "units": str(unit), **rest} if not rest:
                return number(f"{given!r} {unit}", *key)
            case list():
                return [number(item, *key, index) for index, item in enumerate(value)]
            case dict():
                return {name: number(item, *key, name) for name, item in value.items()}
        return value

    return {
        name: value if name in RESERVED else number(value, "pde", name)
        for name, value in table.items()
    }
