"""Starting weights of a sinusoidal representation network (Sitzmann et al. 2020)."""

import math

from jaxtyping import Array, Float

from pgt.nn.draw import Draw


def first_weights(inputs: int, width: int, frequency: float, draw: Draw) -> Float[Array, "w i"]:
    """First layer, U(±ω0/inputs): ω0 is folded into the weights, so sin(Wz + b) is the layer.

    ω0 = 30 suits images; on fields scaled to [-1, 1] with a PDE residual 6–10 works better.
    """
    return draw.uniform((width, inputs), frequency / inputs)


def hidden_weights(layers: int, width: int, draw: Draw) -> Float[Array, "layers w w"]:
    """Hidden layers, U(±√(6/width)): pre-activations keep unit variance from layer to layer."""
    return draw.uniform((layers, width, width), math.sqrt(6 / width))


def phases(width: int, draw: Draw) -> Float[Array, " w"]:
    """Biases U(±π): every phase of the wave is present from the start."""
    return draw.uniform((width,), math.pi)
