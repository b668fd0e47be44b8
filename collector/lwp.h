/* What a program can tell `lwp collect -e exact` about itself. Include this file, nothing is linked; each macro costs a
 * few idle instructions where nobody listens, and nothing at all on other processors.
 *
 *     LWP_BEGIN();  LWP_END();            record only what runs between them (--region LWP_BEGIN: nothing before, either)
 *     LWP_ARRAY(pointer, count, size);        look now how many elements equal the one before them
 *     LWP_ARRAY_FLOAT(pointer, count, size);  of floats or doubles: or nearly do (--approx)
 *
 * Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted.
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
 * IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
 * INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN
 * AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
 * PERFORMANCE OF THIS SOFTWARE. (SPDX-License-Identifier: 0BSD) */
#ifndef LWP_H
#define LWP_H

enum lwp_request {
    LWP_REQUEST_BEGIN = 'L' << 24 | 'W' << 16, /* Valgrind's numbering of tools */
    LWP_REQUEST_END,
    LWP_REQUEST_ARRAY /* pointer, count, size, whether they are floating point numbers */
};

/* Valgrind's request: four rotations by 128 bits in all, which no compiler writes, then xchg, as a mark. */
static inline void lwp_request(unsigned long request, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
#if defined(__x86_64__) && defined(__GNUC__)
    volatile unsigned long arguments[6] = {request, a, b, c, d, 0};
    unsigned long result = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(arguments)
                     : "cc", "memory");
#else
    (void)request, (void)a, (void)b, (void)c, (void)d;
#endif
}

#define LWP_BEGIN() lwp_request(LWP_REQUEST_BEGIN, 0, 0, 0, 0)
#define LWP_END() lwp_request(LWP_REQUEST_END, 0, 0, 0, 0)
#define LWP_ARRAY(pointer, count, size) \
    lwp_request(LWP_REQUEST_ARRAY, (unsigned long)(pointer), (unsigned long)(count), (unsigned long)(size), 0)
#define LWP_ARRAY_FLOAT(pointer, count, size) \
    lwp_request(LWP_REQUEST_ARRAY, (unsigned long)(pointer), (unsigned long)(count), (unsigned long)(size), 1)

#endif
