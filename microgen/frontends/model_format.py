"""The record of a model format. ``frontends`` knows nothing else about a format."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from microgen.base.errors import MicrogenError
from microgen.frontends import model_files
from microgen.frontends.numerics import PROFILES, Numerics
from microgen.graph.ir.beside import Slack
from microgen.graph.ir.graph import Array, Graph

if TYPE_CHECKING:
    from microgen.relay.module import IRModule


@dataclass(frozen=True, slots=True)
class Request:
    """The options with which a model is read. Each format uses the options that concern it."""

    # the runtime to follow, if the files do not say how they round
    numerics: Numerics = PROFILES["litert"]
    # device type (DLPack's number) -> kind of target
    targets: Mapping[int, str] = field(default_factory=dict)
    # names of code generators, whose functions become one node each if the model is already
    # partitioned
    generators: Collection[str] = ()
    signature: str = ""  # the name of one of several networks of a file; empty for the first
    dim: Sequence[str] = ()  # ``NAME=N`` for sizes that the model leaves open
    bind: Sequence[str] = ()  # ``INPUT=VALUE`` for inputs that become constants
    # ``LAYER=N`` for loops whose number of rounds depends on data
    max_rounds: Sequence[str] = ()
    state: Sequence[str] = ()  # ``OUT=IN`` for outputs that are inputs of the next inference


class OracleError(MicrogenError):
    """An oracle cannot run a model."""


class Oracle(Protocol):
    """An outside implementation that runs models of a format, for comparison."""

    @property
    def name(self) -> str:
        """The oracle's name, for messages and reports."""

    @property
    def kernels(self) -> str:
        """The name of the kernels with which the oracle computes."""

    @property
    def profile(self) -> str:
        """The numerics profile that the oracle follows."""

    @property
    def is_apart(self) -> bool:
        """Whether the oracle runs in a process of its own, because its library may end the
        process."""

    def lacking(self) -> str:
        """A sentence that names the missing packages; empty if the oracle can run."""

    def layers(
        self, files: Mapping[str, bytes], samples: Sequence[Sequence[Array]]
    ) -> Iterator[dict[str, Array]]:
        """The tensors of each sample, by their names in the graph, if they can be read.

        A sample is one array per model input, in order. All samples are one sequence, which begins
        with the initial states. ``files`` is the result of ``Format.files``. Raises OracleError if
        the oracle refuses the model.
        """

    def slack(self, files: Mapping[str, bytes], graph: Graph) -> Slack:
        """The error that the oracle's tensors may have in addition to the bounds of ops, according
        to its source code or to measurements. ``files`` are the files of the model that became the
        ``graph``.
        """


class Format(abc.ABC):
    """A model format. Its folder in ``frontends`` has ``FORMAT``, an object of a subclass.

    Every command imports the folder's ``__init__``. Schema packages, importers and oracles are
    therefore imported by the methods that need them.
    """

    suffix: ClassVar[str]
    """The suffix of its files' names, in lower case, with the dot. A project keeps the model's file
    under this suffix."""

    beside: ClassVar[tuple[str, ...]] = ()
    """Suffixes of a model's further files, which are next to the model and share its name."""
    has_signatures: ClassVar[bool] = False
    """Whether a file may have several networks, of which the user chooses one by its name."""

    has_open_sizes: ClassVar[bool] = False
    """Whether a request may give sizes of dimensions."""

    has_open_inputs: ClassVar[bool] = False
    """Whether a request may give values of inputs, which become constants."""

    has_states: ClassVar[bool] = False
    """Whether a request may make pairs of outputs and inputs states."""

    has_loops: ClassVar[bool] = False
    """Whether a request may give the most rounds of loops."""

    profiles: ClassVar[tuple[str, ...]] = ("litert", "tflm")
    """The numerics profiles that its models may be compiled under; the first is the default."""

    def names(self, suffix: str) -> bool:
        """Whether files with this suffix, in lower case, are read as this format."""
        return suffix == self.suffix

    def holds(self, head: bytes) -> bool:  # noqa: ARG002
        """Whether a file that begins with ``head``, its first ``model_files.HEAD_BYTES`` bytes, is
        of this format, whatever its name is."""
        return False

    def files(self, path: Path) -> dict[str, bytes]:
        """The bytes of a model's files by suffix: first the model, then the files next to it.
        Raises MicrogenError for anything but a regular file, and ModelError if the model cannot be
        extracted from a file that contains it."""
        own = {self.suffix: model_files.read(path)}
        return own | model_files.read_beside(path, self.beside)

    def kept(self, path: Path, request: Request) -> dict[str, bytes]:
        """The files of a model as a project keeps them: they can be read again without a request.
        By default they are the result of ``files``. Raises the errors of ``load``.
        """
        del request
        return self.files(path)

    def unchanged(self, path: Path, request: Request) -> dict[str, Path]:
        """The files that a project keeps as they are, by suffix, so that large ones need not be in
        memory. Empty, the default, if only ``kept`` knows the bytes. ``load`` has read the model.
        """
        del path, request
        return {}

    @abc.abstractmethod
    def load(self, path: Path, request: Request) -> Graph:
        """The graph of the model at ``path``. Errors and the origins of nodes contain its name.

        Raises MicrogenError for anything but a regular file, ModelError if the file is malformed or
        contradicts itself, and UnsupportedError if it uses a feature that microgen does not have.
        """

    @abc.abstractmethod
    def operators(self) -> tuple[str, ...]:
        """Names of the operators that have an importer, sorted."""

    def about_operators(self) -> list[str]:
        """Facts about the format's operators, as lines of ``docs/reference/supported-ops.md``."""
        return []

    def oracle(self) -> Oracle | None:
        """The outside implementation that also runs models of this format, if there is one."""
        return None

    def oracle_of(self, signature: str, profile: str = "") -> Oracle | None:
        """``oracle`` for one of several networks of a file; an empty name means the first network.
        If there are several oracles, the result is the one for that numerics profile.
        """
        del signature, profile
        return self.oracle()


class ModuleFormat(Format):
    """A format whose models are Relay modules, which code generators partition before they become
    graphs."""

    @abc.abstractmethod
    def module(self, path: Path) -> IRModule:
        """The module at ``path``, with its types. Raises the errors of ``load``."""

    @abc.abstractmethod
    def of_module(
        self, module: IRModule, file: str, request: Request
    ) -> tuple[Graph, dict[str, bytes]]:
        """The graph of a module that was made from the model called ``file``, and the module's
        files by suffix. Raises the errors of ``load``.
        """
