"""[pde]: an equation of the zoo with its coefficients, or equations as text."""

import re
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from pgt.config.schema import (
    Array,
    Coefficient,
    Names,
    PositiveCoefficient,
    Section,
    SourceTerm,
    Text,
    by_name,
    did_you_mean,
    wrong,
)

Dimension = Literal[1, 2, 3]
# How one coefficient or several along the axes are told apart: from the type alone.
Velocity = Annotated[
    Annotated[Coefficient, Tag("<one>")]
    | Annotated[
        tuple[Coefficient, ...], Array, Field(min_length=1, max_length=3), Tag("<several>")
    ],
    Discriminator(lambda value: "<several>" if isinstance(value, list) else "<one>"),
]
Forces = Annotated[tuple[SourceTerm, ...], Array, Field(min_length=2, max_length=2)]


class ZooSection(Section):
    """An equation by name: the class it builds, and the equation in text."""

    builds: ClassVar[str]
    equation: ClassVar[str]


class Heat(ZooSection):
    equation: ClassVar[str] = "u_t = diffusivity*lap(u) + source"
    builds: ClassVar[str] = "Heat"

    name: Literal["heat"]
    diffusivity: Annotated[PositiveCoefficient, Field(examples=["diffusivity = 0.01"])]
    dimension: Dimension | None = None
    source: SourceTerm | None = None


class AdvectionDiffusion(ZooSection):
    equation: ClassVar[str] = "u_t + velocity*u_x = diffusivity*lap(u) + source"
    builds: ClassVar[str] = "AdvectionDiffusion"

    name: Literal["advection_diffusion"]
    velocity: Annotated[Velocity, Field(examples=["velocity = 1.0"])]
    diffusivity: Annotated[PositiveCoefficient, Field(examples=["diffusivity = 0.01"])]
    dimension: Dimension | None = None
    source: SourceTerm | None = None


class Burgers(ZooSection):
    equation: ClassVar[str] = "u_t + u*u_x = viscosity*u_xx"
    builds: ClassVar[str] = "Burgers"

    name: Literal["burgers"]
    viscosity: Annotated[PositiveCoefficient, Field(examples=["viscosity = 0.01"])]


class AllenCahn(ZooSection):
    equation: ClassVar[str] = "u_t = diffusivity*u_xx + reaction*(u - u^3)"
    builds: ClassVar[str] = "AllenCahn"

    name: Literal["allen_cahn"]
    diffusivity: Annotated[PositiveCoefficient, Field(examples=["diffusivity = 1e-4"])]
    reaction: Annotated[Coefficient | None, Field(examples=["reaction = 5.0"])] = None


class Wave(ZooSection):
    equation: ClassVar[str] = "u_tt = speed^2*lap(u) + source"
    builds: ClassVar[str] = "Wave"

    name: Literal["wave"]
    speed: Annotated[PositiveCoefficient, Field(examples=["speed = 1.0"])]
    dimension: Dimension | None = None
    source: SourceTerm | None = None


class Poisson(ZooSection):
    equation: ClassVar[str] = "lap(u) = source"
    builds: ClassVar[str] = "Poisson"

    name: Literal["poisson"]
    source: Annotated[SourceTerm, Field(examples=['source = "-2*pi^2*sin(pi*x)*sin(pi*y)"'])]
    dimension: Dimension | None = None
    influence_radius: PositiveCoefficient | None = None


class Laplace(ZooSection):
    equation: ClassVar[str] = "lap(u) = 0"
    builds: ClassVar[str] = "Laplace"

    name: Literal["laplace"]
    dimension: Dimension | None = None
    influence_radius: PositiveCoefficient | None = None


class NavierStokes(ZooSection):
    equation: ClassVar[str] = (
        "u_t + convection*(u*u_x + v*u_y) = -p_x + viscosity*lap(u) + source; v alike; u_x + v_y = 0"
    )
    builds: ClassVar[str] = "NavierStokes2D"

    name: Literal["navier_stokes"]
    viscosity: Annotated[PositiveCoefficient, Field(examples=["viscosity = 0.01"])]
    convection: Coefficient | None = None
    source: Annotated[Forces | None, Field(examples=['source = ["0.1*sin(y)", 0]'])] = None


# Keys of [pde] and arguments of `pgt.Equation`: a coefficient needs another name.
RESERVED = ("name", "equations", "fields", "names", "coords", "kernel", "self")


class Equations(Section):
    """Any other key is a coefficient of the text."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Coefficient] = Field(init=False)

    equations: Annotated[
        tuple[Text, ...],
        Array,
        Field(min_length=1, max_length=20, examples=['equations = ["u_t + u*u_x = nu*u_xx"]']),
    ]
    fields: Names | None = None
    names: Names | None = None

    @property
    def coefficients(self) -> dict:
        return self.model_extra or {}

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


PdeName = Literal[
    "heat", "advection_diffusion", "burgers", "allen_cahn",
    "wave", "poisson", "laplace", "navier_stokes",
]  # fmt: skip
NAMED_PDES: dict[str, type[ZooSection]] = dict(
    zip(
        get_args(PdeName),
        (Heat, AdvectionDiffusion, Burgers, AllenCahn, Wave, Poisson, Laplace, NavierStokes),
        strict=True,
    )
)


class NoSuchPde(Section):
    """Where neither an equation of the zoo nor a text is given: its errors say what there is."""

    model_config = ConfigDict(extra="ignore")

    name: Annotated[
        PdeName, Field(examples=['name = "heat" or equations = ["u_t + u*u_x = nu*u_xx"]'])
    ]


Pde = Annotated[
    Annotated[Heat, Tag("<heat>")]
    | Annotated[AdvectionDiffusion, Tag("<advection_diffusion>")]
    | Annotated[Burgers, Tag("<burgers>")]
    | Annotated[AllenCahn, Tag("<allen_cahn>")]
    | Annotated[Wave, Tag("<wave>")]
    | Annotated[Poisson, Tag("<poisson>")]
    | Annotated[Laplace, Tag("<laplace>")]
    | Annotated[NavierStokes, Tag("<navier_stokes>")]
    | Annotated[Equations, Tag("<equations>")]
    | Annotated[NoSuchPde, Tag("<none>")],
    by_name("name", get_args(PdeName), equations="equations"),
]
