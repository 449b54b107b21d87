"""The classical physics-informed neural network."""

import math

from pgt.core.arguments import Seed, Size
from pgt.core.registry import register
from pgt.kernels.composition import NoKernel
from pgt.models.coordinate import CoordinateNetwork
from pgt.models.frame import AbstractFrame
from pgt.nn.draw import Draw, zeros
from pgt.nn.embedding import Embedding
from pgt.nn.scaling import Scaling
from pgt.nn.stack import Stack


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
