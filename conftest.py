"""What pytest must not import where it is not installed."""

import importlib.util

PEERS = {"with_jinns.py": "jinns", "with_deepxde.py": "deepxde"}

collect_ignore = [
    f"pgt/bench/zoo/peers/{module}"
    for module, package in PEERS.items()
    if importlib.util.find_spec(package) is None
]
