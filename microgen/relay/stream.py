"""A cursor over tokens, with the parser's basic steps: expect, refuse, nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.relay.expr import Span
from microgen.relay.lexer import Source, Token, tokens
from microgen.relay.literals import WORDS, attr_number, scalar, string_value

# The largest depth of brackets. Each level takes a few frames of Python's stack.
MAX_NESTING = 96
MAX_VALUES = 10_000  # of a list in an attribute

Number = TypeVar("Number")


class TokenStream:
    """The tokens of a text and the current place in it. Tokens are read only when the parser asks
    for them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = tokens(source)
        self._depth = 0
        self.next = next(self._tokens)  # the next token, not yet taken
        # One more token is enough to tell `%0 = ...` from `%0`, and a call from a name.
        self._after: Token | None = None

    @property
    def after(self) -> Token:
        """The token after the next one."""
        if self._after is None:
            self._after = next(self._tokens, self.next)  # after the end comes the end again
        return self._after

    def take(self) -> Token:
        """Take the next token and move on. The end is never passed."""
        token = self.next
        self.next, self._after = self.after, None
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it has this text. Returns whether it does."""
        # A string does not match, because its text begins with a quote.
        if self.next.text != text:
            return False
        self.take()
        return True

    def expect(self, text: str) -> Token:
        """Take a token that must have this text."""
        token = self.next
        if not self.accept(text):
            self.found(repr(text))
        return token

    def kind(self, kind: str, expected: str) -> Token:
        """Take a token that must be of this kind."""
        if self.next.kind != kind:
            self.found(expected)
        return self.take()

    def found(self, expected: str, hint: str = "") -> NoReturn:
        """Refuse the next token."""
        self.refuse(f"found {self.next}, expected {expected}", self.next, hint)

    def refuse(self, what: str, token: Token, hint: str = "") -> NoReturn:
        """Raise ModelError at a token."""
        raise ModelError(what, where=str(self.span(token)), hint=hint)

    def unsupported(self, what: str, token: Token, hint: str = "") -> NoReturn:
        """Raise UnsupportedError at a token."""
        raise UnsupportedError(what, where=str(self.span(token)), hint=hint)

    def span(self, token: Token) -> Span:
        """The place of a token."""
        return self._source.span(token.offset)

    def deeper(self) -> None:
        """Enter a bracket. ModelError if too many are open."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            hint = "give inner values names: %0 = ...;"
            self.refuse(f"found brackets nested deeper than {MAX_NESTING}", self.next, hint)

    def shallower(self) -> None:
        """Leave a bracket."""
        self._depth -= 1

    def items(self, end: str) -> Iterator[None]:
        """Stops before each item of a list, which the caller takes. Commas are between the items,
        and may follow the last one. The bracket ``end`` is taken, too."""
        while not self.accept(end):
            yield
            if not self.accept(","):
                self.expect(end)
                break

    def value(self) -> Any:
        """Take an attribute's value: a number, a string, True, False, None, or a list."""
        token = self.next
        if token.kind == "number":
            return self._number(attr_number)
        if token.kind == "string":
            return self.string()
        if token.kind == "name" and token.text in WORDS:
            return WORDS[self.take().text]
        if token.text in ("[", "("):
            return self._values("]" if token.text == "[" else ")")
        return self.found("a number, a string, True, False, None or a list")

    def _values(self, end: str) -> tuple[Any, ...]:
        self.take()
        self.deeper()
        values: list[Any] = []
        for _ in self.items(end):
            values.append(self.value())
            if len(values) > MAX_VALUES:
                self.refuse(f"found a list of more than {MAX_VALUES} values", self.next)
        self.shallower()
        return tuple(values)

    def number(self) -> Array:
        """Take a number, as a 0-d array."""
        return self._number(scalar)

    def _number(self, read: Callable[[str], Number]) -> Number:
        token = self.kind("number", "a number")
        try:
            return read(token.text)
        except ValueError as error:
            self.refuse(str(error), token)

    def string(self) -> str:
        """Take a string, without its quotes."""
        token = self.kind("string", "a string")
        try:
            return string_value(token.text)
        except ValueError:
            self.refuse(f"found {token}, which is not a well-formed string", token)
