"""Puts the operators of decompositions in the place of the STABLEHLO_COMPOSITE operators.

A composite names a function; its decomposition, a subgraph, computes this function. The
decomposition's inputs and outputs become the composite's tensors; its other tensors are added to
the model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.tflite.records import (
    ABSENT,
    COMPOSITE,
    FileRecord,
    OperatorRecord,
    QuantizationRecord,
    SubgraphRecord,
    TensorRecord,
    called_by,
)

_DEEPEST = 32  # composites inside each other
_MOST = 20_000  # tensors, operators and operands of all decompositions


def inlined(model: FileRecord) -> FileRecord:
    """The model without composites. If a decomposition passes a tensor on unchanged, an operator of
    the composite's name remains, which only gives its inputs other names and types.

    ModelError if a decomposition contains itself, is missing, or has other numbers of inputs or
    outputs. UnsupportedError if the network becomes too large.
    """
    # Most models have none, and then nothing is copied.
    if not any(operator.name == COMPOSITE for operator in model.operators):
        return model
    work = _Inlining(model)
    work.add(model.operators, {}, (model.main,))
    return dataclasses.replace(model, tensors=tuple(work.tensors), operators=tuple(work.operators))


class _Inlining:
    def __init__(self, model: FileRecord) -> None:
        self._model = model
        self._left = _MOST
        self.tensors = list(model.tensors)
        self.operators: list[OperatorRecord] = []

    def add(
        self,
        operators: Iterable[OperatorRecord],
        numbers: Mapping[int, int],
        path: tuple[int, ...],
    ) -> None:
        """Append operators of a subgraph. ``numbers`` maps the numbers of its tensors, and is empty
        if the numbers do not change. ``path`` has the numbers of the enclosing subgraphs.
        """
        for operator in operators:
            moved = self._moved(operator, numbers) if numbers else operator
            if operator.name == COMPOSITE:
                self._expand(moved, path)
            else:
                self.operators.append(moved)

    def _expand(self, composite: OperatorRecord, path: tuple[int, ...]) -> None:
        number = next(iter(called_by(self._model.reader, composite)), None)
        graph = self._subgraph(number, path)
        self._check_ends(composite, graph, number)
        # Counted before anything is added, because each level may multiply the size of the network.
        self._spend(graph)
        numbers, before, after = self._joined(composite, graph)
        self._link(composite, before)
        self.add(graph.operators, numbers, (*path, number or 0))
        self._link(composite, after)

    def _joined(
        self, composite: OperatorRecord, graph: SubgraphRecord
    ) -> tuple[dict[int, int], list[tuple[int, int]], list[tuple[int, int]]]:
        """The numbers of the decomposition's tensors, and the pairs of tensors that an operator
        before or after the decomposition links, because they cannot be one tensor.
        """
        numbers: dict[int, int] = {}
        inputs = list(zip(composite.inputs, graph.inputs, strict=True))
        outputs = list(zip(composite.outputs, graph.outputs, strict=True))
        for outer, inner in inputs:
            # Types that differ would change the meaning of the stored values, so both tensors
            # remain.
            if outer == ABSENT or self._is_alike(outer, graph.tensors[inner]):
                numbers.setdefault(inner, outer)
        made = {i for operator in graph.operators for i in operator.outputs}
        for outer, inner in outputs:
            # An output that no operator inside makes is an input or a constant of the
            # decomposition.
            if inner in made and self._is_alike(outer, graph.tensors[inner]):
                numbers.setdefault(inner, outer)
        for i, tensor in enumerate(graph.tensors):
            if i not in numbers:
                numbers[i] = len(self.tensors)
                # A tensor of the decomposition that is no end of it is new at each use of the
                # composite.
                self.tensors.append(tensor)
        before = [(outer, numbers[i]) for outer, i in inputs if numbers[i] != outer]
        after = [(numbers[i], outer) for outer, i in outputs if numbers[i] != outer]
        return numbers, before, after

    def _is_alike(self, outer: int, inner: TensorRecord) -> bool:
        """Whether a tensor may replace a decomposition's tensor, because equal stored values mean
        the same in both.
        """
        tensor = self.tensors[outer]
        same = _meaning(tensor.quantization) == _meaning(inner.quantization)
        return same and tensor.dtype == inner.dtype

    def _link(self, composite: OperatorRecord, pairs: Sequence[tuple[int, int]]) -> None:
        for source, target in pairs:
            self.operators.append(
                dataclasses.replace(composite, inputs=(source,), outputs=(target,))
            )

    def _subgraph(self, number: int | None, path: tuple[int, ...]) -> SubgraphRecord:
        if number is None:
            raise self._invalid("has no StableHLOCompositeOptions")
        if number in path:
            raise self._invalid(f"is a part of its own decomposition, subgraph {number}")
        if number not in self._model.called:
            # The file's number is not trusted.
            raise self._invalid(f"stands for subgraph {number}, which the file does not have")
        if len(path) > _DEEPEST:
            raise self._invalid(f"is more than {_DEEPEST} composites deep")
        return self._model.called[number]

    def _spend(self, graph: SubgraphRecord) -> None:
        """Count a decomposition. UnsupportedError if all of them together are too much."""
        ends = (each for o in graph.operators for each in (o.inputs, o.outputs, o.intermediates))
        self._left -= len(graph.tensors) + len(graph.operators) + sum(map(len, ends))
        if self._left < 0:
            raise UnsupportedError(
                f"has composites with more than {_MOST} tensors, operators and operands",
                where=self._model.reader.file,
                hint="convert the model without StableHLO composites",
            )

    def _check_ends(
        self, composite: OperatorRecord, graph: SubgraphRecord, number: int | None
    ) -> None:
        actual = (len(composite.inputs), len(composite.outputs))
        expected = (len(graph.inputs), len(graph.outputs))
        if actual != expected:
            raise self._invalid(
                f"has {actual[0]} inputs and {actual[1]} outputs, but subgraph {number} has "
                f"{expected[0]} and {expected[1]}"
            )

    def _moved(self, operator: OperatorRecord, numbers: Mapping[int, int]) -> OperatorRecord:
        sides = (operator.inputs, operator.outputs, operator.intermediates)
        inputs, outputs, intermediates = (
            tuple(numbers[i] if i != ABSENT else ABSENT for i in side) for side in sides
        )
        # An absent operand is only allowed as an input.
        if ABSENT in outputs:
            raise self._invalid("lacks an input that an operator inside makes")
        return dataclasses.replace(
            operator, inputs=inputs, outputs=outputs, intermediates=intermediates
        )

    def _invalid(self, what: str) -> ModelError:
        return self._model.reader.invalid(f"has a {COMPOSITE} that {what}")


def _meaning(quantization: QuantizationRecord | None) -> object:
    """A key that is equal for tensors whose stored values mean the same: with equal quantizations,
    or both without."""
    if quantization is None or not quantization.scale.size:
        return None
    # The axis has no meaning for a single scale.
    axis = quantization.axis if quantization.scale.size > 1 else 0
    return (quantization.scale.tobytes(), quantization.zero_point.tobytes(), axis)
