"""The provenance of a result: device, versions, commit."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

__version__ = "0.1.0"


def provenance() -> dict:
    """The provenance of a result, with which others can check it, as plain data."""
    import jax  # imported here, so that `pgt --version` does not wait for it

    device = jax.devices()[0]
    return {
        "device": f"{device.platform}: {device.device_kind}",
        "processor": _processor(),
        "cpu_count": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "versions": versions(),
        "commit": _git_commit(),
    }


def _processor() -> str:
    """The name of the processor, if the system gives it."""
    table = Path("/proc/cpuinfo")
    lines = (
        table.read_text(encoding="utf-8", errors="replace").splitlines() if table.exists() else []
    )
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    packages = ("jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "xarray")
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"pgt": __version__, "python": platform.python_version()} | found


def _git_commit() -> str | None:
    """The commit of the running source, if it is a git checkout."""
    if "PGT_COMMIT" in os.environ:  # a copy of the source without its history
        return os.environ["PGT_COMMIT"]
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():  # installed; a repository around it would be someone else's
        return None
    command = ["git", "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, cwd=root)
    except OSError:
        return None
    return found.stdout.strip() or None
