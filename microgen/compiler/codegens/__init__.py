"""Code generators. The built-in kernels come first and use the same protocol as all others."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from microgen.base.errors import MicrogenError
from microgen.compiler.codegens.base import Codegen
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.compiler.codegens.found import FoundCodegen, in_folder, installed

OWN = "microgen"  # the origin of generators that ship with microgen
# Imported by name, like other people's packages, so that nothing in this room depends on them.
_OF_TVM = "microgen.tvm.codegens"


class Registry(Mapping[str, Codegen]):
    """Name -> codegen: microgen's own codegens, installed packages' and folders'.

    A package is imported when its generator is first needed. MicrogenError is raised then if the
    import fails, or if two generators have the same name; ``broken`` has the reasons.
    """

    def __init__(self, own: Mapping[str, Codegen], others: Sequence[FoundCodegen]) -> None:
        self._own = own
        self._others: dict[str, list[FoundCodegen]] = {}
        for found in others:
            self._others.setdefault(found.name, []).append(found)

    def __getitem__(self, name: str) -> Codegen:
        origins = self.origins(name)
        # Two generators of one name: the choice would depend on the order of installation.
        if len(origins) > 1:
            raise MicrogenError(
                f"{' and '.join(origins)} each provide a codegen of this name",
                where=name,
                hint="uninstall all but one",
            )
        return self._own[name] if name in self._own else self._others[name][0].load()

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter((*self._own, *sorted(self._others.keys() - self._own.keys())))

    def __len__(self) -> int:
        return len(self._own.keys() | self._others.keys())

    def origins(self, name: str) -> tuple[str, ...]:
        """The origins of a codegen: microgen, a package with its version, or a folder. If there are
        several, the name is ambiguous."""
        own = (OWN,) if name in self._own else ()
        return (*own, *(found.origin for found in self._others.get(name, ())))

    def broken(self, name: str) -> MicrogenError | None:
        """The reason why it cannot be loaded; None if it can."""
        try:
            self[name]
        except MicrogenError as error:
            return error
        return None


@functools.cache
def _own() -> Mapping[str, Codegen]:
    """The codegens of the modules and packages of both folders that have a ``CODEGEN``. The
    built-in kernels come first; the others are sorted by name."""
    packages = [importlib.import_module(name) for name in (__name__, _OF_TVM)]
    found = {m.name: each for each in packages for m in pkgutil.iter_modules(each.__path__)}
    names = sorted(found, key=lambda name: (name != "builtin", name))
    # Modules without a ``CODEGEN`` are parts of others.
    modules = [importlib.import_module(f"{found[name].__name__}.{name}") for name in names]
    codegens = [module.CODEGEN for module in modules if hasattr(module, "CODEGEN")]
    return MappingProxyType({codegen.name: codegen for codegen in codegens})


@functools.cache
def _installed() -> tuple[FoundCodegen, ...]:
    return tuple(installed())


def registry(*folders: Path) -> Registry:
    """All codegens, with the ones in ``folders``. Raises the errors of ``from_folder``."""
    return Registry(_own(), [*_installed(), *(f for folder in folders for f in in_folder(folder))])


def from_folder(folder: Path) -> Mapping[str, ExternalCodegen]:
    """The codegens of the modules and packages of a folder that have a ``CODEGEN``.

    They are imported as members of a package of their own, so that relative imports work. Raises
    MicrogenError if there are none, one cannot be imported or is invalid, or two have one name.
    """
    found = Registry({}, in_folder(folder))
    return {
        name: codegen for name, codegen in found.items() if isinstance(codegen, ExternalCodegen)
    }
