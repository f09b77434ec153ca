/* The platform of a stand-alone application: a stack of memory, a clock, a console. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "crt_config.h"
#include "dlpack/dlpack.h"
#include "tvmgen_detection.h"

static uint8_t g_aot_memory[TVM_WORKSPACE_SIZE_BYTES]
    __attribute__((aligned(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)));
tvm_workspace_t app_workspace;

static clock_t g_start;
static int g_timer_running = 0;

size_t TVMPlatformFormatMessage(char* out_buf, size_t out_buf_size_bytes, const char* fmt,
                                va_list args) {
  int written = vsnprintf(out_buf, out_buf_size_bytes, fmt, args);
  return written < 0 ? 0 : (size_t)written;
}

void TVMPlatformAbort(tvm_crt_error_t error) {
  TVMLogf("TVMPlatformAbort: %08x\n", (unsigned)error);
  exit(1);
}

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)dev;
  return StackMemoryManager_Allocate(&app_workspace, num_bytes, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  return StackMemoryManager_Free(&app_workspace, ptr);
}

tvm_crt_error_t TVMPlatformTimerStart() {
  if (g_timer_running) {
    return kTvmErrorPlatformTimerBadState;
  }
  g_start = clock();
  g_timer_running = 1;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_time_seconds) {
  if (!g_timer_running) {
    return kTvmErrorPlatformTimerBadState;
  }
  *elapsed_time_seconds = (double)(clock() - g_start) / CLOCKS_PER_SEC;
  g_timer_running = 0;
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; i++) {
    buffer[i] = (uint8_t)rand();
  }
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformInitialize() {
  return StackMemoryManager_Init(&app_workspace, g_aot_memory, sizeof(g_aot_memory));
}
