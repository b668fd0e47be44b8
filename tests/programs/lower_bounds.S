/* An Ada record, whose arrays begin at 1 where nothing else is said, with its DWARF written by hand:
 *     type Cell is record
 *         Name : String (1 .. 40);
 *         Days : String (5 .. 9);
 *     end record;
 *     cells : Cell; */
        .bss
        .globl cells
        .type cells, @object
cells:  .zero 45
        .size cells, 45

        .text
        .globl start
        .type start, @function
start:  ret
.Lend:  .size start, . - start

        .section .debug_abbrev, "", @progbits
        .byte 1, 0x11, 1, 0x13, 0x0b, 0x11, 1, 0x12, 7, 0, 0  /* unit: language, low_pc, high_pc */
        .byte 2, 0x24, 0, 3, 8, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0  /* base type: name, bytes, encoding */
        .byte 3, 0x13, 1, 3, 8, 0x0b, 0x0b, 0, 0              /* structure: name, bytes */
        .byte 4, 0x0d, 0, 3, 8, 0x49, 0x13, 0x38, 0x0b, 0, 0  /* member: name, type, offset */
        .byte 5, 1, 1, 0x49, 0x13, 0, 0                       /* array: type */
        .byte 6, 0x21, 0, 0x2f, 0x0b, 0, 0                    /* range: upper bound */
        .byte 7, 0x21, 0, 0x22, 0x0b, 0x2f, 0x0b, 0, 0        /* range: lower bound, upper bound */
        .byte 8, 0x34, 0, 3, 8, 0x49, 0x13, 2, 0x18, 0, 0     /* variable: name, type, location */
        .byte 0

        .section .debug_info, "", @progbits
.Lunit: .long .Lunit_end - .Lunit_start
.Lunit_start:
        .value 4
        .long .debug_abbrev
        .byte 8
        .byte 1, 0x0d                   /* DW_LANG_Ada95 */
        .quad start, .Lend - start
.Lcharacter:
        .byte 2
        .asciz "character"
        .byte 1, 8
.Lname: .byte 5
        .long .Lcharacter - .Lunit
        .byte 6, 40, 0
.Ldays: .byte 5
        .long .Lcharacter - .Lunit
        .byte 7, 5, 9, 0
.Lcell: .byte 3
        .asciz "cell"
        .byte 45, 4
        .asciz "name"
        .long .Lname - .Lunit
        .byte 0, 4
        .asciz "days"
        .long .Ldays - .Lunit
        .byte 40, 0
        .byte 8
        .asciz "cells"
        .long .Lcell - .Lunit
        .byte 9, 3
        .quad cells
        .byte 0
.Lunit_end:
        .section .note.GNU-stack, "", @progbits
