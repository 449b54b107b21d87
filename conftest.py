"""What all tests share, docstring examples among them."""

import pytest


@pytest.fixture(autouse=True)
def forget_parts_of_examples():
    """The part that the docstring of `register` registers is forgotten after it."""
    yield
    from pgt.core import registry  # after tests/conftest.py has set what checks shapes at import

    for family in registry._parts.values():
        for name, part in list(family.items()):
            if getattr(part, "__module__", "") == registry.__name__:
                del family[name]
