# The network for RV32IMAC, written by hand so that the test can count its instructions.
# The symbols FAIL, HANG and FAULT choose what the last operator does wrong.

    .macro function name
    .text
    .balign 4
    .global \name
    .type \name, @function
\name:
    .endm

# out0[i] = 2 * in0[i]: 1 + 8 * 7 + 2 = 59 instructions.
function tvmgen_default_fused_double
    li t2, 8
1:  lb t0, 0(a0)
    slli t0, t0, 1
    sb t0, 0(a1)
    addi a0, a0, 1
    addi a1, a1, 1
    addi t2, t2, -1
    bnez t2, 1b
    li a0, 0
    ret
    .size tvmgen_default_fused_double, . - tvmgen_default_fused_double

# Copies through a helper that is not an operator: 3 + 50 (helper) + 4 = 57 instructions.
function tvmgen_default_fused_copy
    addi sp, sp, -16
    sw ra, 12(sp)
    jal copy_bytes
    li a0, 0
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size tvmgen_default_fused_copy, . - tvmgen_default_fused_copy

# 1 + 8 * 6 + 1 = 50 instructions.
function copy_bytes
    li t2, 8
1:  lb t0, 0(a0)
    sb t0, 0(a1)
    addi a0, a0, 1
    addi a1, a1, 1
    addi t2, t2, -1
    bnez t2, 1b
    ret
    .size copy_bytes, . - copy_bytes

# out0[i] = in0[i] + in1[i]: 1 + 8 * 9 + 2 = 75 instructions.
function tvmgen_default_fused_sum
    li t2, 8
1:  lb t0, 0(a0)
    lb t1, 0(a1)
    add t0, t0, t1
    sb t0, 0(a2)
    .ifdef HANG
wait:
    j wait
    .endif
    .ifdef FAULT
    unimp
    .endif
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, 1
    addi t2, t2, -1
    bnez t2, 1b
    .ifdef FAIL
    li a0, 7
    .else
    li a0, 0
    .endif
    ret
    .size tvmgen_default_fused_sum, . - tvmgen_default_fused_sum

# input -> double -> sid_0 -> double -> sid_1 -> copy -> sid_2 (at sid_0's address);
# sid_2 + sid_1 -> output. 4 + 4 + 3 + 3 + 4 + 4 = 22 instructions of its own.
function tvmgen_default___tvm_main__
    addi sp, sp, -16
    sw ra, 12(sp)
    sw s0, 8(sp)
    mv s0, a1
    lui s1, %hi(tvmgen_default_global_workspace)
    addi s1, s1, %lo(tvmgen_default_global_workspace)
    mv a1, s1
    jal tvmgen_default_fused_double
    mv a0, s1
    addi a1, s1, 8
    jal tvmgen_default_fused_double
    addi a0, s1, 8
    mv a1, s1
    jal tvmgen_default_fused_copy
    mv a0, s1
    addi a1, s1, 8
    mv a2, s0
    jal tvmgen_default_fused_sum
    lw s0, 8(sp)
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size tvmgen_default___tvm_main__, . - tvmgen_default___tvm_main__

# Between the return of TimerStart and the entry of TimerStop: mv, mv, jal, mv, jal = 5.
function measured
    addi sp, sp, -16
    sw ra, 12(sp)
    sw s0, 8(sp)
    sw s1, 4(sp)
    sw s2, 0(sp)
    mv s0, a0
    mv s2, a1
    jal TVMPlatformTimerStart
    mv a0, s0
    mv a1, s2
    jal tvmgen_default___tvm_main__
    mv s0, a0
    jal TVMPlatformTimerStop
    mv a0, s0
    lw s2, 0(sp)
    lw s1, 4(sp)
    lw s0, 8(sp)
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size measured, . - measured

# Start calls a helper, whose instructions must not be counted, either.
function TVMPlatformTimerStart
    addi sp, sp, -16
    sw ra, 12(sp)
    jal TVMPlatformTimerStop
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size TVMPlatformTimerStart, . - TVMPlatformTimerStart

function TVMPlatformTimerStop
    nop
    ret
    .size TVMPlatformTimerStop, . - TVMPlatformTimerStop
