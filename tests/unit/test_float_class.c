/* Which instructions make floating point numbers: encodings as an assembler writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/exact/trace/float_class.c"

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        uint8_t code[15];
        unsigned element;
        bool scalar, any, stores;
    } cases[] = {
        {{0xf2, 0x0f, 0x58, 0xc1}, 8, true, false, false},             /* addsd %xmm1,%xmm0 */
        {{0xf2, 0x44, 0x0f, 0x59, 0xc1}, 8, true, false, false},       /* mulsd %xmm1,%xmm8 */
        {{0xf3, 0x0f, 0x5e, 0xc1}, 4, true, false, false},             /* divss */
        {{0x0f, 0x58, 0xc1}, 4, false, false, false},                  /* addps */
        {{0x66, 0x0f, 0x51, 0xc1}, 8, false, false, false},            /* sqrtpd */
        {{0xf2, 0x0f, 0x10, 0x07}, 8, true, false, false},             /* movsd (%rdi),%xmm0 */
        {{0x64, 0xf2, 0x0f, 0x10, 0x04, 0x25}, 8, true, false, false}, /* movsd %fs:... */
        {{0xf2, 0x0f, 0x11, 0x07}, 8, true, false, true},              /* movsd %xmm0,(%rdi) */
        {{0x66, 0x0f, 0x29, 0x07}, 8, false, false, true},             /* movapd %xmm0,(%rdi) */
        {{0x0f, 0x11, 0x07}, 0, false, true, true},                    /* movups %xmm0,(%rdi) */
        {{0x0f, 0x28, 0xc8}, 0, false, true, false},                   /* movaps %xmm0,%xmm1 */
        {{0x0f, 0x57, 0xc0}, 0, false, true, false},                   /* xorps */
        {{0xf2, 0x0f, 0x12, 0xc1}, 8, false, false, false},            /* movddup */
        {{0xf3, 0x0f, 0x16, 0xc1}, 4, false, false, false},            /* movshdup */
        {{0xf2, 0x48, 0x0f, 0x2a, 0xc7}, 8, true, false, false},       /* cvtsi2sd %rdi,%xmm0 */
        {{0xf3, 0x0f, 0x5a, 0xc1}, 8, true, false, false},             /* cvtss2sd */
        {{0xf2, 0x0f, 0x5a, 0xc1}, 4, true, false, false},             /* cvtsd2ss */
        {{0x66, 0x0f, 0x5a, 0xc1}, 4, false, false, false},            /* cvtpd2ps */
        {{0x0f, 0x5b, 0xc1}, 4, false, false, false},                  /* cvtdq2ps */
        {{0x66, 0x0f, 0x5b, 0xc1}, 0, false, false, false},            /* cvtps2dq makes integers */
        {{0xc5, 0xfb, 0x58, 0xc1}, 8, true, false, false},             /* vaddsd %xmm1,%xmm0,%xmm0 */
        {{0xc5, 0xfc, 0x58, 0xc1}, 4, false, false, false},            /* vaddps %ymm1,%ymm0,%ymm0 */
        {{0xc5, 0xfd, 0x11, 0x07}, 8, false, false, true},             /* vmovupd %ymm0,(%rdi) */
        {{0xc4, 0xe2, 0xf5, 0xb8, 0xc2}, 8, false, false, false},      /* vfmadd231pd */
        {{0xc4, 0xe2, 0x71, 0xb9, 0xc2}, 4, true, false, false},       /* vfmadd231ss */
        {{0xc4, 0xe2, 0x7d, 0x19, 0x07}, 8, false, false, false},      /* vbroadcastsd (%rdi),%ymm0 */
        {{0xc4, 0xe3, 0x79, 0x0b, 0xc1, 0x01}, 8, true, false, false}, /* vroundsd */
        {{0x66, 0x0f, 0x3a, 0x08, 0xc1, 0x01}, 4, false, false, false}, /* roundps */
        {{0x66, 0x0f, 0xef, 0xc0}, 0, false, false, false},            /* pxor */
        {{0x66, 0x0f, 0xfe, 0xc1}, 0, false, false, false},            /* paddd */
        {{0x48, 0x8b, 0x07}, 0, false, false, false},                  /* mov (%rdi),%rax */
        {{0xc3}, 0, false, false, false},                              /* ret */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_float_class class = lwp_float_class(cases[i].code);
        if (class.element != cases[i].element || class.scalar != cases[i].scalar || class.any != cases[i].any ||
            class.stores != cases[i].stores)
            fail_msg("case %zu: element %u scalar %d any %d stores %d", i, class.element, class.scalar, class.any, class.stores);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
