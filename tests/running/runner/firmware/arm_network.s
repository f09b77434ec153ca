@ The network for Cortex-M, written by hand so that the test can count its instructions.
@ The symbols FAIL, HANG, FAULT and LOCKUP (no stack for the fault's handler) choose what the last operator does wrong.
    .syntax unified
    .cpu cortex-m4
    .thumb

    .macro function name
    .text
    .align 2
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

@ out0[i] = 2 * in0[i]: 1 + 8 * 5 + 2 = 43 instructions.
function tvmgen_default_fused_double
    movs r2, #8
1:  ldrb r3, [r0], #1
    lsls r3, r3, #1
    strb r3, [r1], #1
    subs r2, r2, #1
    bne 1b
    movs r0, #0
    bx lr
    .size tvmgen_default_fused_double, . - tvmgen_default_fused_double

@ Copies through a helper that is not an operator: 3 + 34 (helper) + 2 = 39 instructions.
function tvmgen_default_fused_copy
    push {r4, lr}
    movs r2, #8
    bl copy_bytes
    movs r0, #0
    pop {r4, pc}
    .size tvmgen_default_fused_copy, . - tvmgen_default_fused_copy

@ 1 + 8 * 4 + 1 = 34 instructions.
function copy_bytes
    nop
1:  ldrb r3, [r0], #1
    strb r3, [r1], #1
    subs r2, r2, #1
    bne 1b
    bx lr
    .size copy_bytes, . - copy_bytes

@ out0[i] = in0[i] + in1[i], back to front. The loop's head is the function's first instruction,
@ which the runner calls with r3 = 8 and r4 free to use: 7 * 7 + 6 + 2 = 57 instructions.
function tvmgen_default_fused_sum
    subs r3, r3, #1
    ldrb r12, [r0, r3]
    ldrb r4, [r1, r3]
    add r12, r12, r4
    strb r12, [r2, r3]
    .ifdef HANG
    b tvmgen_default_fused_sum_wait
    .endif
    .ifdef LOCKUP
    mov r4, #0x40000000
    mov sp, r4
    .set FAULT, 1
    .endif
    .ifdef FAULT
    udf #1
    .endif
    cbz r3, 1f
    b tvmgen_default_fused_sum
1:
    .ifdef FAIL
    movs r0, #7
    .else
    movs r0, #0
    .endif
    bx lr
    .ifdef HANG
tvmgen_default_fused_sum_wait:
    b .
    .endif
    .size tvmgen_default_fused_sum, . - tvmgen_default_fused_sum

@ input -> double -> sid_0 -> double -> sid_1 -> copy -> sid_2 (at sid_0's address);
@ sid_2 + sid_1 -> output. 5 + 3 + 3 + 5 + 1 = 17 instructions of its own.
function tvmgen_default___tvm_main__
    push {r4, r5, r6, lr}
    mov r5, r1
    ldr r6, =tvmgen_default_global_workspace
    mov r1, r6
    bl tvmgen_default_fused_double
    mov r0, r6
    add r1, r6, #8
    bl tvmgen_default_fused_double
    add r0, r6, #8
    mov r1, r6
    bl tvmgen_default_fused_copy
    mov r0, r6
    add r1, r6, #8
    mov r2, r5
    movs r3, #8
    bl tvmgen_default_fused_sum
    pop {r4, r5, r6, pc}
    .ltorg
    .size tvmgen_default___tvm_main__, . - tvmgen_default___tvm_main__

@ Between the return of TimerStart and the entry of TimerStop: mov, mov, bl, mov, bl = 5.
function measured
    push {r4, r5, r6, lr}
    mov r4, r0
    mov r5, r1
    bl TVMPlatformTimerStart
    mov r0, r4
    mov r1, r5
    bl tvmgen_default___tvm_main__
    mov r4, r0
    bl TVMPlatformTimerStop
    mov r0, r4
    pop {r4, r5, r6, pc}
    .size measured, . - measured

@ Start calls a helper, whose instructions must not be counted, either.
function TVMPlatformTimerStart
    push {r4, lr}
    bl TVMPlatformTimerStop
    pop {r4, pc}
    .size TVMPlatformTimerStart, . - TVMPlatformTimerStart

function TVMPlatformTimerStop
    nop
    bx lr
    .size TVMPlatformTimerStop, . - TVMPlatformTimerStop
