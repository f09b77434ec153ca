"""Operators are in the order in which they run, and variables have one reader each."""

from __future__ import annotations

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends.tflite.records import ABSENT, FileRecord
from microgen.frontends.tflite.tensors import FileTensors


def check(model: FileRecord, tensors: FileTensors) -> None:
    """Raise unless every tensor is known before it is read and is made only once, so that there is
    no cycle, and unless each variable has at most one reader."""
    # Constants and variables are known from the start.
    constants = {i for i, record in enumerate(model.tensors) if record.is_constant}
    known = constants | {i for i, record in enumerate(model.tensors) if record.is_variable}
    for index in model.inputs:
        if index in known:
            kind = "a constant" if index in constants else "listed twice"
            kind = "a variable" if model.tensors[index].is_variable else kind
            raise _impossible(model, tensors, index, f"is an input of the graph, but {kind}")
        known.add(index)
    for operator in model.operators:
        for index in operator.inputs:
            # TFLite runs operators in the file's order, so a tensor that comes later does not exist
            # yet.
            if index != ABSENT and index not in known:
                raise _impossible(
                    model, tensors, index, f"is read by {operator.name} before anything makes it"
                )
        for index in operator.outputs:
            # Two writers would leave it open which value a reader gets.
            if index in known:
                kind = "a constant" if index in constants else "it already exists"
                raise _impossible(
                    model, tensors, index, f"is an output of {operator.name}, but {kind}"
                )
            known.add(index)
    _check_variables(model, tensors)
    for index in model.outputs:
        if index not in known:
            raise _impossible(model, tensors, index, "is an output, but nothing makes it")


def _check_variables(model: FileRecord, tensors: FileTensors) -> None:
    read = [i for operator in model.operators for i in operator.inputs if i != ABSENT]
    for index in dict.fromkeys(read):
        # With two readers, their order would decide which of them sees the old state.
        if model.tensors[index].is_variable and read.count(index) > 1:
            raise UnsupportedError(
                f'the variable "{short(tensors.names[index])}" has more than one reader',
                where=model.reader.file,
                hint="supported: variables that one operator reads and updates",
            )


def _impossible(model: FileRecord, tensors: FileTensors, index: int, what: str) -> ModelError:
    return ModelError(
        f'tensor "{short(tensors.names[index])}" {what}',
        where=model.reader.file,
        hint="operators must be in the order in which they run, without cycles",
    )
