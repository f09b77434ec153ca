/* Times every node of the digits network: TVM's debug executor on a board. Use it as main.c:
 *
 *   microgen generate examples/digits/digits_int8.tflite -b mps2_an386 --executor graph -o out
 *   cp examples/digits/graph_debug.c out/src/main.c && microgen build out
 *
 * It prints a line "<node> <microseconds>" for each node except inputs and parameters. Times have
 * the resolution of the platform's TVMPlatformTimerStart and -Stop. */
#include "platform/io.h"
#include "tvm/runtime/crt/platform.h"
#include "tvmgen_default.h"
#include "tvmgen_default_graph.h"

#include <stdint.h>
#include <string.h>

#define MAX_NODES 64U
#define MAX_NAME 120U

static int8_t image[TVMGEN_DEFAULT_IMAGE_SIZE];
static double seconds[MAX_NODES];

/* Whole microseconds of a time in seconds, which is not negative and is under an hour. They are
 * computed from its bits, because without an FPU arithmetic on doubles would link a library. */
static uint32_t microseconds(const double *time)
{
    uint64_t bits;
    uint64_t mantissa;
    uint32_t shift;

    (void)memcpy(&bits, time, sizeof(bits));
    mantissa = (bits & 0xFFFFFFFFFFFFFU) | 0x10000000000000U;
    shift = 1075U - (uint32_t)(bits >> 52); /* time = mantissa / 2^shift */
    mantissa = (mantissa >> 12) * 1000000U;
    return bits == 0U || shift > 75U ? 0U : (uint32_t)(mantissa >> (shift - 12U));
}

static int print_times(TVMGraphExecutor *executor)
{
    const uint32_t count = TVMGraphExecutor_GetNumNodes(executor);
    char name[MAX_NAME];
    uint32_t i;
    int status = 0;

    for (i = 0U; i < count && status == 0; i++) {
        status = TVMGraphExecutor_GetNodeName(executor, i, name, sizeof(name));
        if (status == 0 && TVMGraphExecutor_GetInputIndex(executor, name) < 0) {
            mg_io_print(name);
            mg_io_print(" ");
            mg_io_print_int((int32_t)microseconds(&seconds[i]));
            mg_io_print("\n");
        }
    }
    return status;
}

int main(void)
{
    int64_t shape[4] = {1, 8, 8, 1};
    DLTensor input = {image, {kDLCPU, 0}, 4, {kDLInt, 8U, 1U}, shape, NULL, 0U};
    TVMGraphExecutor *executor;
    int status;

    (void)TVMPlatformInitialize();
    status = tvmgen_default_graph_executor(&executor);
    if (status == 0) {
        status = TVMGraphExecutor_SetInput(executor, "image", &input);
    }
    if (status == 0) {
        status = TVMGraphExecutor_RunDebug(executor, seconds, MAX_NODES);
    }
    if (status == 0) {
        status = print_times(executor);
    }
    mg_io_print("status ");
    mg_io_print_int(status);
    mg_io_print("\n");
    mg_io_exit(status != 0);
}
