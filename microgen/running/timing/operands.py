"""The accesses and results of an instruction, for the models of pipelines."""

from __future__ import annotations

from microgen.verifier.instructions.instruction import Instruction


def is_load(mnemonic: str) -> bool:
    """Whether an Arm instruction reads one word or less into a register of the core."""
    return mnemonic.startswith("ldr") and mnemonic != "ldrd"


def is_store(mnemonic: str) -> bool:
    """Whether an Arm instruction writes one word or less from a register of the core."""
    return mnemonic.startswith("str") and mnemonic != "strd"


def count(instruction: Instruction) -> int:
    """The number of words that an instruction moves between memory and registers; 0 if none."""
    effect = instruction.effect
    return len(effect.targets or effect.sources) if effect.access else 0


def written(instruction: Instruction) -> frozenset[str]:
    """The registers that an instruction writes, with a base register that it updates."""
    effect = instruction.effect
    return effect.clobbers | ({effect.update.register} if effect.update else set())
