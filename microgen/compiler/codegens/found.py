"""Finds code generators: modules of a folder, and installed packages.

A package is imported only when a user chooses its generator, so its mistakes are errors only for
users of the generator.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from microgen.base.errors import CodegenError, MicrogenError, of_codegen
from microgen.compiler.codegens.external import ExternalCodegen

GROUP = "microgen.codegens"  # the group of entry points
ATTRIBUTE = "CODEGEN"
_NAME = re.compile("[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class FoundCodegen:
    """A code generator that was found: its name, its origin, and ``load``, which returns it or
    raises MicrogenError."""

    name: str
    origin: str
    load: Callable[[], ExternalCodegen]


def installed() -> Iterator[FoundCodegen]:
    """The generators of packages, found by their entry points."""
    seen: set[str] = set()
    for package in importlib.metadata.distributions():
        if GROUP not in (package.read_text("entry_points.txt") or ""):
            continue
        name = _metadata(package, "Name") or "a package"
        # A package may be on two places of the path; Python imports the first.
        if name not in seen:
            seen.add(name)
            yield from _of_package(package, name)


def _of_package(package: importlib.metadata.Distribution, name: str) -> Iterator[FoundCodegen]:
    origin = " ".join(filter(None, (name, _metadata(package, "Version"))))
    try:
        with of_codegen(origin, "reading its entry points"):
            points = package.entry_points.select(group=GROUP)
    except CodegenError as error:
        # The error is for users who want this generator.
        yield FoundCodegen(name, origin, _failing(error))
        return
    for point in points:
        yield FoundCodegen(point.name, origin, _entry_point(point, origin))


def _metadata(package: importlib.metadata.Distribution, field: str) -> str:
    return next(iter(package.metadata.get_all(field) or ()), "")


def _failing(error: MicrogenError) -> Callable[[], ExternalCodegen]:
    def load() -> ExternalCodegen:
        raise error

    return load


def _entry_point(
    point: importlib.metadata.EntryPoint, origin: str
) -> Callable[[], ExternalCodegen]:
    def load() -> ExternalCodegen:
        where = f"{origin}, {point.value}"
        with of_codegen(where, "importing it"):
            value = point.load()
        return _checked(value, where, point.name)

    return load


def _checked(value: Any, where: str, name: str = "") -> ExternalCodegen:
    """``value`` if it is a code generator, and has the name if one is given."""
    if not isinstance(value, ExternalCodegen):
        found = value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"
        raise MicrogenError(
            f"expected an object of a subclass of ExternalCodegen, found {found}",
            where=where,
            hint="see `microgen help docs/guides/byoc.md`",
        )
    own = getattr(value, "name", None)
    if not isinstance(own, str) or not _NAME.fullmatch(own):
        raise _misnamed(f"{own!r} cannot name a codegen: letters, digits, '_' and '-'", where)
    if name and own != name:
        raise _misnamed(f"its entry point is named {name!r}, and its codegen {own!r}", where)
    supported = getattr(getattr(value, "support", None), "name", None)
    if supported != own:
        raise _misnamed(f"its support is named {supported!r}, and its codegen {own!r}", where)
    return value


def _misnamed(what: str, where: str) -> MicrogenError:
    return MicrogenError(what, where=where, hint="give both the same name")


def in_folder(folder: Path) -> tuple[FoundCodegen, ...]:
    """The generators in the modules and packages of a folder whose sources mention ``CODEGEN``,
    which are imported at once. Raises MicrogenError if there are none, or if an import fails."""
    if not folder.is_dir():
        raise MicrogenError("there is no such folder", where=str(folder))
    package = _as_package(folder)
    names = (name for _, name, _ in pkgutil.iter_modules([str(folder)]))
    found = [_of_module(f"{package}.{name}", folder) for name in names]
    present = [one for one in found if one]
    if not present:
        raise MicrogenError(
            f"no module here has a {ATTRIBUTE}",
            where=str(folder),
            hint="see `microgen help docs/guides/byoc.md`",
        )
    return tuple(present)


def _as_package(folder: Path) -> str:
    """The name of a package with the folder's modules, so that they clash with no others."""
    path = str(folder.resolve())
    name = f"microgen_codegens_{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    package = sys.modules.setdefault(name, ModuleType(name))
    package.__path__ = [path]
    # The folder may have modules that are newer than the caches of the import system.
    importlib.invalidate_caches()
    return name


def _of_module(name: str, folder: Path) -> FoundCodegen | None:
    where = str(folder / name.rpartition(".")[2])
    with of_codegen(where, "importing it"):
        # A module that does not mention CODEGEN is not imported, because importing it runs it.
        spec = importlib.util.find_spec(name)
        path = Path(spec.origin) if spec and spec.origin else None
        if path is None or not path.is_file() or ATTRIBUTE.encode() not in path.read_bytes():
            return None
        module = importlib.import_module(name)
    if not hasattr(module, ATTRIBUTE):
        return None
    codegen = _checked(getattr(module, ATTRIBUTE), where)
    return FoundCodegen(codegen.name, str(folder), lambda: codegen)
