"""The wavelet implicit neural representation."""

from pgt.core.arguments import Positive, Seed, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.composition import NoKernel
from pgt.models.coordinate import CoordinateNetwork
from pgt.models.frame import AbstractFrame
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding
from pgt.nn.gabor import GaborStack
from pgt.nn.scaling import Scaling

MOST_WAVES = 6  # ω₀/s₀: |ψ| reaches exp((ω₀/2s₀)²), at 6 already 8103


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
        if frequency > MOST_WAVES * spread:
            raise InputError(
                f"WIRE(frequency={frequency}, spread={spread}): at a ratio above {MOST_WAVES} the "
                f"wavelets overflow; raise spread to at least {frequency / MOST_WAVES:.3g}."
            )
        embedding, outputs = Embedding(scaling.periodic), len(scaling.mean)
        stack = GaborStack(
            embedding.size, outputs, width, layers - 1, frequency, spread, Draw(seed)
        )
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = CoordinateNetwork(embedding, stack)
