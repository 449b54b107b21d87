"""Which run a checkpoint belongs to: everything that decides the result, by content.

Work on other readings, another equation or another network must not be continued under the new name.
"""

from typing import Any

from pgt.ground.content import contents
from pgt.training.assemble import Task

Identity = dict[str, Any]


def identity_of(task: Task) -> Identity:
    """What a checkpoint must agree with to be continued."""
    return {
        "seed": task.seeds[0],
        "members": len(task.seeds),
        "training": contents(task.asked or task.training),
    } | parts_of(
        task.problem.observations, task.pde, task.domain, task.problem.conditions, task.networks,
        {"held out": task.held_out, "error bars": task.error_bars},
    )  # fmt: skip


def parts_of(readings, pde, domain, conditions, model, others: dict[str, Any]) -> Identity:
    """The leaves of everything that is fitted."""
    named = {
        "readings": readings, "equation": pde, "domain": domain, "conditions": conditions,
        "model": model, **others,
    }  # fmt: skip
    return {name: contents(part) for name, part in named.items()}
