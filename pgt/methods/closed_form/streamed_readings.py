"""All readings of a stream as the rows of a closed form, by one pass over its files.

For the sines φ of a model and the readings y of one field, with σ each, the pass adds up the Gram matrix
of the columns φ/σ and y/σ in float64, block by block. From its parts G = Σ φᵀφ/σ², g = Σ φᵀy/σ² and
Σ y²/σ² follow rows with the same sum of squares as all readings together, whatever the weights:

    G = V Λ Vᵀ,    R = Λ^½ Vᵀ,    q = Λ^-½ Vᵀ g
    Σ (φ a - y)²/σ² = |R a - q|² + (Σ y²/σ² - |q|²)

The memory is that of one block and of G. A Gram matrix squares the condition number: a noise level below
about 1e-6 of the spread of a field is lost in rounding.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from pgt.core.devices import sum_over_hosts
from pgt.core.machine import blas_threads
from pgt.data.observations import Observations
from pgt.data.reading_stream import ReadingStream
from pgt.inference.evidence import robust_scale, robust_weights
from pgt.inference.likelihood import Likelihood
from pgt.inference.linear_gaussian import CompressedReadings
from pgt.methods.closed_form.band_posterior import BandFit
from pgt.methods.closed_form.design_rows import rows_of, sensor_rows
from pgt.models.features import Features
from pgt.problem.assembly import Task

# The number of readings in a block: larger blocks are multiplied faster and take more memory.
BLOCK_ROWS = 8192


def compress(
    fits: Sequence[BandFit],
    task: Task,
    stream: ReadingStream,
    report: Callable[[float], None] = lambda share: None,
) -> list[CompressedReadings]:
    """All readings of a stream for the sines of each of the fits, which the task's sample gave.

    With a likelihood that allows for outliers, readings are weighted by their misfits to these fits.
    """
    sums = [_Sums(fit, task) for fit in fits]
    total, done = max(len(stream), 1), 0
    with blas_threads(sums[0].gram.shape[1]):
        for chunk in stream.of_this_host().chunks():
            for start in range(0, len(chunk), BLOCK_ROWS):
                block = chunk.take(np.arange(start, min(start + BLOCK_ROWS, len(chunk))))
                for part in sums:
                    part.add(block)
                done += len(block)
                report(done / total)
    for part in sums:
        part.gram, part.count = sum_over_hosts(part.gram), sum_over_hosts(part.count)
        part.log_sigma = float(sum_over_hosts(np.array(part.log_sigma)))
    return [part.compressed() for part in sums]


class _Sums:
    """The Gram matrices of one model, one per field, as sums over the blocks that were added."""

    def __init__(self, fit: BandFit, task: Task):
        self.model: Features = fit.model
        self.likelihood: Likelihood = task.problem.likelihood
        sample = rows_of(fit.model, fit.pde, task.problem, 0)
        self.given, self.sample_sigma = sample.given or 1.0, sample.sigma
        self.size, self.scale = sample.readings.shape[1], 1.0
        if self.likelihood != "gauss":
            misfit = (sample.values - sample.readings @ fit.posterior.weights) / sample.sigma
            self.scale = robust_scale(misfit)
            self.sample_sigma = sample.sigma / np.sqrt(self._weights(misfit))
        fields, size = fit.model.network.readout.shape
        self.gram = np.zeros((fields, size + 1, size + 1))
        self.count, self.log_sigma = np.zeros(fields, int), 0.0

    def _weights(self, misfit: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        return robust_weights(self.likelihood, misfit / self.scale)

    def add(self, readings: Observations) -> None:
        scaling, mask = self.model.scaling, np.asarray(readings.mask)
        sines = sensor_rows(self.model, readings)
        mean, spread = np.asarray(scaling.mean, float), np.asarray(scaling.spread, float)
        values = (np.asarray(readings.values, float) - mean) / spread
        noise = np.asarray(readings.noise, float) / spread / self.given
        weights = 1 / np.where(noise > 0, noise, 1.0)
        if self.likelihood != "gauss":
            predicted = sines @ np.asarray(self.model.network.readout, float).T
            weights = weights * np.sqrt(self._weights(weights * (values - predicted)))
        self.log_sigma -= float(np.sum(np.log(weights[mask])))
        self.count += mask.sum(axis=0)
        for field, (seen, weight) in enumerate(zip(mask.T, weights.T, strict=True)):
            block = np.column_stack([sines, values[:, field]])
            if not (seen.all() and (weight == 1).all()):
                block *= np.where(seen, weight, 0.0)[:, None]
            self.gram[field] += block.T @ block

    def compressed(self) -> CompressedReadings:
        """The readings as rows for the weights of the model."""
        network, matrices, values, outside = self.model.network, [], [], []
        fields, size = network.readout.shape
        for field, gram in enumerate(self.gram):
            eigenvalues, vectors = np.linalg.eigh(gram[:-1, :-1])
            # Directions below rounding would explain the misfit by weights without limit.
            is_resolved = eigenvalues > size * np.finfo(float).eps * eigenvalues.max(initial=0.0)
            root = np.sqrt(np.where(is_resolved, eigenvalues, 0.0))
            part = np.zeros((size, fields * size))
            part[:, field * size : (field + 1) * size] = root[:, None] * vectors.T
            matrices.append(network.tied(part))
            values.append((vectors.T @ gram[:-1, -1]) / np.where(is_resolved, root, np.inf))
            outside.append(max(gram[-1, -1] - float(values[-1] @ values[-1]), 0.0))
        matrix = np.concatenate(matrices)
        matrix = np.pad(matrix, ((0, 0), (0, self.size - matrix.shape[1])))  # unknown coefficients
        numbers = np.repeat(np.arange(fields), size)
        return CompressedReadings(
            matrix,
            np.concatenate(values),
            numbers,
            np.array(outside),
            self.count,
            self.log_sigma,
            self.sample_sigma,
        )
