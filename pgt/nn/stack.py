"""Dense layers on a coordinate: what a tanh network and a sine network have in common."""

import equinox as eqx
from jaxtyping import Array, Float

from pgt.nn.block import activate


class Stack(eqx.Module):
    """h_1 = act(W_0 z + b_0), h_{l+1} = act(W_l h_l + b_l), u = R h_L + r.

    Built from its arrays: the activation decides how they are drawn.
    """

    first_weight: Float[Array, "w i"]
    first_bias: Float[Array, " w"]
    hidden_weight: Float[Array, "hidden w w"]
    hidden_bias: Float[Array, "hidden w"]
    readout: Float[Array, "c w"]
    offset: Float[Array, " c"]
    activation: str = eqx.field(static=True)

    def __call__(self, z: Float[Array, " i"]) -> Float[Array, " c"]:
        return self.features(z) @ self.readout.T + self.offset

    def features(self, z: Float[Array, " i"]) -> Float[Array, " w"]:
        """Up to the readout."""
        h = activate(self.activation, z @ self.first_weight.T + self.first_bias)
        for weight, bias in zip(self.hidden_weight, self.hidden_bias, strict=True):
            h = activate(self.activation, h @ weight.T + bias)
        return h
