"""The tables of a run file that describe parts of the library: [pde], [[conditions]], [model], ..."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from pgt.config.derive import PartSection, chosen, section_of, written
from pgt.config.schema import Array, Names, Section, Text, did_you_mean, table, wrong
from pgt.core.registry import snapshot
from pgt.data.sensors import Sensors
from pgt.physics.coefficient_tree import Given
from pgt.physics.interpolation_table import Table
from pgt.training.settings import Training

# Keys of [pde] and arguments of `pgt.Equation`: a coefficient needs another name.
RESERVED = ("name", "equations", "fields", "names", "coords", "kernel", "self")


if TYPE_CHECKING:  # computed at run time, which no static checker follows
    CoefficientValue = Any
else:
    CoefficientValue = written(Given | Table)


class Equations(Section):
    """[pde] with equations as text: any other key is a coefficient of the text."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, CoefficientValue] = Field(init=False)

    equations: Annotated[
        tuple[Text, ...],
        Array,
        Field(min_length=1, max_length=20, examples=['equations = ["u_t + u*u_x = nu*u_xx"]']),
    ]
    fields: Names | None = None
    names: Names | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_coefficients(cls, data):
        texts = data["equations"] if isinstance(data.get("equations"), list) else []
        words = {word for text in texts for word in re.findall(r"[^\W\d]\w*", str(text))}
        for name in data:
            if name in cls.model_fields:
                continue
            if name == "name":
                wrong("write either name or equations, not both; remove one of them.", name)
            if texts and name not in words:
                fields = {word.partition("_")[0] for word in words if "_" in word} | {"lap"}
                plain = sorted(word for word in words - fields if "_" not in word)
                hint = did_you_mean(name, [*cls.model_fields, *plain])
                wrong(f"there is no such key, and the equations do not use '{name}'{hint}", name)
            if name in RESERVED:
                wrong(f"a coefficient cannot be called '{name}'; rename it in the text, too.", name)
        return data


class ShapeTable(Section):
    """The shape in [domain]."""

    shape: Any = None


class DescribedTables(Section):
    """The tables that describe parts of the library, checked against the classes of these parts."""

    domain: ShapeTable = ShapeTable()
    pde: Any
    conditions: tuple[Any, ...] = ()
    model: Any = None
    training: PartSection
    sensors: Any = None
    error_bars: Any = None


def described() -> type[DescribedTables]:
    """The class of these tables, for the parts that are registered now."""
    return _described(snapshot())


@lru_cache(maxsize=8)
def _described(_: tuple) -> type[DescribedTables]:
    conditions = Annotated[tuple[chosen("condition"), ...], Array]
    shaped = table("ShapedDomain", ShapeTable, {"shape": (chosen("shape") | None, None)})
    keys = {
        "domain": (shaped, ShapeTable()),
        "pde": (chosen("equation", equations=Equations), ...),
        "conditions": (conditions, ()),
        "model": (chosen("model") | None, None),
        "training": (section_of(Training), ...),
        "sensors": (section_of(Sensors) | None, None),
        "error_bars": (chosen("error bars") | None, None),
    }
    return table("Described", DescribedTables, keys)
