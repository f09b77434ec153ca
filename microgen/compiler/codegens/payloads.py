"""Readers for modules of the blob, from the codegens that make their payloads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from microgen.base.errors import MicrogenError, of_codegen
from microgen.compiler import codegens
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.relay.blob import payloads
from microgen.relay.blob.payloads import PayloadReader


def readers(
    names: Collection[str] = (), folders: Sequence[Path] = ()
) -> Mapping[str, PayloadReader]:
    """Type key -> reader, from the blob's format, microgen's codegens, the codegens in ``folders``,
    and the installed codegens in ``names``, which made a firmware.

    An installed codegen that cannot be loaded has no readers. Raises MicrogenError if one of a
    folder cannot be loaded, and for a type key with two readers.
    """
    found: dict[str, PayloadReader] = {}
    owner: dict[str, str] = {}
    for codegen in _codegens(names, folders):
        # Code of others may raise anything; the error then names the codegen.
        with of_codegen(codegen.name, "asking for its payloads"):
            own = dict(codegen.payloads)
        for key, reader in own.items():
            if found.setdefault(key, reader) != reader:
                raise MicrogenError(
                    f"{owner[key]} and {codegen.name} both read payloads of type {key!r}",
                    where="module blob",
                    hint="give one codegen's runtime a type key of its own",
                )
            owner.setdefault(key, codegen.name)
    return payloads.table(found)


def _codegens(names: Collection[str], folders: Sequence[Path]) -> Iterator[ExternalCodegen]:
    known = codegens.registry(*folders)
    asked = {name for folder in folders for name in codegens.from_folder(folder)}
    for name in known:
        # An import runs the package's code, so packages are imported only if they are named.
        is_meant = name in names or codegens.OWN in known.origins(name)
        codegen = known[name] if name in asked or (is_meant and not known.broken(name)) else None
        if isinstance(codegen, ExternalCodegen):
            yield codegen
