/* Each hook calls a tracing device's hook and, unless that fails, the accelerator's. The tracing
 * device prints its calls, and fails when it is told to. */
#include "devices.h"

#include "microgen/accelerator.h"
#include "microgen/tracing_device.h"

#include "tracing_device.c"

static mg_accelerator device;
static const mg_tracing_device trace = {"accelerator"};

struct tvmgen_default_devices tvmgen_default_contexts = {.accelerator = &device};

#define HOOK(name, number, function)                                                               \
    int32_t name(void *context)                                                                    \
    {                                                                                              \
        const int32_t status = mg_tracing_device_hook(&trace, number);                             \
        return status != 0 ? status : function(context);                                           \
    }

HOOK(TVMDeviceAcceleratorActivate, MG_HOOK_ACTIVATE, mg_accelerator_activate)
HOOK(TVMDeviceAcceleratorOpen, MG_HOOK_OPEN, mg_accelerator_open)
HOOK(TVMDeviceAcceleratorClose, MG_HOOK_CLOSE, mg_accelerator_close)
HOOK(TVMDeviceAcceleratorDeactivate, MG_HOOK_DEACTIVATE, mg_accelerator_deactivate)
