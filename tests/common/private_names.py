"""What other libraries keep to themselves, exchanged to make tests cheaper. No test needs it: where a
version has no such name, or takes other arguments, it is left as it is."""

import functools
import importlib
import inspect
import threading
from collections.abc import Callable
from types import ModuleType

SHARING = 200  # programs: a compiler context only grows
# From this version on JAX shares its compiler contexts itself.
SHARED_SINCE = (0, 11)


def exchange(module: str | ModuleType, name: str, by: Callable, arguments: int) -> bool:
    """Put `by(what was there)` in the place of a function of a module; whether that was possible.

    `arguments` are those that the function takes where it is as it was when this was written.
    """
    try:
        home = importlib.import_module(module) if isinstance(module, str) else module
        known = getattr(home, name)
        if len(inspect.signature(known).parameters) != arguments:
            return False
    except (ImportError, AttributeError, TypeError, ValueError):
        return False
    setattr(home, name, by(known))
    return True


def shared(new_context: Callable) -> Callable:
    """JAX 0.10 makes a compiler context, with every dialect in it, for each program that it lowers: a
    quarter of the time of a small one. Here many programs of a thread share one and then begin another.
    """
    counted = threading.local()

    def context():
        counted.programs = getattr(counted, "programs", -1) + 1
        if counted.programs % SHARING == 0:
            counted.context = new_context()
        return counted.context

    return context


def make_tests_cheaper(version: tuple[int, ...]) -> None:
    """Exchange what there is, for a version of JAX."""
    if tuple(version) < SHARED_SINCE:
        exchange("jax._src.interpreters.mlir", "make_ir_context", shared, arguments=0)
    # The command line is built from its functions at every call; those of the tests call one that stays.
    exchange("typer.testing", "_get_command", functools.cache, arguments=1)
