"""[error_bars]: how the error bars are made; without it there are none."""

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field, Tag

from pgt.config.schema import Section, by_name


class EnsembleSection(Section):
    builds: ClassVar[str] = "Ensemble"

    name: Literal["ensemble"]
    members: Annotated[int, Field(ge=2, le=1000)] | None = None
    bootstrap: bool | None = None


class PosteriorSection(Section):
    builds: ClassVar[str] = "Posterior"

    name: Literal["posterior"]
    samples: Annotated[int, Field(ge=2, le=10**5, multiple_of=2)] | None = None


Name = Literal["ensemble", "posterior"]


class NoSuchErrorBars(Section):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[Name, Field(examples=['name = "posterior"'])]


ErrorBars = Annotated[
    Annotated[EnsembleSection, Tag("<ensemble>")]
    | Annotated[PosteriorSection, Tag("<posterior>")]
    | Annotated[NoSuchErrorBars, Tag("<none>")],
    by_name("name", get_args(Name)),
]
