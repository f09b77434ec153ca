"""The meaning of the statuses that a model's run function returns, and advice."""

from __future__ import annotations

_HOOKS = "check the driver that implements the device's hooks"
_PROJECT = "generate and build the project again"
_MEMORY = "give the model more memory: a larger --pool, or a board with more RAM"
_GRAPH = "the graph's text or its parameters were changed after generation: generate them again"
_CALLER = "check how main calls the model"
_FRAMING = ("InvalidState", "ShortPacket", "InvalidEscape", "PayloadOverflow", "PayloadIncomplete")


# crt/include/tvm/runtime/crt/error_codes.h: codes of generated code and crt/, and codes of TVM:
# code -> its name in that file, its meaning, and advice.
MEANINGS = {
    0x0100: ("FunctionNameNotFound", "a function that is called is not linked", _PROJECT),
    0x0101: ("FunctionIndexInvalid", "a module has no function of that index", _PROJECT),
    0x0102: ("FunctionRegistryFull", "the registry of functions is full", _PROJECT),
    0x0103: ("FunctionAlreadyDefined", "two functions have one name", _PROJECT),
    0x0104: ("BufferTooSmall", "a buffer is too small for what is written to it", _CALLER),
    **{
        0x0200 + k: (f"Framing{name}", "a packet of TVM's protocol is broken", _CALLER)
        for k, name in enumerate(_FRAMING)
    },
    0x0300: ("WriteStreamShortWrite", "a stream took less than was written", _CALLER),
    0x0301: ("WriteStreamLongWrite", "a stream took more than was written", _CALLER),
    0x0400: ("SessionInvalidState", "something was started twice, or not started", _HOOKS),
    0x0401: ("SessionReceiveBufferBusy", "a message came before the last was read", _CALLER),
    0x0402: ("SessionReceiveBufferShortWrite", "a message was cut off", _CALLER),
    0x0500: ("PlatformCheckFailure", "a check of the platform failed", _CALLER),
    0x0501: ("PlatformMemoryManagerInitialized", "memory was set up twice", _CALLER),
    0x0502: ("PlatformShutdown", "the platform was shut down", _CALLER),
    0x0503: ("PlatformNoMemory", "there is not enough memory left", _MEMORY),
    0x0504: ("PlatformTimerBadState", "the timer was started or stopped twice", _CALLER),
    0x0505: ("PlatformStackAllocBadFree", "memory was freed in the wrong order", _PROJECT),
    0x0600: ("GeneratedInvalidStorageId", "the graph names a missing storage", _GRAPH),
    0x0700: ("ExecutorModuleAlreadyCreated", "a module was created twice", _CALLER),
    0x0701: ("ExecutorModuleBadContext", "a module is used that was not created", _CALLER),
    0x0702: ("ExecutorModuleNoSuchInput", "the model has no input of that name", _CALLER),
    0x0780: ("ExecutorGraphMalformed", "a graph or a module's payload is damaged", _GRAPH),
    0x0781: ("ExecutorGraphUnsupported", "a graph needs something unsupported", _GRAPH),
    0x0782: ("ExecutorParamsMalformed", "the parameters are damaged", _GRAPH),
    0x0783: ("ExecutorInputNotSet", "an input or a constant was never set", _CALLER),
    0x0800: ("FunctionCallNumArguments", "a call has too many or too few arguments", _CALLER),
    0x0801: ("FunctionCallWrongArgType", "a pointer is NULL, or of another type", _CALLER),
    0x0802: ("FunctionCallNotImplemented", "a function that is called does not exist", _CALLER),
    0x0803: (
        "FunctionCallInvalidArg",
        "a value or a pointer is not allowed (an index out of range, a divisor of 0, a pool that "
        "is not aligned, more rounds of a loop than --max-rounds)",
        "give other samples with --input",
    ),
    0x0900: ("TimeEvaluatorBadHandle", "a measurement was never started", _CALLER),
}


def described(status: int) -> str:
    """A status as text: its number in hexadecimal, its name and meaning."""
    # As a debugger shows the 32 bits of a negative status.
    code = f"status {status & 0xFFFFFFFF:#x}"
    if status in MEANINGS:
        name, meaning, _ = MEANINGS[status]
        return f"{code}, kTvmError{name}: {meaning}"
    if status < 0:
        return f"{code} ({status}), as operating systems and drivers report errors"
    return f"{code} ({status}), which is not in error_codes.h: a layer's or a hook's own code"


def hint(status: int) -> str:
    """Advice for the caller of a model that returned the status."""
    unknown = "look for that number in the code that the layer calls"
    return MEANINGS[status][2] if status in MEANINGS else unknown
