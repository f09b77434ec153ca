"""The flatbuffer in C source: an array of bytes, as ``xxd -i`` and TFLite Micro's examples have it.

Comments and literals are removed first, then each pair of braces without braces inside is a list of
numbers. Every step reads the text once, so the time is linear in its length.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from microgen.base.errors import ModelError, few
from microgen.frontends.tflite.signature import IDENTIFIER

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp")

MAX_BYTES = 32 << 20  # of source; it has five or six characters for each byte of the model
_MOST_ARRAYS = 16  # that hold a model; with two of them the file is refused
_HEAD = 1000  # characters before a brace in which the array's name is looked for
_CHUNK = 1 << 20
_LONGEST_NUMBER = 20

_HIDDEN = re.compile(rb"/[/*]|[\"']")
# A bound on their length, because the expression takes memory for each character.
_LITERAL = re.compile(rb"\"(?:[^\"\\\n]|\\.){0,4096}\"|'(?:[^'\\\n]|\\.){0,16}'")
_DIRECTIVE = re.compile(rb"(?m)^[ \t]*#.*$")
_LIST = re.compile(rb"\{([^{}]{15,})\}")  # at least eight numbers
_BOUNDARY = re.compile(rb"[{};]")
_NUMBER = re.compile(rb"(-?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))[uUlL]{0,3}")
_DECLARED = re.compile(rb"([A-Za-z_]\w*)\s*\[(?!\[)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_SPACE = b" \t\r\n\v\f\\"


@dataclass(frozen=True, slots=True)
class _Array:
    """A list of numbers in braces: its text, and the text before it."""

    head: bytes
    body: bytes

    @property
    def name(self) -> str:
        """The array's name in its declaration, or a description."""
        head = _DIRECTIVE.sub(b"", self.head)
        declared = _DECLARED.search(head)
        words = [declared[1]] if declared else _WORD.findall(head)
        return words[-1].decode("ascii") if words else "an array without a name"


def flatbuffer(source: bytes, file: str) -> bytes:
    """The bytes of the only array in the source that begins like a TFLite flatbuffer.

    Raises ModelError if there is none, or more than one, or if the text is malformed.
    """
    # Checked before any expression runs over the text.
    if len(source) > MAX_BYTES:
        raise ModelError(
            f"has {len(source):,} bytes; C source of a model has at most {MAX_BYTES:,}",
            where=file,
            hint="give the .tflite file itself",
        )
    code = _code(source, file)
    arrays: list[_Array] = []
    others = 0
    for braces in _LIST.finditer(code):
        if _is_model(braces[1][:_HEAD]):
            arrays.append(_Array(_head(code, braces.start()), braces[1]))
        others += 1
        if len(arrays) == _MOST_ARRAYS:
            break
    # With two models in the source, a choice would be a guess.
    if len(arrays) != 1:
        raise _not_one(arrays, others, code, file)
    return _bytes(arrays[0], file)


def _code(source: bytes, file: str) -> bytes:
    """The source with a space for each comment and each literal."""
    code, at = bytearray(), 0
    while hidden := _HIDDEN.search(source, at):
        code += source[at : hidden.start()]
        code += b" "
        at = _after(source, hidden.start(), file)
    code += source[at:]
    return bytes(code)


def _after(source: bytes, start: int, file: str) -> int:
    """The place after the comment or literal at ``start``."""
    if source.startswith(b"/*", start):
        end = source.find(b"*/", start + 2)
        if end < 0:
            line = source.count(b"\n", 0, start) + 1
            raise ModelError(
                f"has a comment in line {line} that does not end",
                where=file,
                hint="get the file again",
            )
        return end + 2
    if not source.startswith(b"//", start):
        # A quotation mark without a partner on its line, as in the text of ``#error``, hides the
        # rest of the line.
        literal = _LITERAL.match(source, start)
        return literal.end() if literal else _end_of_line(source, start)
    end = _end_of_line(source, start)
    while source[start:end].rstrip(b"\r").endswith(b"\\") and end < len(source):
        start, end = end, _end_of_line(source, end + 1)
    return end


def _end_of_line(source: bytes, start: int) -> int:
    end = source.find(b"\n", start)
    return len(source) if end < 0 else end


def _head(code: bytes, brace: int) -> bytes:
    """The declaration before a brace."""
    # ``std::array`` has two pairs of braces.
    before = code[max(0, brace - _HEAD) : brace].rstrip().removesuffix(b"{")
    return _BOUNDARY.split(before)[-1]


def _is_model(body: bytes) -> bool:
    """Whether the first eight numbers are the header of a flatbuffer with the identifier."""
    try:
        first = bytes(_number(item.strip(_SPACE)) for item in body.split(b",", 8)[:8])
        # The identifier is at bytes 4 to 7, after the offset of the root table.
        return first[4:8] == IDENTIFIER
    except ValueError:
        return False


# An array has few different numbers. They may be written in any number of ways, so the cache is
# limited.
@functools.lru_cache(maxsize=1 << 12)
def _number(text: bytes) -> int:
    """The value of a C literal of a byte. Raises ValueError if it is not a byte."""
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None:
        raise ValueError("which is not a number")
    sign, hexadecimal, octal, decimal = match.groups()
    size = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    value = -size if sign else size
    # An array of char may be written with signed numbers.
    if not -128 <= value <= 255:
        raise ValueError("which is not a byte")
    return value & 255


def _bytes(array: _Array, file: str) -> bytes:
    # A list in C may end with a comma.
    data, body, start = bytearray(), array.body.rstrip(_SPACE).removesuffix(b","), 0
    while start < len(body):
        # In parts, because a list of all numbers takes several times the memory of their text.
        end = body.find(b",", start + _CHUNK)
        end = len(body) if end < 0 else end
        for item in body[start:end].split(b","):
            try:
                data.append(_number(item.strip(_SPACE)))
            except ValueError as error:
                raise ModelError(
                    f"{array.name}[{len(data)}] is {_shown(item)!r}, {error}",
                    where=file,
                    hint="get the file again, or give the .tflite file itself",
                ) from None
        start = end + 1
    return bytes(data)


def _shown(item: bytes) -> str:
    text = b" ".join(item[:200].split())
    return (text if len(text) <= 24 else text[:21] + b"...").decode("latin-1")


def _not_one(arrays: list[_Array], others: int, code: bytes, file: str) -> ModelError:
    if arrays:
        least = "at least " if len(arrays) == _MOST_ARRAYS else ""
        names = few([array.name for array in arrays])
        return ModelError(
            f"has {least}{len(arrays)} arrays that are TFLite models: {names}",
            where=file,
            hint="copy one of them to a file of its own",
        )
    declared = _declared(code)
    what, hint = "has no array that is a TFLite flatbuffer", "give the .tflite file itself"
    if code.rfind(b"{") > code.rfind(b"}"):
        what, hint = "has an array that does not end", "get the file again"
    elif declared and not others:
        hint = f"it only declares {declared}: give the source file that has its bytes"
    return ModelError(what, where=file, hint=hint)


def _declared(code: bytes) -> str:
    """The first array that is declared in the beginning of the code, but not defined."""
    for statement in code[:_CHUNK].split(b";")[:_HEAD]:
        name = _DECLARED.search(statement[-_HEAD:])
        if name and b"extern" in statement:
            return name[1].decode("ascii")
    return ""
