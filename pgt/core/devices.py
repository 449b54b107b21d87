"""Devices and hosts that share the rows of a fit: readings, residual points and rows of a Jacobian.

An array with one row per reading or point is divided over the devices by `by_rows`; weights stay whole on
every device. Under `jit`, XLA then computes each row where it lies and adds up what all rows contribute
to, such as a gradient or JᵀJ. Nothing else knows about devices.

Several hosts run the same program. `join_hosts` connects them; `jax.devices()` are then those of all.
"""

import os
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.core
import numpy as np
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from pgt.core.errors import InputError

# The name of the axis of the mesh along which rows are divided.
ROWS = "rows"
# The other hosts end when one is silent for so many seconds; with fewer, a slow network ends a run.
SECONDS_UNTIL_HOST_IS_LOST = 30
# Variables of the launchers by which JAX finds the other hosts by itself.
LAUNCHERS = {"SLURM_STEP_NUM_TASKS": "SLURM", "OMPI_COMM_WORLD_SIZE": "Open MPI"}


@cache
def row_sharding(count: int | None = None) -> NamedSharding | None:
    """The division of rows over the first `count` devices, by default over all; None for a single one.

    >>> row_sharding(1) is None
    True
    """
    devices = jax.devices()
    if count is not None and not 1 <= count <= len(devices):
        raise InputError(
            f"devices={count}: this program sees {len(devices)} device(s); write a number from 1 to "
            f"{len(devices)}, or leave it out to use all."
        )
    chosen = devices[:count]
    if len(chosen) == 1:
        return None
    mesh = Mesh(np.array(chosen), (ROWS,), axis_types=(AxisType.Auto,))
    return NamedSharding(mesh, PartitionSpec(ROWS))


def by_rows(tree: Any, sharding: NamedSharding | None) -> Any:
    """The tree with its arrays divided by rows over the devices of `sharding`.

    An array whose rows cannot be divided evenly is whole on each of them. Without `sharding` the tree is
    unchanged.

    >>> by_rows(np.zeros(4), None).shape
    (4,)
    """
    if sharding is None:
        return tree
    count, undivided = sharding.mesh.size, _undivided(sharding)

    def place(leaf):
        if not eqx.is_array(leaf):
            return leaf
        is_even = leaf.ndim > 0 and leaf.shape[0] % count == 0
        return _placed(leaf, sharding if is_even else undivided)

    return jax.tree.map(place, tree)


def on_every_device(tree: Any, sharding: NamedSharding | None) -> Any:
    """The tree with its arrays whole on every device; unchanged without `sharding`."""
    if sharding is None:
        return tree
    undivided = _undivided(sharding)
    return jax.tree.map(lambda leaf: _placed(leaf, undivided) if eqx.is_array(leaf) else leaf, tree)


def on_this_host(tree: Any, sharding: NamedSharding | None) -> Any:
    """The tree with its arrays as NumPy arrays, with the rows of all devices and hosts; unchanged without
    `sharding`."""
    if sharding is None:
        return tree

    def fetch(leaf):
        if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer):
            return leaf
        if not leaf.is_fully_addressable and not leaf.is_fully_replicated:
            leaf = jax.jit(lambda array: array, out_shardings=_undivided(sharding))(leaf)
        return np.asarray(leaf)

    return jax.tree.map(fetch, tree)


def _undivided(sharding: NamedSharding) -> NamedSharding:
    return NamedSharding(sharding.mesh, PartitionSpec())


def _placed(leaf, target: NamedSharding):
    if isinstance(leaf, jax.core.Tracer):
        return jax.lax.with_sharding_constraint(leaf, target)
    return jax.device_put(leaf, target)


# --------------------------------------------------------------------------------- hosts


def join_hosts(address: str | None = None, count: int | None = None, number: int | None = None):
    """Connect this process with the other hosts of a run, before anything is computed.

    Under SLURM and Open MPI nothing has to be given. Otherwise `address` is host:port of the first
    process, `count` the number of processes and `number` that of this one. If a process dies, all others
    end within a minute with an error.
    """
    if address is None and not any(name in os.environ for name in LAUNCHERS):
        raise InputError(
            "no other hosts are known: start the program by srun or mpirun, or give the address of the "
            "first process, the number of processes and the number of this one."
        )
    try:
        jax.distributed.initialize(
            address, count, number, heartbeat_timeout_seconds=SECONDS_UNTIL_HOST_IS_LOST
        )
    except (ValueError, RuntimeError) as error:
        raise InputError(f"the hosts could not be connected: {error}") from None


def sum_over_hosts(array: np.ndarray) -> np.ndarray:
    """The sum of an array over all hosts, on each of them.

    >>> sum_over_hosts(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if jax.process_count() == 1:
        return array
    with jax.enable_x64(True):
        return np.asarray(process_allgather(array)).sum(axis=0)


def rows_of_hosts(tree: Any, sharding: NamedSharding | None) -> Any:
    """The tree whose arrays have the rows of all hosts, each of which gives as many; unchanged on one."""
    if sharding is None or jax.process_count() == 1:
        return tree
    return jax.tree.map(
        lambda leaf: jax.make_array_from_process_local_data(sharding, np.asarray(leaf)), tree
    )


def is_first_host() -> bool:
    """Whether this process writes files and prints; True for a single one."""
    return jax.process_index() == 0
