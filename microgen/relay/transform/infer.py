"""Type inference as a pass."""

from __future__ import annotations

from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule


class InferType:
    """A pass that infers the module's types."""

    def __call__(self, module: IRModule) -> IRModule:
        """The module, with types. Raises ModelError if types do not fit."""
        return infer_type(module)
