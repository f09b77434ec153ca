"""Reads instructions of Arm and RISC-V: control flow, registers, stack."""
