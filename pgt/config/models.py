"""[model]: which network, and how large. What is left out has the default of the class; of a PGT, the
size that `pgt.default_model` finds suitable."""

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag

from pgt.config.schema import Array, Positive, Section, Size, by_name


class Pgt(Section):
    builds: ClassVar[str] = "PGT"

    name: Literal["pgt"]
    width: Size | None = None
    blocks: Size | None = None
    heads: Size | None = None
    anchors: Annotated[int, Field(ge=0, le=10_000)] | None = None
    decoder: Literal["film-siren", "siren", "film-mlp", "mlp"] | None = None
    decoder_width: Size | None = None
    decoder_layers: Size | None = None
    frequency: Positive | None = None
    variance_head: bool | None = None


class Pinn(Section):
    builds: ClassVar[str] = "PINN"

    name: Literal["pinn"]
    width: Size | None = None
    layers: Size | None = None


class Siren(Section):
    builds: ClassVar[str] = "SIREN"

    name: Literal["siren"]
    width: Size | None = None
    layers: Size | None = None
    frequency: Positive | None = None


class Wire(Section):
    builds: ClassVar[str] = "WIRE"

    name: Literal["wire"]
    width: Size | None = None
    layers: Size | None = None
    frequency: Positive | None = None
    spread: Positive | None = None


class Fno(Section):
    builds: ClassVar[str] = "FNO"

    name: Literal["fno"]
    grid: (
        Annotated[
            Annotated[Size, Tag("<one>")]
            | Annotated[
                tuple[Size, ...], Array, Field(min_length=1, max_length=4), Tag("<several>")
            ],
            Discriminator(lambda value: "<several>" if isinstance(value, list) else "<one>"),
        ]
        | None
    ) = None
    modes: Size | None = None
    width: Size | None = None
    layers: Size | None = None


class DeepONet(Section):
    builds: ClassVar[str] = "DeepONet"

    name: Literal["deeponet"]
    width: Size | None = None
    layers: Size | None = None
    basis: Size | None = None


class PinnsFormer(Section):
    builds: ClassVar[str] = "PINNsFormer"

    name: Literal["pinnsformer"]
    width: Size | None = None
    heads: Size | None = None
    layers: Size | None = None
    hidden: Size | None = None
    output_hidden: Size | None = None
    times: Size | None = None
    step: Positive | None = None
    time_axis: Annotated[int, Field(ge=-1, le=3)] | None = None


ModelName = Literal["pgt", "pinn", "siren", "wire", "fno", "deeponet", "pinnsformer"]


class NoSuchModel(Section):
    """Where there is no such model: its errors say what there is."""

    model_config = ConfigDict(extra="ignore")

    name: Annotated[ModelName, Field(examples=['name = "pgt"'])]


Model = Annotated[
    Annotated[Pgt, Tag("<pgt>")]
    | Annotated[Pinn, Tag("<pinn>")]
    | Annotated[Siren, Tag("<siren>")]
    | Annotated[Wire, Tag("<wire>")]
    | Annotated[Fno, Tag("<fno>")]
    | Annotated[DeepONet, Tag("<deeponet>")]
    | Annotated[PinnsFormer, Tag("<pinnsformer>")]
    | Annotated[NoSuchModel, Tag("<none>")],
    by_name("name", get_args(ModelName)),
]
