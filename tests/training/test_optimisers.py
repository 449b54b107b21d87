"""Optimisers by name and as Optax transformations."""

import jax.numpy as jnp
import optax
import pytest

import pgt
from pgt.core.registry import parts
from pgt.training.optimisers import describe_optimiser, direction


@pytest.mark.parametrize("name", ["soap", "adam", "adamw", "lion"])
def test_every_named_optimiser_descends(name):
    trained = ({"weight": jnp.ones((3, 2))}, {"coefficient": jnp.ones(())}, {"data": jnp.ones(())})
    transformation = direction(name)
    state = transformation.init(trained)
    for _ in range(3):  # the first step of SOAP only finds its bases
        update, state = transformation.update(trained, state, trained)
    assert float(jnp.sum(update[0]["weight"])) > 0.1  # along the gradient, which is one everywhere
    assert float(update[1]["coefficient"]) > 0.1


def test_only_network_weights_decay():
    trained = ({"weight": jnp.ones(2)}, {"coefficient": jnp.ones(2)}, {})
    still = ({"weight": jnp.zeros(2)}, {"coefficient": jnp.zeros(2)}, {})
    transformation = parts("optimiser")["adamw"](weight_decay=0.1)
    update, _ = transformation.update(still, transformation.init(trained), trained)
    assert update[0]["weight"].tolist() == pytest.approx([0.1, 0.1])
    assert update[1]["coefficient"].tolist() == [0.0, 0.0]


def test_the_description_of_a_transformation_is_reproducible():
    def made(b1):
        return optax.chain(optax.clip(1.0), optax.scale_by_adam(b1=b1))

    assert describe_optimiser("soap") == "soap"
    assert (
        describe_optimiser(made(0.8))
        == describe_optimiser(made(0.8))
        != describe_optimiser(made(0.9))
    )
    assert "0x" not in describe_optimiser(made(0.8))
    training = pgt.Training(optimiser=made(0.8))
    assert training.describe()["optimiser"] == describe_optimiser(made(0.8))
    assert hash(training) == hash(pgt.Training(optimiser=training.optimiser))


def test_a_complete_optimiser_is_refused():
    with pytest.raises(pgt.InputError, match=r"optax.scale_by_adam\(\) instead"):
        pgt.Training(optimiser=optax.adam(1e-3))
    with pytest.raises(pgt.InputError, match="'soap', 'adam', 'adamw', 'lion', or an Optax"):
        pgt.Training(optimiser="sgd")
