"""The code generators that a user chooses, with their options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from microgen.base.errors import MicrogenError, UnsupportedError, of_codegen
from microgen.compiler import codegens
from microgen.compiler.codegens.base import Codegen
from microgen.compiler.codegens.external import DeviceDriver, ExternalCodegen

BUILTIN = "builtin"


def chosen(
    names: Sequence[str], options: Sequence[str] = (), folder: str = ""
) -> dict[str, Codegen]:
    """The generators with these names, in order, followed by the built-in kernels.

    ``options`` are ``NAME.KEY=VALUE``. ``folder`` has more generators; empty for none. Raises
    UnsupportedError for an unknown name, MicrogenError for an option that is malformed or belongs
    to no generator, and the errors of ``codegens.from_folder``.
    """
    known = codegens.registry(*([Path(folder)] if folder else []))
    # The built-in kernels come last, so that they compute only the nodes that no other claims.
    wanted = list(dict.fromkeys((*(n for n in names if n != BUILTIN), BUILTIN)))
    for name in wanted:
        if name not in known:
            raise UnsupportedError(
                f"there is no codegen {name!r}",
                where="--codegen",
                hint=f"codegens: {', '.join(known)}",
            )
    given = _options(options, wanted)
    return {name: _configured(known[name], given.get(name, {})) for name in wanted}


def external(found: Mapping[str, Codegen]) -> tuple[ExternalCodegen, ...]:
    """The generators without the built-in kernels."""
    return tuple(codegen for codegen in found.values() if isinstance(codegen, ExternalCodegen))


def drivers(found: Mapping[str, Codegen], kinds: Collection[str]) -> dict[str, DeviceDriver]:
    """The drivers of the devices of these kinds, if a generator names one."""
    own = external({kind: found[kind] for kind in kinds if kind in found})
    return {generator.name: generator.driver for generator in own if generator.driver}


def _configured(codegen: Codegen, options: Mapping[str, str]) -> Codegen:
    if isinstance(codegen, ExternalCodegen):
        with of_codegen(codegen.name, "configured"):
            return codegen.configured(options)
    if options:
        raise MicrogenError(
            f"{codegen.name} has no options", where="--codegen-option", hint="leave it out"
        )
    return codegen


def _options(texts: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Name -> key -> value."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        name, _, key = target.rpartition(".")
        if not (equals and name and key):
            raise MicrogenError(
                f"{text!r} is malformed",
                where="--codegen-option",
                hint="write NAME.KEY=VALUE",
            )
        if name not in names:
            raise MicrogenError(
                f"{text!r} is for a codegen that is not asked for",
                where="--codegen-option",
                hint=f"add --codegen {name}, or leave it out",
            )
        own = found.setdefault(name, {})
        if key in own:
            raise MicrogenError(f"{target!r} is given twice", where="--codegen-option")
        own[key] = value
    return found
