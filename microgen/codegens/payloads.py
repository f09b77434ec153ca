"""Readers for modules of the blob, from the codegens that make their payloads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from microgen import codegens
from microgen.blob import payloads
from microgen.blob.payloads import PayloadReader
from microgen.codegens.external import ExternalCodegen
from microgen.errors import MicrogenError, of_codegen


def readers(
    names: Collection[str] = (), folders: Sequence[Path] = ()
) -> Mapping[str, PayloadReader]:
    """Type key -> reader: those of the blob's format, of microgen's codegens, of those in
    ``folders``, and of the installed ones in ``names``, which are those that made a firmware.

    A codegen that cannot be loaded has no readers. Raises MicrogenError for a type key with two.
    """
    found: dict[str, PayloadReader] = {}
    owner: dict[str, str] = {}
    for codegen in _codegens(names, folders):
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


def _codegens(names: Collection[str], folders: Sequence[Path]) -> list[ExternalCodegen]:
    """The codegens. Packages are imported only if they are named."""
    known = codegens.registry(*folders)
    wanted = [n for n in known if n in names or not known.is_installed(n)]
    found = [known[name] for name in wanted if not known.broken(name)]
    return [codegen for codegen in found if isinstance(codegen, ExternalCodegen)]
