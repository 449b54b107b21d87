"""[training]: the fields of `pgt.Training`. What is left out has its default there."""

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from pgt.config.schema import Count, NotNegative, Positive, Section, by_name, wrong


class PolishSection(Section):
    """[training.polish]: the fields of `pgt.Polish`."""

    iterations: Count | None = None
    seconds: Positive | None = None
    points: Count | None = None
    equation_weight: Positive | None = None
    patience: Count | None = None
    evidence: bool | None = None


class Uniform(Section):
    builds: ClassVar[str] = "Uniform"

    name: Literal["uniform"]


class Sobol(Section):
    builds: ClassVar[str] = "Sobol"

    name: Literal["sobol"]


class ResidualAdaptive(Section):
    builds: ClassVar[str] = "ResidualAdaptive"

    name: Literal["residual_adaptive"]
    candidates_per_point: Annotated[int, Field(ge=2, le=1000)] | None = None
    power: Positive | None = None
    floor: NotNegative | None = None


class Uncertainty(Section):
    builds: ClassVar[str] = "Uncertainty"

    name: Literal["uncertainty"]
    pde_ramp: Positive | None = None
    smallest: Positive | None = None
    stiffest: Positive | None = None


class GradientNorm(Section):
    builds: ClassVar[str] = "GradientNorm"

    name: Literal["gradient_norm"]
    decay: Annotated[NotNegative, Field(lt=1)] | None = None
    pde_ramp: Positive | None = None


class Fixed(Section):
    builds: ClassVar[str] = "Fixed"

    name: Literal["fixed"]
    pde_ramp: Positive | None = None
    weights: dict[str, NotNegative] | None = None

    @model_validator(mode="after")
    def _check_names(self):
        for name in self.weights or ():
            if not name.isidentifier() or name in ("self", "pde_ramp"):
                wrong(
                    "no loss term is called so; write for example {data = 1, bc = 10}",
                    "weights",
                    name,
                )
        return self


SamplerName = Literal["uniform", "sobol", "residual_adaptive"]
WeightingName = Literal["uncertainty", "gradient_norm", "fixed"]


class NoSuchSampler(Section):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[SamplerName, Field(examples=['name = "uniform"'])]


class NoSuchWeighting(Section):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[WeightingName, Field(examples=['name = "uncertainty"'])]


def _named(value: Any) -> Any:
    """A name alone stands for a table with that name and nothing else."""
    return {"name": value} if isinstance(value, str) else value


Sampler = Annotated[
    Annotated[Uniform, Tag("<uniform>")]
    | Annotated[Sobol, Tag("<sobol>")]
    | Annotated[ResidualAdaptive, Tag("<residual_adaptive>")]
    | Annotated[NoSuchSampler, Tag("<none>")],
    by_name("name", get_args(SamplerName)),
    BeforeValidator(_named),
]
Weighting = Annotated[
    Annotated[Uncertainty, Tag("<uncertainty>")]
    | Annotated[GradientNorm, Tag("<gradient_norm>")]
    | Annotated[Fixed, Tag("<fixed>")]
    | Annotated[NoSuchWeighting, Tag("<none>")],
    by_name("name", get_args(WeightingName)),
    BeforeValidator(_named),
]


class TrainingSection(Section):
    steps: Count | None = None
    seconds: Positive | None = None
    optimiser: Literal["soap", "adam"] | None = None
    learning_rate: Positive | None = None
    batch: Count | None = None
    collocation: Annotated[int, Field(ge=0, le=10**9)] | None = None
    condition_points: Count | None = None
    sampler: Sampler | None = None
    weighting: Weighting | None = None
    hold_out: Annotated[NotNegative, Field(lt=1)] | None = None
    hold_out_by: Literal["reading", "block"] | None = None
    patience: Positive | None = None
    likelihood: Literal["gauss", "huber", "student"] | None = None
    precision: Literal["float32", "float64"] | None = None
    polish: (
        Annotated[
            Annotated[Literal[False], Tag("<off>")] | Annotated[PolishSection, Tag("<polish>")],
            Discriminator(lambda value: "<off>" if isinstance(value, bool) else "<polish>"),
        ]
        | None
    ) = None
    check_every: Count | None = None
