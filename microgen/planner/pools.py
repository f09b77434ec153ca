"""Memory pools in the form that a user declares: ``NAME:SIZE[:external][:const][:align=N]...``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import replace

from microgen.base.errors import MicrogenError, UnsupportedError
from microgen.base.formats import byte_sizes
from microgen.base.names import cnames
from microgen.planner.program.plan import Pool

SYNTAX = "NAME:SIZE[:external][:const][:align=N][:targets=A+B][:memory=REGION]"
DEFAULT = "global_workspace"
HOST = "c"

# tvmgen_<module>_<name> is a symbol; these names would be other symbols.
_TAKEN = re.compile(r"run|reset|map_inputs|map_outputs|get_c_metadata|(p[0-9]|fused_).*", re.I)
# Options of TVM that no planner uses, neither here nor in TVM.
_UNUSED = ("clock", "bandwidth", "latency", "burst")


def parse(specs: Sequence[str], alignment: int) -> tuple[Pool, ...]:
    """The pools that ``specs`` declare, in order. Pools without an alignment get ``alignment``.

    If no workspace pool is declared, there is ``global_workspace``, internal and without limit.
    Raises MicrogenError for a malformed declaration, and for names that are equal in C.
    """
    pools = [_parse(spec, alignment) for spec in specs]
    # Constant pools hold no buffers, so a workspace pool is needed in addition.
    if all(pool.is_constant for pool in pools):
        pools.append(Pool(DEFAULT, 0, alignment))
    for number, pool in enumerate(pools):
        for other in pools[:number]:
            # Macros with the pools' sizes have names in upper case.
            if other.name.upper() == pool.name.upper():
                raise MicrogenError(
                    f"{pool.name!r} and {other.name!r} share a name in macros",
                    where="--pool",
                    hint="pools need names that differ in more than case",
                )
    return tuple(pools)


def on_host(pools: Sequence[Pool], host: str) -> tuple[Pool, ...]:
    """The pools with ``host`` instead of ``c``, TVM's name for the target of its C compiler."""
    return tuple(
        replace(pool, targets=tuple(host if t == HOST else t for t in pool.targets))
        for pool in pools
    )


def _parse(spec: str, alignment: int) -> Pool:
    name, *rest = spec.split(":")
    if not rest:
        raise _bad(spec, "has no size")
    if cnames.identifier(name) != name:
        raise _bad(spec, f"{name!r} is not a C identifier for a struct's field")
    if _TAKEN.fullmatch(name):
        raise _bad(spec, f"{name!r} is the name of something else in the generated code")
    words = [word for word in rest[1:] if "=" not in word]
    settings = dict(word.split("=", 1) for word in rest[1:] if "=" in word)
    _check_words(spec, words, settings)
    return Pool(
        name,
        0,
        _alignment(spec, settings["align"]) if "align" in settings else alignment,
        capacity=_size(spec, rest[0]),
        is_internal="external" not in words,
        is_constant="const" in words,
        targets=tuple(filter(None, settings.get("targets", "").split("+"))),
        memory=settings.get("memory", ""),
    )


def _check_words(spec: str, words: Sequence[str], settings: dict[str, str]) -> None:
    for word in (*words, *settings):
        # TVM's own names have words before or after the kind.
        if any(word.startswith(kind) or f"_{kind}" in word for kind in _UNUSED):
            raise UnsupportedError(
                f"{word!r} has no effect on any planner",
                where=f"--pool {spec}",
                hint="leave it out: pools are filled in the order of their declaration",
            )
    unknown = [word for word in words if word not in ("external", "const")]
    unknown += [word for word in settings if word not in ("align", "targets", "memory")]
    if unknown:
        raise _bad(spec, f"{unknown[0]!r} is unknown")
    if "const" in words and settings.get("targets"):
        raise _bad(spec, "targets are for workspace pools")
    for word, value in settings.items():
        if not value:
            raise _bad(spec, f"{word}= has no value")


def _size(spec: str, text: str) -> int | None:
    # No size and '*' both mean that there is no limit.
    if text in ("", "*"):
        return None
    try:
        return byte_sizes.parse(text)
    except ValueError as error:
        raise _bad(spec, f"{error}, or '*' for no limit") from error


def _alignment(spec: str, text: str) -> int:
    with contextlib.suppress(ValueError):
        if (nbytes := byte_sizes.parse(text)) in {1 << bits for bits in range(9)}:
            return nbytes
    raise _bad(spec, f"{text!r} is not an alignment: expected a power of two from 1 to 256")


def _bad(spec: str, what: str) -> MicrogenError:
    return MicrogenError(what, where=f"--pool {spec}", hint=f"expected {SYNTAX}")
