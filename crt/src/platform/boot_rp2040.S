/* SPDX-License-Identifier: Apache-2.0 */
/* The second stage of RP2040's boot: 256 bytes at the start of flash, which the boot ROM copies into
 * RAM and runs there if the checksum in the last four is right (RP2040 datasheet, 2.7.2.3).
 *
 * It lets the SSI map the flash at 0x10000000 with the command that every SPI flash has: 03h, a read
 * through one data line without waiting. Then it starts the program whose vectors follow it, as the
 * core does after a reset. Code for this place must not depend on its address. */
    .syntax unified
    .thumb

/* SSI: RP2040 datasheet, 4.10.13. */
#define SSI 0x18000000
#define CTRLR0 0x00
#define CTRLR1 0x04
#define SSIENR 0x08
#define BAUDR 0x14
#define SPI_CTRLR0 0xF4

/* The clock of the flash is the system clock by this even number: 31 MHz at 125 MHz. */
#define DIVISOR 4
/* CTRLR0: 32 data bits (less 1 in DFS_32), send then receive (TMOD 3), one data line (SPI_FRF 0). */
#define READ_WORDS (31 << 16 | 3 << 8)
/* SPI_CTRLR0: command 03h of 8 bits (INST_L 2), address of 24 bits (6 times 4 in ADDR_L). */
#define READ_COMMAND (0x03 << 24 | 2 << 8 | 6 << 2)

#define VECTORS 0x10000100
#define VTOR 0xE000ED08 /* Armv6-M, B3.2.2 */

/* CRC-32 of the 252 bytes in front of it, most significant bit first, from all ones, not inverted.
 * `microgen verify` computes it again, and says what it must be if this file is changed. */
#define CHECKSUM 0x78FFA47D

    .section .boot, "ax", %progbits
    .global mg_boot_block
    .type mg_boot_block, %function
    .thumb_func
    .balign 4
mg_boot_block:
    ldr r3, .Lssi
    movs r0, #0
    str r0, [r3, #SSIENR] /* the others can be written only while the SSI is off */
    str r0, [r3, #CTRLR1] /* one word is read at a time */
    movs r1, #DIVISOR
    str r1, [r3, #BAUDR]
    ldr r1, .Lread_words
    str r1, [r3, #CTRLR0]
    ldr r1, .Lread_command
    movs r2, #SPI_CTRLR0
    str r1, [r3, r2]
    movs r0, #1
    str r0, [r3, #SSIENR]

    ldr r0, .Lvectors
    ldr r1, .Lvtor
    str r0, [r1]
    ldmia r0!, {r1, r2}
    msr msp, r1
    bx r2

    .balign 4
.Lssi:
    .word SSI
.Lread_words:
    .word READ_WORDS
.Lread_command:
    .word READ_COMMAND
.Lvectors:
    .word VECTORS
.Lvtor:
    .word VTOR

    .org 252
    .word CHECKSUM
    .size mg_boot_block, . - mg_boot_block
    .section .note.GNU-stack, "", %progbits
