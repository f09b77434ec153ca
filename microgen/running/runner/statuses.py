"""The meaning of the statuses that a model's run function returns, and advice."""

from __future__ import annotations

from dataclasses import dataclass

_HOOKS = "check the driver that implements the device's hooks"
_PROJECT = "generate and build the project again"
_MEMORY = "give the model more memory: a larger --pool, or a board with more RAM"
_GRAPH = "the graph's text or its parameters were changed after generation: generate them again"
_CALLER = "check how main calls the model"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A code's name in ``error_codes.h``, its meaning, and advice."""

    name: str
    said: str
    hint: str


# crt/include/tvm/runtime/crt/error_codes.h: codes of generated code and crt/, and codes of TVM.
MEANINGS = {
    0x0100: Meaning("FunctionNameNotFound", "a function that is called is not linked", _PROJECT),
    0x0101: Meaning("FunctionIndexInvalid", "a module has no function of that index", _PROJECT),
    0x0102: Meaning("FunctionRegistryFull", "the registry of functions is full", _PROJECT),
    0x0103: Meaning("FunctionAlreadyDefined", "two functions have one name", _PROJECT),
    0x0104: Meaning("BufferTooSmall", "a buffer is too small for what is written to it", _CALLER),
    **{
        0x0200 + k: Meaning(f"Framing{name}", "a packet of TVM's protocol is broken", _CALLER)
        for k, name in enumerate(
            (
                "InvalidState",
                "ShortPacket",
                "InvalidEscape",
                "PayloadOverflow",
                "PayloadIncomplete",
            )
        )
    },
    0x0300: Meaning("WriteStreamShortWrite", "a stream took less than was written", _CALLER),
    0x0301: Meaning("WriteStreamLongWrite", "a stream took more than was written", _CALLER),
    0x0400: Meaning("SessionInvalidState", "something was started twice, or not started", _HOOKS),
    0x0401: Meaning("SessionReceiveBufferBusy", "a message came before the last was read", _CALLER),
    0x0402: Meaning("SessionReceiveBufferShortWrite", "a message was cut off", _CALLER),
    0x0500: Meaning("PlatformCheckFailure", "a check of the platform failed", _CALLER),
    0x0501: Meaning("PlatformMemoryManagerInitialized", "memory was set up twice", _CALLER),
    0x0502: Meaning("PlatformShutdown", "the platform was shut down", _CALLER),
    0x0503: Meaning("PlatformNoMemory", "there is not enough memory left", _MEMORY),
    0x0504: Meaning("PlatformTimerBadState", "the timer was started or stopped twice", _CALLER),
    0x0505: Meaning("PlatformStackAllocBadFree", "memory was freed in the wrong order", _PROJECT),
    0x0600: Meaning("GeneratedInvalidStorageId", "the graph names a missing storage", _GRAPH),
    0x0700: Meaning("ExecutorModuleAlreadyCreated", "a module was created twice", _CALLER),
    0x0701: Meaning("ExecutorModuleBadContext", "a module is used that was not created", _CALLER),
    0x0702: Meaning("ExecutorModuleNoSuchInput", "the model has no input of that name", _CALLER),
    0x0780: Meaning("ExecutorGraphMalformed", "a graph or a module's payload is damaged", _GRAPH),
    0x0781: Meaning("ExecutorGraphUnsupported", "a graph needs something unsupported", _GRAPH),
    0x0782: Meaning("ExecutorParamsMalformed", "the parameters are damaged", _GRAPH),
    0x0783: Meaning("ExecutorInputNotSet", "an input or a constant was never set", _CALLER),
    0x0800: Meaning(
        "FunctionCallNumArguments", "a call has too many or too few arguments", _CALLER
    ),
    0x0801: Meaning("FunctionCallWrongArgType", "a pointer is NULL, or of another type", _CALLER),
    0x0802: Meaning(
        "FunctionCallNotImplemented", "a function that is called does not exist", _CALLER
    ),
    0x0803: Meaning(
        "FunctionCallInvalidArg",
        "a value or a pointer is not allowed (an index out of range, a divisor of 0, a pool that "
        "is not aligned)",
        "give other samples with --input",
    ),
    0x0900: Meaning("TimeEvaluatorBadHandle", "a measurement was never started", _CALLER),
}


def said(status: int) -> str:
    """A status as text: its number in hexadecimal, its name and meaning."""
    # As a debugger shows the 32 bits of a negative status.
    code = f"status {status & 0xFFFFFFFF:#x}"
    meaning = MEANINGS.get(status)
    if meaning:
        return f"{code}, kTvmError{meaning.name}: {meaning.said}"
    if status < 0:
        return f"{code} ({status}), as operating systems and drivers report errors"
    return f"{code} ({status}), which is not in error_codes.h: a layer's or a hook's own code"


def hint(status: int) -> str:
    """Advice for the caller of a model that returned the status."""
    meaning = MEANINGS.get(status)
    return meaning.hint if meaning else "look for that number in the code that the layer calls"
