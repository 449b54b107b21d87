"""The sinusoidal representation network."""

import math

from pgt.core.arguments import Positive, Seed, Size
from pgt.core.registry import register
from pgt.kernels.composition import NoKernel
from pgt.models.coordinate import CoordinateNetwork
from pgt.models.frame import AbstractFrame
from pgt.nn.draw import Draw, zeros
from pgt.nn.embedding import Embedding
from pgt.nn.scaling import Scaling
from pgt.nn.sine_layers import first_weights, hidden_weights, phases
from pgt.nn.stack import Stack


@register("siren")
class SIREN(AbstractFrame):
    """Sinusoidal representation network (Sitzmann et al. 2020).

        h_1 = sin(ω₀(V_0 z + a_0)),  h_{l+1} = sin(ω₀(V_l h_l + a_l)),  u = R h_L + r

    with V_0 ~ U(±1/inputs) and V_l ~ U(±√(6/width)/ω₀), so that what enters a sine has about unit
    variance at any depth. Trained are W = ω₀V and b = ω₀a, which are the same functions. Adam's steps
    do not know the scale of a weight: for these the authors' rate 1e-4 at ω₀ = 30 is 30·1e-4 = 3e-3.

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
        # Folding ω₀ into the weights keeps all arrays of order one, as every other model's are: one
        # learning rate, one SOAP, one damping of the polish then suit all. With the factor outside, a
        # step of 3e-3 would move what the sine sees by ω₀ times that.
        stack = Stack(
            first_weight=first_weights(embedding.size, width, frequency, draw),
            first_bias=phases(width, draw),
            hidden_weight=hidden_weights(hidden, width, draw),
            # Of the usual size, but not times ω₀: the unit variance of the theory is without biases.
            hidden_bias=draw.uniform((hidden, width), 1 / math.sqrt(width)),
            # The authors draw the linear readout as a hidden layer: the first field is small, ~1/ω₀.
            readout=draw.uniform((outputs, width), math.sqrt(6 / width) / frequency),
            offset=zeros(outputs),
            activation="sine",
        )
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = CoordinateNetwork(embedding, stack)
