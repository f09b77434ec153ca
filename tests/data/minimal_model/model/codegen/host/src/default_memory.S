    .file "default_memory.S"
    /* Some content, because ld drops the local symbols of an object that has none. */
    .section .tvm.plan,"",%progbits /* bytes, or ld drops the local symbols */
    .asciz "microgen"
    .section .bss.noinit.tvm, "aw", %nobits
    .balign 16
    .global tvmgen_default_global_workspace
    .hidden tvmgen_default_global_workspace
    .type tvmgen_default_global_workspace, %object
    .size tvmgen_default_global_workspace, 32
tvmgen_default_global_workspace:
    .zero 32
    .type sid_0, %object
    .size sid_0, 24
    .set sid_0, tvmgen_default_global_workspace + 0
    .section .note.GNU-stack, "", %progbits
