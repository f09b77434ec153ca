// The program that measures TensorFlow Lite Micro: it runs the network that QEMU's loader put at
// MODEL twice, and prints the ticks of the whole inference and of each operator.

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_profiler_interface.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/micro_time.h"
#include "tensorflow/lite/micro/micro_utils.h"
#include "tensorflow/lite/schema/schema_generated.h"

#if defined(__riscv)
#include "riscv.h"
#else
#include "cortex_m.h"
#endif

#undef MicroPrintf

namespace
{

constexpr uint32_t kOperators = 2048;
constexpr int kVariables = 64;

void print(const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    semihosting(0x04, text);
}

[[noreturn]] void quit(uint32_t code)
{
    const uint32_t block[2] = {0x20026, code};
    semihosting(0x20, block);
    for (;;) {
    }
}

class Profile : public tflite::MicroProfilerInterface
{
  public:
    uint32_t BeginEvent(const char *tag) override
    {
        tags[count % kOperators] = tag;
        times[count % kOperators] = ticks();
        return count++;
    }
    void EndEvent(uint32_t event) override
    {
        times[event % kOperators] = (ticks() - times[event % kOperators]) & kMask;
    }
    const char *tags[kOperators];
    uint32_t times[kOperators];
    uint32_t count = 0;
};

// TensorFlow Lite Micro has no GELU. Its users write one: of int8 a table, as LiteRT has it.
void *gelu_init(TfLiteContext *context, const char *, size_t)
{
    return context->AllocatePersistentBuffer(context, 256);
}

float gelu(float value)
{
    return 0.5f * value * (1.0f + erff(value * 0.70710678f));
}

TfLiteStatus gelu_prepare(TfLiteContext *context, TfLiteNode *node)
{
    tflite::MicroContext *micro = tflite::GetMicroContext(context);
    TfLiteTensor *input = micro->AllocateTempInputTensor(node, 0);
    TfLiteTensor *output = micro->AllocateTempOutputTensor(node, 0);
    auto *table = static_cast<int8_t *>(node->user_data);
    for (int i = -128; input->type == kTfLiteInt8 && i < 128; i++) {
        float real = gelu(input->params.scale * static_cast<float>(i - input->params.zero_point));
        float rounded = roundf(real / output->params.scale) + output->params.zero_point;
        table[i + 128] = static_cast<int8_t>(fminf(fmaxf(rounded, -128.0f), 127.0f));
    }
    micro->DeallocateTempTfLiteTensor(input);
    micro->DeallocateTempTfLiteTensor(output);
    return kTfLiteOk;
}

TfLiteStatus gelu_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteEvalTensor *input = tflite::micro::GetEvalInput(context, node, 0);
    TfLiteEvalTensor *output = tflite::micro::GetEvalOutput(context, node, 0);
    const int size = tflite::ElementCount(*input->dims);
    const auto *table = static_cast<const int8_t *>(node->user_data);
    if (input->type == kTfLiteInt8) {
        for (int i = 0; i < size; i++) {
            output->data.int8[i] = table[input->data.int8[i] + 128];
        }
    } else {
        for (int i = 0; i < size; i++) {
            output->data.f[i] = gelu(input->data.f[i]);
        }
    }
    return kTfLiteOk;
}

TfLiteStatus no_options(const tflite::Operator *, tflite::ErrorReporter *,
                        tflite::BuiltinDataAllocator *, void **options)
{
    *options = nullptr;
    return kTfLiteOk;
}

class Resolver : public tflite::MicroOpResolver
{
  public:
    Resolver()
    {
#define OPERATOR(name) known_.Add##name();
        OPERATORS
    }
    const TFLMRegistration *FindOp(tflite::BuiltinOperator op) const override
    {
        return op == tflite::BuiltinOperator_GELU ? &gelu_ : known_.FindOp(op);
    }
    const TFLMRegistration *FindOp(const char *op) const override
    {
        return known_.FindOp(op);
    }
    tflite::TfLiteBridgeBuiltinParseFunction
    GetOpDataParser(tflite::BuiltinOperator op) const override
    {
        return op == tflite::BuiltinOperator_GELU ? no_options : known_.GetOpDataParser(op);
    }

