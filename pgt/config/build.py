"""From a checked table to the object that it describes."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pgt.config.condition_text import Curve, OfReadings, UnknownCoefficient
from pgt.config.derive import PartSection
from pgt.config.run import RunFile
from pgt.config.schema import Section


def arguments_of(builds: Callable) -> Mapping[str, inspect.Parameter]:
    """The arguments of a class or function by name."""
    return inspect.signature(builds).parameters


class Builder:
    """Makes parts; a mistake that only shows then still names file, line and key.

    `for_kernels` gives what is known of kernels before a file says anything: what a table leaves out
    is as in the kernel of the equation. `of_readings` gives the names of the axes in the file of
    readings, and their units: a table from another file is taken to have the same.
    """

    def __init__(
        self,
        run: RunFile,
        for_kernels: Callable[[], Mapping[str, Any]],
        of_readings: OfReadings,
    ):
        self.run = run
        self.for_kernels, self.of_readings = for_kernels, of_readings

    def part(self, section: PartSection, *key: str | int, known: Mapping[str, Any] | None = None):
        """The object, of what the file gives and, where it does not say, of what is `known` besides."""
        takes = arguments_of(section.builds)
        if getattr(section.builds, "part", None) == "kernel":
            known = self.for_kernels()
        options = {name: value for name, value in (known or {}).items() if name in takes}
        options |= self.options(section, *key)
        items: list = []
        spread = any(argument.kind is argument.VAR_POSITIONAL for argument in takes.values())
        for name, argument in takes.items():
            if argument.kind is argument.VAR_POSITIONAL:
                items += options.pop(name, ())
            elif argument.kind is argument.VAR_KEYWORD:
                options |= options.pop(name, {})
            elif argument.default is argument.empty and name not in options:
                raise self.run.error(f"this is missing; add for example {name} = 1", *key, name)
            elif spread and argument.kind is argument.POSITIONAL_OR_KEYWORD and name in options:
                items.append(options.pop(name))  # what stands before `*several` has no keyword
        with self.run.located(*key):
            return section.builds(*items, **options)

    def options(self, section: Section, *key: str | int) -> dict[str, Any]:
        """What the file gives, as the library takes it."""
        return {name: self._value(value, *key, name) for name, value in section.given().items()}

    def _value(self, value: Any, *key: str | int) -> Any:
        match value:
            case UnknownCoefficient():
                return value.value()
            case Curve():
                with self.run.located(*key):
                    return value.table(self.run.path.parent, self.of_readings)
            case PartSection():
                return self.part(value, *key)
            case tuple():
                return tuple(self._value(item, *key, index) for index, item in enumerate(value))
            case dict():
                return {name: self._value(item, *key, name) for name, item in value.items()}
        return value
