/* The arena, and the sids in it: sid_2 takes sid_0's place. */
    .section .bss.noinit.tvm, "aw", %nobits
    .align 4
    .global tvmgen_default_global_workspace
    .type tvmgen_default_global_workspace, %object
    .size tvmgen_default_global_workspace, 16
tvmgen_default_global_workspace:
    .space 16
    .macro sid name, offset
    .type \name, %object
    .size \name, 8
    .set \name, tvmgen_default_global_workspace + \offset
    .endm
    sid sid_0, 0
    sid sid_1, 8
    sid sid_2, 0
    .section .note.GNU-stack, "", %progbits
