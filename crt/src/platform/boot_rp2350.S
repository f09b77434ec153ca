/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata that RP2350's boot ROM looks for in the first 4 KB of flash: a loop of one block, with
 * one item that says what the image is. Without an item for them, the ROM takes the vectors from the
 * start of flash (RP2350 datasheet, 5.9.5). */
#define BLOCK_START 0xFFFFDED3
#define BLOCK_END 0xAB123579

/* An item is its type in bits 0 to 7, its size in words from bit 8, and for some types a value. */
#define IMAGE_TYPE (0x42 | 1 << 8)
#define LAST (0xFF | 1 << 8) /* its size is that of all items in front of it */

/* The value: a program (bits 0 to 3), Secure (4 and 5), for Arm (8 to 10) and RP2350 (12 to 14). */
#define SECURE_ARM_PROGRAM (1 | 2 << 4 | 0 << 8 | 1 << 12)

    .section .boot, "a", %progbits
    .global mg_boot_block
    .type mg_boot_block, %object
    .balign 4
mg_boot_block:
    .word BLOCK_START
    .word IMAGE_TYPE | SECURE_ARM_PROGRAM << 16
    .word LAST
    .word 0 /* bytes from here to the next block: this is the only one */
    .word BLOCK_END
    .size mg_boot_block, . - mg_boot_block
    .section .note.GNU-stack, "", %progbits
