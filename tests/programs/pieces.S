/* What clang says of an iterator that it keeps in three registers, one member of it nowhere, written by hand:
 *     struct event { double when; int kind, who; };
 *     struct iterator { struct event *now, *first, *last; struct event **node; } at;
 * In `whole_bytes` the empty piece is of bytes, in `bits` of bits. */
        .text
        .globl whole_bytes, bits
        .type whole_bytes, @function
        .type bits, @function
whole_bytes:
        mov (%rdx), %rax
        mov 8(%rcx), %rdi
        ret
        .size whole_bytes, . - whole_bytes
bits:
        mov (%rdx), %rax
        mov 8(%rcx), %rdi
        ret
.Lend:
        .size bits, . - bits

        .section .debug_loc, "", @progbits
.Lwhole_bytes:
        .quad whole_bytes - .text, bits - .text
        .value 2f - 1f
1:      .byte 0x51, 0x93, 8             /* rdx; piece of 8 */
        .byte 0x93, 8                   /* nowhere; piece of 8 */
        .byte 0x54, 0x93, 8             /* rsi; piece of 8 */
        .byte 0x52, 0x93, 8             /* rcx; piece of 8 */
2:      .quad 0, 0
.Lbits:
        .quad bits - .text, .Lend - .text
        .value 2f - 1f
1:      .byte 0x51, 0x93, 8
        .byte 0x9d, 64, 0               /* nowhere; piece of 64 bits */
        .byte 0x54, 0x93, 8
        .byte 0x52, 0x93, 8
2:      .quad 0, 0

        .section .debug_abbrev, "", @progbits
        .byte 1, 0x11, 1, 0x13, 0x0b, 0x11, 1, 0x12, 7, 0, 0  /* unit: language, low_pc, high_pc */
        .byte 2, 0x24, 0, 3, 8, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0  /* base type: name, bytes, encoding */
        .byte 3, 0x13, 1, 3, 8, 0x0b, 0x0b, 0, 0              /* structure: name, bytes */
        .byte 4, 0x0d, 0, 3, 8, 0x49, 0x13, 0x38, 0x0b, 0, 0  /* member: name, type, offset */
        .byte 5, 0x0f, 0, 0x49, 0x13, 0x0b, 0x0b, 0, 0        /* pointer: type, bytes */
        .byte 6, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7, 0, 0        /* function: name, low_pc, high_pc */
        .byte 7, 0x34, 0, 3, 8, 0x49, 0x13, 2, 0x17, 0, 0     /* variable: name, type, location list */
        .byte 0

        .section .debug_info, "", @progbits
.Lunit: .long .Lunit_end - .Lunit_start
.Lunit_start:
        .value 4
        .long .debug_abbrev
        .byte 8
        .byte 1, 0x0c
        .quad whole_bytes, .Lend - whole_bytes
.Ldouble:
        .byte 2
        .asciz "double"
        .byte 8, 4
.Lint:  .byte 2
        .asciz "int"
        .byte 4, 5
.Levent:
        .byte 3
        .asciz "event"
        .byte 16, 4
        .asciz "when"
        .long .Ldouble - .Lunit
        .byte 0, 4
        .asciz "kind"
        .long .Lint - .Lunit
        .byte 8, 4
        .asciz "who"
        .long .Lint - .Lunit
        .byte 12, 0
.Levent_pointer:
        .byte 5
        .long .Levent - .Lunit
        .byte 8
.Lnode_pointer:
        .byte 5
        .long .Levent_pointer - .Lunit
        .byte 8
.Literator:
        .byte 3
        .asciz "iterator"
        .byte 32, 4
        .asciz "now"
        .long .Levent_pointer - .Lunit
        .byte 0, 4
        .asciz "first"
        .long .Levent_pointer - .Lunit
        .byte 8, 4
        .asciz "last"
        .long .Levent_pointer - .Lunit
        .byte 16, 4
        .asciz "node"
        .long .Lnode_pointer - .Lunit
        .byte 24, 0
        .byte 6
        .asciz "whole_bytes"
        .quad whole_bytes, bits - whole_bytes
        .byte 7
        .asciz "at"
        .long .Literator - .Lunit, .Lwhole_bytes
        .byte 0, 6
        .asciz "bits"
        .quad bits, .Lend - bits
        .byte 7
        .asciz "at"
        .long .Literator - .Lunit, .Lbits
        .byte 0, 0
.Lunit_end:
        .section .note.GNU-stack, "", @progbits
