"""Makes names from a model safe for C: identifiers, and text in comments."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence

from microgen.base import errors
from microgen.base.errors import MicrogenError
from microgen.base.names.tvm_names import sanitize_name

MAX_FUNCTION_NAME = 80  # TVM's limit for a primitive function's name, before the hash
# TVM's runtime has room for 119 characters of a function's name. The longest name of a module's
# function is tvmgen_<module>_get_c_metadata.
MAX_MODULE_NAME = 96
MAX_FIELD_NAME = 128  # of an input's or output's field in C

# Names that mean something else in generated code.
_TAKEN = re.compile(
    r"""
    # Keywords of C and C++, up to C++20.
    alignas | alignof | and | and_eq | asm | auto | bitand | bitor | bool | break | case |
    catch | char | class | compl | concept | const | const_cast | constexpr | continue |
    decltype | default | delete | do | double | dynamic_cast | else | enum | explicit | export
    | extern | false | float | for | fortran | friend | goto | if | inline | int | long |
    mutable | namespace | new | noexcept | not | not_eq | nullptr | operator | or | or_eq |
    private | protected | public | register | reinterpret_cast | requires | restrict | return
    | short | signed | sizeof | static | static_assert | static_cast | struct | switch |
    template | this | thread_local | throw | true | try | typedef | typeid | typename | typeof
    | union | unsigned | using | virtual | void | volatile | wchar_t | while | xor | xor_eq
    # Names that a header of the C library that generated code includes may define.
    | u?int((_least|_fast)?(8|16|32|64)|ptr|max)_t | (size|ptrdiff|max_align)_t | NULL | offsetof
    | (U?INT|SIZE|PTRDIFF|SIG_ATOMIC|WCHAR|WINT)\w*_(MIN|MAX|C|WIDTH)
    | mem(cpy|move|set|cmp|chr)
    # Names that the runner defines, in addition to its parameters.
    | MISALIGNED_POOL | NOT_ONE_BUFFER | NULL_POINTER | ONE_BUFFER | active_devices |
    first_error | run_operators | status
    """,
    re.VERBOSE,
)


def identifier(name: str) -> str:
    """The name with every character except ASCII letters and digits replaced by ``_``, as in TVM.

    Names that are already used in C, C++, the C library or the runner get a leading ``t_``.
    """
    # Not ``isidentifier``, which accepts letters that C does not.
    plain = sanitize_name(name) if name else ""
    # C reserves names with a leading underscore (C99, 7.1.3).
    if not plain or plain[0].isdigit() or plain.startswith("_") or _TAKEN.fullmatch(plain):
        return f"t_{plain.lstrip('_')}"
    return plain


def unique(
    name: str,
    taken: Container[str],
    *,
    key: Callable[[str], str] = str,
    tried: dict[str, int] | None = None,
) -> str:
    """The name, or the first of ``name_1``, ``name_2``, ... whose ``key`` is not taken.

    ``tried`` has the last number tried for each name. It saves time for callers with many equal
    names who never release one.
    """
    # The search continues at the last number, so many equal names take linear time.
    number = tried.get(name, 0) if tried else 0
    candidate = f"{name}_{number}" if number else name
    while key(candidate) in taken:
        number += 1
        candidate = f"{name}_{number}"
    if tried is not None:
        tried[name] = number
    return candidate


def function_name(prefix: str, words: tuple[str, ...]) -> str:
    """``<prefix>_fused_<word>_<word>...``; beyond 80 characters it is cut and gets a hash."""
    name = f"{prefix}_fused_{'_'.join(words)}"
    if len(name) <= MAX_FUNCTION_NAME:
        return name
    # Names that differ only after the cut differ in the hash.
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[:MAX_FUNCTION_NAME]}_{digest}_"


def module_name(name: str) -> str:
    """``name`` if it is valid in identifiers and file names; MicrogenError otherwise."""
    # Also part of file names and macros, so the same characters hold for all.
    if not re.fullmatch(f"[A-Za-z0-9][A-Za-z0-9_]{{0,{MAX_MODULE_NAME - 1}}}", name):
        raise MicrogenError(
            f"{short(name)!r} cannot name a module: expected 1 to {MAX_MODULE_NAME} ASCII letters, "
            "digits and '_', the first not '_'",
            where="--name",
            hint="use a name such as 'kws' or 'model_2'",
        )
    return name


def short(name: str, limit: int = 48) -> str:
    """A layer's name for people. A long one is cut in the middle."""
    # Converters join the names of fused layers with ";". The first of them says most.
    return errors.short(name.split(";", 1)[0], limit)


def public(tensor: str) -> str:
    """A tensor's name for messages: the name of the model's layer."""
    # Importers name a step of a layer by a suffix, as in "pool#NHWC".
    return short(tensor.partition("#")[0] or tensor)


def layer(name: str) -> str:
    """A layer's name as tables and generated code print it."""
    return short(name, 60)


def layers(names: Iterable[str]) -> str:
    """The names of the layers of one call, as tables and generated code print them."""
    return " + ".join(map(layer, names))


def inert(text: str) -> str:
    """The text made safe in a C comment: printable ASCII without ``*/``, ``\\`` or trigraphs."""
    # A compiler warns of other characters, and a backslash may join lines.
    ascii_only = "".join(c if " " <= c <= "~" and c != "\\" else "_" for c in text)
    # The trigraph ??/ is a backslash, which at the end of a line joins it with the next one.
    return ascii_only.replace("*/", "*_").replace("/*", "/_").replace("??", "__")


def comment(text: str, limit: int = 200) -> str:
    """The text made safe for a C comment or string: printable ASCII, no ``*/``, no trigraph.

    A quote, a backslash and ``%`` become ``_``; longer text is cut.
    """
    safe = re.sub('["%]', "_", inert(text))
    return safe if len(safe) <= limit else f"{safe[: limit - 3]}..."


def field(name: str) -> str:
    """The identifier for an input or output of that name: beyond 128 characters it is cut and gets
    a hash."""
    plain = identifier(name)
    if len(plain) <= MAX_FIELD_NAME:
        return plain
    return f"{plain[:MAX_FUNCTION_NAME]}_{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def aliases(names: Sequence[Sequence[str]], fields: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The second names of inputs or outputs in C: for each, those of its ``names`` that are
    identifiers in C once ``_`` replaces all other characters, as in TVM.

    ``names`` is empty, or has a list of names for each of the ``fields`` in C. A second name is
    left out if it is its field, the field or second name of another, longer than 128 characters, or
    a name that C, C++ or generated code uses for something else.
    """
    if not names:
        return ((),) * len(fields)
    plain = [
        {sanitize_name(name): name for name in own if name and len(name) <= MAX_FIELD_NAME}
        for own in names
    ]
    # A name that occurs twice would be defined twice in C.
    taken = Counter([*(name for own in plain for name in own), *fields])
    return tuple(
        tuple(name for name, of in own.items() if taken[name] == 1 and identifier(of) == name)
        for own in plain
    )