  private:
    tflite::MicroMutableOpResolver<128> known_;
    TFLMRegistration gelu_ = tflite::micro::RegisterOp(gelu_init, gelu_prepare, gelu_invoke);
};

Profile profile;

// Any values do: the kernels' paths depend on them little.
void fill(TfLiteTensor *tensor)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < tensor->bytes; i++) {
        state = state * 1664525u + 1013904223u;
        tensor->data.uint8[i] = static_cast<uint8_t>(state >> 24);
    }
    for (size_t i = 0; i < tensor->bytes / 4; i++) {
        state = state * 1664525u + 1013904223u;
        if (tensor->type == kTfLiteFloat32) {
            tensor->data.f[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
        } else if (tensor->type == kTfLiteInt32) {
            tensor->data.i32[i] = 1;
        }
    }
}

uint32_t run(const Resolver &resolver, Profile *profiler)
{
    auto *arena =
        tflite::SingleArenaBufferAllocator::Create(reinterpret_cast<uint8_t *>(ARENA), ARENA_SIZE);
    tflite::GreedyMemoryPlanner planner;
    tflite::MicroAllocator *allocator = tflite::MicroAllocator::Create(arena, &planner);
    tflite::MicroInterpreter network(
        tflite::GetModel(reinterpret_cast<const void *>(MODEL)), resolver, allocator,
        tflite::MicroResourceVariables::Create(allocator, kVariables), profiler);
    if (network.AllocateTensors() != kTfLiteOk) {
        print("refused\n");
        quit(1);
    }
    for (size_t i = 0; i < network.inputs_size(); i++) {
        fill(network.input(i));
    }
    profile.count = 0;
    start_ticks();
    const uint32_t before = ticks();
    if (network.Invoke() != kTfLiteOk) {
        print("failed\n");
        quit(1);
    }
    const uint32_t taken = (ticks() - before) & kMask;
    if (ticks_are_over()) {
        print("longer than the counter can tell\n");
        quit(1);
    }
    if (profiler == nullptr) {
        print("head %u\n", static_cast<unsigned>(arena->GetNonPersistentUsedBytes()));
        print("arena %u\n", static_cast<unsigned>(network.arena_used_bytes()));
    }
    return taken;
}

} // namespace

namespace tflite
{
uint32_t ticks_per_second()
{
    return 0;
}
uint32_t GetCurrentTimeTicks()
{
    return ticks();
}
} // namespace tflite

void MicroPrintf(const char *, ...)
{
}

void operator delete(void *, size_t)
{
}

extern "C" {

extern uint32_t __bss_start__, __bss_end__;
extern void (*__init_array_start[])();
extern void (*__init_array_end[])();
void *__dso_handle;

void DebugLog(const char *, va_list)
{
}

int DebugVsnprintf(char *, size_t, const char *, va_list)
{
    return 0;
}

int getpid()
{
    return 1;
}

int kill(int, int)
{
    return 0;
}

int __aeabi_atexit(void *, void (*)(void *), void *)
{
    return 0;
}

[[noreturn]] void _exit(int code)
{
    quit(static_cast<uint32_t>(code));
}

void start()
{
    memset(&__bss_start__, 0,
           reinterpret_cast<uintptr_t>(&__bss_end__) - reinterpret_cast<uintptr_t>(&__bss_start__));
    for (auto call = __init_array_start; call < __init_array_end; call++) {
        (*call)();
    }
    static const Resolver resolver;
    print("total %lu\n", static_cast<unsigned long>(run(resolver, nullptr)));
    run(resolver, &profile);
    for (uint32_t i = 0; i < profile.count; i++) {
        print("%s %lu\n", profile.tags[i], static_cast<unsigned long>(profile.times[i]));
    }
    quit(0);
}

void fault()
{
    print("fault\n");
    quit(1);
}
}
