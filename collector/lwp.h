/* What a program can say to lwp about itself. Include this file, nothing is linked; each macro costs a few idle instructions where
 * nobody listens, and nothing at all on other processors.
 *
 *     LWP_ALLOC(pool, pointer, size);         the program's own allocator hands out `size` bytes there
 *     LWP_FREE(pool, pointer);                ... and takes them back
 *
 * With every engine that runs the program. Those bytes are a block of their own then, allocated by the callers of the function that
 * says so, and no part of what the pool has from malloc. `pool` is any pointer that stands for the pool, or NULL. The engines that
 * sample know blocks at multiples of 16 only. A block that is not freed stays known until others take its place.
 *
 *     LWP_BEGIN();  LWP_END();                record only what runs between them (--region LWP_BEGIN: nothing before, either)
 *
 * Of all threads. With every engine, and from outside (lwp collect -p).
 *
 *     LWP_ARRAY(pointer, count, size);        look now how many elements equal the one before them
 *     LWP_ARRAY_FLOAT(pointer, count, size);  of floats or doubles: or nearly do (--approx)
 *
 * With `lwp collect -e exact`.
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
    LWP_REQUEST_ARRAY, /* pointer, count, size, whether they are floating point numbers */
    LWP_REQUEST_ALLOC, /* pool, pointer, size */
    LWP_REQUEST_FREE   /* pool, pointer */
};

/* Valgrind's request: four rotations by 128 bits in all, which no compiler writes, then xchg, as a mark. A macro, so that the line and
 * function it belongs to are the program's. */
#if defined(__x86_64__) && defined(__GNUC__)
#define lwp_request(request, a, b, c, d)                                                                                                   \
    do {                                                                                                                                   \
        volatile unsigned long lwp_arguments[6] = {(request), (a), (b), (c), (d), 0};                                                      \
        unsigned long lwp_result = 0;                                                                                                      \
        __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"                \
                         : "+d"(lwp_result)                                                                                                \
                         : "a"(lwp_arguments)                                                                                              \
                         : "cc", "memory");                                                                                                \
    } while (0)
#else
#define lwp_request(request, a, b, c, d) ((void)(request), (void)(a), (void)(b), (void)(c), (void)(d))
#endif

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
/* The C library's dlsym, if there is one: lwp's library is found by it where it was loaded before the program. */
extern void *lwp_symbol(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));

typedef void lwp_block_function(const void *pool, void *block, unsigned long size);

static inline __attribute__((always_inline)) void lwp_block(unsigned long request, const char *name, const void *pool, void *block,
                                                            unsigned long size)
{
    static lwp_block_function *functions[2];
    static int asked[2];
    int which = request == LWP_REQUEST_FREE;
    lwp_request(request, (unsigned long)pool, (unsigned long)block, size, 0);
    if (!asked[which]) {
        if (lwp_symbol)
            *(void **)&functions[which] = lwp_symbol(0, name);
        asked[which] = 1;
    }
    if (functions[which])
        functions[which](pool, block, size);
}

static inline __attribute__((always_inline)) void lwp_region(unsigned long request)
{
    static void (*function)(unsigned long begins);
    static int asked;
    if (!asked) { /* before: it is no part of the region */
        if (lwp_symbol)
            *(void **)&function = lwp_symbol(0, "lwp_mark");
        asked = 1;
    }
    lwp_request(request, 0, 0, 0, 0);
    if (function)
        function(request == LWP_REQUEST_BEGIN);
}

#define LWP_BEGIN()                    lwp_region(LWP_REQUEST_BEGIN)
#define LWP_END()                      lwp_region(LWP_REQUEST_END)
#define LWP_ALLOC(pool, pointer, size) lwp_block(LWP_REQUEST_ALLOC, "lwp_block_alloc", (pool), (pointer), (unsigned long)(size))
#define LWP_FREE(pool, pointer)        lwp_block(LWP_REQUEST_FREE, "lwp_block_free", (pool), (pointer), 0)
#else
#define LWP_BEGIN()                    lwp_request(LWP_REQUEST_BEGIN, 0, 0, 0, 0)
#define LWP_END()                      lwp_request(LWP_REQUEST_END, 0, 0, 0, 0)
#define LWP_ALLOC(pool, pointer, size) ((void)(pool), (void)(pointer), (void)(size))
#define LWP_FREE(pool, pointer)        ((void)(pool), (void)(pointer))
#endif

#define LWP_ARRAY(pointer, count, size)                                                                                                    \
    lwp_request(LWP_REQUEST_ARRAY, (unsigned long)(pointer), (unsigned long)(count), (unsigned long)(size), 0)
#define LWP_ARRAY_FLOAT(pointer, count, size)                                                                                              \
    lwp_request(LWP_REQUEST_ARRAY, (unsigned long)(pointer), (unsigned long)(count), (unsigned long)(size), 1)

#endif
