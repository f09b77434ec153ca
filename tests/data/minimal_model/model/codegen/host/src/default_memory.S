    .file "default_memory.S"
    /* A note, which says nothing: ld drops the local symbols of an object that has no bytes. */
    .section .note.microgen,"",%note
    .long 4, 0, 0
    .asciz "own"
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
