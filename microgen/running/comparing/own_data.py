"""The samples of a run: as the user gave them, as the firmware takes them, and the outputs in the
form of the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from microgen.base import manifest
from microgen.base.manifest import Manifest, PortRecord
from microgen.graph.ir.graph import Array
from microgen.running.comparing import stimuli
from microgen.running.runner import port_names, sample_axes, samples
from microgen.running.runner.samples import Given


@dataclass(frozen=True, slots=True)
class OwnData:
    """``given`` is None for a run without samples. ``dequantize``: quantized outputs are returned
    as the float32 numbers that they stand for."""

    record: Manifest
    given: Given | None
    dequantize: bool

    @property
    def arrays(self) -> Mapping[str, Array] | None:
        """The samples by the names of the inputs, [N, *shape] in the inputs' dtypes."""
        return None if self.given is None else self.given.arrays

    def returned(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs, each [N, *shape], in the form of the inputs."""
        if self.given is None:
            return dict(outputs)
        ports = {port.tensor: port for port in port_names.outputs(self.record)}
        return {name: self._returned(ports[name], array) for name, array in outputs.items()}

    def _returned(self, port: PortRecord, array: Array) -> Array:
        assert self.given is not None
        if self.dequantize:
            # Imported here, because most runs need none of the ops.
            from microgen.running.comparing import real_numbers

            array = real_numbers.dequantized(port, array)
        return sample_axes.shaped(port, array, self.given.form)


def of(
    project: Path,
    inputs: Mapping[str, Array] | None,
    *,
    chooses: bool,
    quantize: bool,
    dequantize: bool,
) -> OwnData:
    """The samples ``inputs``, or without any the samples that a comparison ``chooses``. Raises
    InputError if they do not fit the project, ProjectError if there is none."""
    record = manifest.load(project)
    if inputs is None and chooses:
        # One sample of zeros, which a run without samples has, would show few differences.
        inputs = stimuli.samples(port_names.inputs(record), random=3)
    convert = None
    if quantize:
        from microgen.running.comparing import real_numbers

        convert = real_numbers.stored
    given = None if inputs is None else samples.given(record, inputs, convert)
    return OwnData(record, given, dequantize)
