/* The program's own allocator, hooked at the entry and return of its functions. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_HEAP_H
#define LWP_COLLECTOR_EXACT_PROGRAM_HEAP_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

enum lwp_heap_function {
    LWP_HEAP_NONE,
    LWP_HEAP_MALLOC,
    LWP_HEAP_CALLOC,
    LWP_HEAP_REALLOC,
    LWP_HEAP_REALLOCARRAY,
    LWP_HEAP_FREE,
    LWP_HEAP_MEMALIGN,
    LWP_HEAP_PAGES,
    LWP_HEAP_POSIX_MEMALIGN,
    LWP_HEAP_MMAP,
    LWP_HEAP_MUNMAP,
    LWP_HEAP_MREMAP,
    LWP_HEAP_MPROTECT,
    LWP_HEAP_RESERVE, /* mmap, of what nobody may touch */
    LWP_HEAP_SIZE_1,  /* the program's own, whose size is the first argument, ... */
    LWP_HEAP_SIZE_2,
    LWP_HEAP_SIZE_3,
};

/* Which function's entry code at `address` is. */
enum lwp_heap_function lwp_heap_function(Addr address);

/* Called from translated code: the function, the stack pointer, its first three arguments. */
void lwp_heap_entered(ULong function, Addr sp, ULong a, ULong b, ULong c);

/* Writes a note for each of the program's own allocators that was never entered. */
void lwp_heap_finish(void);

/* A block of the program's own allocator, made by the callers of the function that says so. */
void lwp_heap_told(Addr block, SizeT size);
void lwp_heap_told_free(Addr block);

/* A frame hooked by lwp_calls_hook is gone; `returned`: in order, with `result`. */
void lwp_heap_returned(Addr slot, bool returned, ULong result);

#endif
