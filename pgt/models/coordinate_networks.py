"""Networks of the coordinates alone, which see readings only in the loss: PINN, SIREN and WIRE."""

import math

from jaxtyping import Array, Float

from pgt.core.arguments import Positive, Seed, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.kernel import NoKernel
from pgt.models.field_model import AbstractFrame, AbstractNetwork, UnitReadings
from pgt.nn.attention import Stack
from pgt.nn.layers import Draw, Embedding, GaborStack, first_weights, hidden_weights, phases, zeros
from pgt.nn.scaling import Scaling


class CoordinateNetwork(AbstractNetwork):
    """The network u(z) = layers(z); it encodes no readings, and all of its weights are tunable."""

    embedding: Embedding
    layers: Stack | GaborStack

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """An empty context: the readings only enter the loss."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The value of the layers at z."""
        return self.layers(self.embedding(z))

    def tunable(self) -> Stack | GaborStack:
        """All weights."""
        return self.layers


# ------------------------------------------------------------------------------- pinn


@register("pinn")
class PINN(AbstractFrame):
    """Physics-informed neural network: a tanh network of the coordinate (Raissi et al. 2019).

        h_1 = tanh(W_0 z + b_0),  h_{l+1} = tanh(W_l h_l + b_l),  u = R h_L + r

    Weights start as Glorot & Bengio (2010) draw them, N(0, 2/(inputs + outputs)), biases at zero.
    Raissi et al. use 9 layers of 20 neurons or so and train with Adam at 1e-3, then L-BFGS.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    width, layers
        Neurons in a hidden layer, and the number of hidden layers.

    The example below builds one; `python examples/rivals.py PINN` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = PINN(scaling, width=16, layers=3)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: CoordinateNetwork

    def __init__(self, scaling: Scaling, *, width: Size = 64, layers: Size = 5, seed: Seed = 0):
        embedding, draw = Embedding(scaling.periodic), Draw(seed)
        inputs, outputs, hidden = embedding.size, len(scaling.mean), layers - 1
        stack = Stack(
            first_weight=draw.normal((width, inputs), math.sqrt(2 / (inputs + width))),
            first_bias=zeros(width),
            hidden_weight=draw.normal((hidden, width, width), math.sqrt(1 / width)),
            hidden_bias=zeros(hidden, width),
            readout=draw.normal((outputs, width), math.sqrt(2 / (width + outputs))),
            offset=zeros(outputs),
            activation="tanh",
        )
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = CoordinateNetwork(embedding, stack)


# ------------------------------------------------------------------------------- siren


@register("siren")
class SIREN(AbstractFrame):
    """Sinusoidal representation network (Sitzmann et al. 2020).

        h_1 = sin(ω₀(V_0 z + a_0)),  h_{l+1} = sin(ω₀(V_l h_l + a_l)),  u = R h_L + r

    with V_0 ~ U(±1/inputs) and V_l ~ U(±√(6/width)/ω₀), so that the argument of each sine has about unit
    variance at any depth. Training changes W = ω₀V and b = ω₀a, which represent the same functions.
    Adam's steps do not scale with a weight, so the authors' rate 1e-4 at ω₀ = 30 becomes 30·1e-4 = 3e-3.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    width, layers
        Neurons in a hidden layer, and the number of hidden layers; for the paper's images 256
        and 4.
    frequency
        ω₀: 30 as in the paper, for images and sound; 6–10 suits fields on [-1, 1] with a PDE residual.

    The example below builds one; `python examples/rivals.py SIREN` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = SIREN(scaling, width=16, layers=3, frequency=8.0)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: CoordinateNetwork

    def __init__(
        self,
        scaling: Scaling,
        *,
        width: Size = 64,
        layers: Size = 5,
        frequency: Positive = 30.0,
        seed: Seed = 0,
    ):
        embedding, draw = Embedding(scaling.periodic), Draw(seed)
        outputs, hidden = len(scaling.mean), layers - 1
        # Folding ω₀ into the weights keeps all arrays of order one, as in every other model, so that one
        # learning rate, one SOAP and one damping of the polish suit all models. With the factor outside,
        # a step of 3e-3 would change the argument of the sine by ω₀ times that.
        stack = Stack(
            first_weight=first_weights(embedding.size, width, frequency, draw),
            first_bias=phases(width, draw),
            hidden_weight=hidden_weights(hidden, width, draw),
            # Biases are not multiplied by ω₀, because the theory finds unit variance without biases.
            hidden_bias=draw.uniform((hidden, width), 1 / math.sqrt(width)),
            # The authors draw the linear readout like a hidden layer; the initial field is of order 1/ω₀.
            readout=draw.uniform((outputs, width), math.sqrt(6 / width) / frequency),
            offset=zeros(outputs),
            activation="sine",
        )
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = CoordinateNetwork(embedding, stack)


# ------------------------------------------------------------------------------- wire


# The largest ω₀/s₀: |ψ| reaches exp((ω₀/2s₀)²), which is 8103 at this ratio.
MAX_FREQUENCY_RATIO = 6


@register("wire")
class WIRE(AbstractFrame):
    """Wavelet implicit neural representation (Saragadam et al. 2023).

        h_1 = ψ(W_0 z + b_0),  h_{l+1} = ψ(W_l h_l + b_l),  u = Re(R h_L) + r
        ψ(z) = exp(iω₀z)·exp(-|s₀z|²)

    W_0 and b_0 are real, all later weights complex. The authors' Adam rate is 5e-3 to 2e-2.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    width, layers
        Wavelets in a hidden layer, each with complex weights, and the number of hidden layers; in the
        paper 181 (256/√2, to have as many real numbers as 256 real neurons) and 3.
    frequency, spread
        ω₀ of the wave and s₀ of the envelope, whose width is 1/s₀. The authors' code suggests 20 and 30
        to represent images, 4 and 4 to denoise them. A field on [-1, 1] with a PDE residual is smoother
        still: on a heat equation 2 and 1 came ten times closer in equal steps than 4 and 4.

    The example below builds one; `python examples/rivals.py WIRE` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = WIRE(scaling, width=16)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: CoordinateNetwork

    def __init__(
        self,
        scaling: Scaling,
        *,
        width: Size = 64,
        layers: Size = 3,
        frequency: Positive = 2.0,
        spread: Positive = 1.0,
        seed: Seed = 0,
    ):
        if frequency > MAX_FREQUENCY_RATIO * spread:
            raise InputError(
                f"WIRE(frequency={frequency}, spread={spread}): at a ratio above "
                f"{MAX_FREQUENCY_RATIO} the wavelets overflow; raise spread to at least "
                f"{frequency / MAX_FREQUENCY_RATIO:.3g}."
            )
        embedding, outputs = Embedding(scaling.periodic), len(scaling.mean)
        stack = GaborStack(
            embedding.size, outputs, width, layers - 1, frequency, spread, Draw(seed)
        )
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = CoordinateNetwork(embedding, stack)
