"""Every compiled program maps memory, and a process may hold 65530 maps (Linux); past that the compiler
dies. Long before, programs that no test needs any more are let go."""

import gc
import time
from pathlib import Path

import jax

MANY_MAPS, LOOKS_EVERY = 30_000, 5.0  # s: to count them takes longer than most tests
MAPS = Path("/proc/self/maps")

last = {"look": time.monotonic()}


def let_go_now_and_then() -> None:
    if time.monotonic() - last["look"] >= LOOKS_EVERY:
        let_go_of_compiled_programs()
        last["look"] = time.monotonic()


def let_go_of_compiled_programs() -> None:
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY_MAPS:
        jax.clear_caches()
        gc.collect()
