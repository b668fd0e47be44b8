/* Hooks at the entry of malloc and the like, found by name where translated code begins; their result is read when the
 * shadow stack sees that frame return. The program keeps its allocator, its layout and its addresses. Of allocators that
 * call each other the outermost counts, so that a block has the call path its user knows. The loader's own allocator,
 * which no library's data comes from, is left out; so are those of other names. */
#include "collector/exact/program/heap.h"

#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/process.h"
#include "collector/record/reserved.h"
#include "format/record.h"

static const struct heap_name {
    const HChar *name;
    enum lwp_heap_function function;
} heap_names[] = {
    {"malloc", LWP_HEAP_MALLOC},
    {"__libc_malloc", LWP_HEAP_MALLOC},
    {"calloc", LWP_HEAP_CALLOC},
    {"__libc_calloc", LWP_HEAP_CALLOC},
    {"realloc", LWP_HEAP_REALLOC},
    {"__libc_realloc", LWP_HEAP_REALLOC},
    {"reallocarray", LWP_HEAP_REALLOCARRAY},
    {"__libc_reallocarray", LWP_HEAP_REALLOCARRAY},
    {"free", LWP_HEAP_FREE},
    {"cfree", LWP_HEAP_FREE},
    {"__libc_free", LWP_HEAP_FREE},
    {"memalign", LWP_HEAP_MEMALIGN},
    {"aligned_alloc", LWP_HEAP_MEMALIGN},
    {"__libc_memalign", LWP_HEAP_MEMALIGN},
    {"valloc", LWP_HEAP_PAGES},
    {"pvalloc", LWP_HEAP_PAGES},
    {"__libc_valloc", LWP_HEAP_PAGES},
    {"__libc_pvalloc", LWP_HEAP_PAGES},
    {"posix_memalign", LWP_HEAP_POSIX_MEMALIGN},
    {"__posix_memalign", LWP_HEAP_POSIX_MEMALIGN},
    {"mmap", LWP_HEAP_MMAP},
    {"mmap64", LWP_HEAP_MMAP},
    {"__mmap", LWP_HEAP_MMAP},
    {"__mmap64", LWP_HEAP_MMAP},
    {"munmap", LWP_HEAP_MUNMAP},
    {"__munmap", LWP_HEAP_MUNMAP},
    {"mprotect", LWP_HEAP_MPROTECT},
    {"__mprotect", LWP_HEAP_MPROTECT},
    {"mremap", LWP_HEAP_MREMAP},
    {"__mremap", LWP_HEAP_MREMAP},
};

static uint64_t heap_met; /* which of them, a bit each */

/* The name of a C++ function may have its parameters behind it. */
static enum lwp_heap_function heap_of_program(const HChar *name)
{
    uint32_t number = 0;
    for (const HChar *at = lwp_exact_options.allocators; at && *at; number++) {
        const HChar *comma = VG_(strchr)(at, ','), *end = comma ? comma : at + VG_(strlen)(at);
        SizeT length = (SizeT)(end - at) - 2; /* without :ARGUMENT */
        if (VG_(strncmp)(name, at, length) == 0 && (!name[length] || name[length] == '(')) {
            heap_met |= (uint64_t)1 << (number & 63);
            return LWP_HEAP_SIZE_1 + (end[-1] - '1');
        }
        at = comma ? comma + 1 : NULL;
    }
    return LWP_HEAP_NONE;
}

enum lwp_heap_function lwp_heap_function(Addr address)
{
    const HChar *name, *object;
    DiEpoch epoch = VG_(current_DiEpoch)();
    if (!VG_(get_fnname_if_entry)(epoch, address, &name))
        return LWP_HEAP_NONE;
    for (SizeT i = 0; i < sizeof heap_names / sizeof *heap_names; i++)
        if (VG_(strcmp)(name, heap_names[i].name) == 0)
            return VG_(get_objname)(epoch, address, &object) && VG_(strstr)(object, "/ld-linux") ? LWP_HEAP_NONE
                                                                                               : heap_names[i].function;
    return heap_of_program(name);
}

static void heap_forget(Addr block, struct lwp_heap_call *call)
{
    call->had = block && lwp_block_remove(block, &call->old);
}

/* What a block holds is looked at before it is freed. */
static void heap_look(Addr address)
{
    const struct lwp_block *block = address ? lwp_block_at(address) : NULL;
    if (block && block->start == address)
        LWP_DETECTORS(freeing, block->start, block->size);
}

/* Code is none, nor is what nobody may touch. */
static bool heap_is_data(ULong protection)
{
    return protection & (VKI_PROT_READ | VKI_PROT_WRITE) && !(protection & VKI_PROT_EXEC);
}

void lwp_heap_entered(ULong function, Addr sp, ULong a, ULong b, ULong c)
{
    struct lwp_heap_call *call = &lwp_thread_now->heap_call;
    if (call->slot > sp) /* inside of another */
        return;
    lwp_trace_drain();
    heap_look(function == LWP_HEAP_MUNMAP || function >= LWP_HEAP_SIZE_1 ? 0 : a);
    if (function == LWP_HEAP_FREE) {
        struct lwp_heap_call gone;
        heap_forget(a, &gone);
        if (gone.had)
            LWP_DETECTORS(freed, gone.old.start, gone.old.size);
        return;
    }
    if (function == LWP_HEAP_MUNMAP) {
        LWP_DETECTORS(freeing, a, b);
        lwp_blocks_unmap(a, b);
        lwp_reserved_remove(a, b);
        return;
    }
    if (function == LWP_HEAP_MPROTECT) {
        uint64_t low, bytes;
        if (heap_is_data(c) && lwp_reserved_take(a, &low, &bytes) && bytes >= lwp_exact_options.heap_threshold)
            lwp_block_add(low, bytes, LWPS_BLOCK_MMAP, lwp_context_now);
        return;
    }
    if (function == LWP_HEAP_MMAP && c == VKI_PROT_NONE)
        function = LWP_HEAP_RESERVE;
    else if (function == LWP_HEAP_MMAP && !heap_is_data(c))
        return;
    if (!lwp_calls_hook(sp))
        return;
    lwp_calls_know();
    *call = (struct lwp_heap_call){.slot = sp, .function = (uint8_t)function, .node = lwp_context_now, .pointer = a, .size = b};
    if (function == LWP_HEAP_REALLOC || function == LWP_HEAP_REALLOCARRAY || function == LWP_HEAP_MREMAP)
        heap_forget(a, call);
    if (function == LWP_HEAP_MREMAP || function == LWP_HEAP_POSIX_MEMALIGN)
        call->size = c; /* the size is the third argument */
    else if (function == LWP_HEAP_CALLOC)
        call->size = a * b;
    else if (function == LWP_HEAP_REALLOCARRAY)
        call->size = b * c;
    else if (function == LWP_HEAP_MALLOC || function == LWP_HEAP_PAGES || function == LWP_HEAP_SIZE_1)
        call->size = a;
    else if (function == LWP_HEAP_SIZE_3)
        call->size = c;
}

/* What of a block that was given another size is no more. */
static void heap_resized(const struct lwp_block *old, Addr now, SizeT size)
{
    SizeT kept = now == old->start ? size : 0;
    if (kept < old->size)
        LWP_DETECTORS(freed, old->start + kept, old->size - kept);
}

static bool heap_is_blank(enum lwp_heap_function function)
{
    return function == LWP_HEAP_MALLOC || function == LWP_HEAP_MEMALIGN || function == LWP_HEAP_PAGES ||
           function == LWP_HEAP_POSIX_MEMALIGN;
}

static void heap_made(const struct lwp_heap_call *call, ULong result)
{
    Addr block = result;
    if (call->function == LWP_HEAP_RESERVE && block <= (Addr)-4096)
        lwp_reserved_add(block, call->size);
    if (call->function == LWP_HEAP_RESERVE)
        return;
    uint8_t kind = call->function == LWP_HEAP_MMAP || call->function == LWP_HEAP_MREMAP ? LWPS_BLOCK_MMAP : LWPS_BLOCK_HEAP;
    if (call->function == LWP_HEAP_POSIX_MEMALIGN)
        block = result ? 0 : *(const Addr *)call->pointer;
    if (kind == LWPS_BLOCK_MMAP && block > (Addr)-4096)
        block = 0;
    if (kind == LWPS_BLOCK_MMAP && block)
        lwp_reserved_remove(block, call->size);
    if (block && heap_is_blank(call->function)) /* its new owner does not read what was left there */
        LWP_DETECTORS(allocated, block, call->size);
    if (block && call->had)
        heap_resized(&call->old, block, call->size);
    if (kind == LWPS_BLOCK_MMAP && call->size < lwp_exact_options.heap_threshold) /* what an allocator hands out in parts */
        kind = LWPS_BLOCK_HEAP;
    if (block)
        lwp_block_add(block, call->size, kind, call->node);
    else if (call->had && call->size) /* it failed: the old one stays */
        lwp_block_add(call->old.start, call->old.size, call->old.kind, call->old.node);
}

void lwp_heap_returned(Addr slot, bool returned, ULong result)
{
    struct lwp_heap_call *call = &lwp_thread_now->heap_call;
    if (call->slot != slot)
        return;
    struct lwp_heap_call done = *call;
    call->slot = 0;
    if (returned)
        heap_made(&done, result);
}

void lwp_heap_told(Addr block, SizeT size)
{
    if (!block)
        return;
    lwp_calls_know();
    LWP_DETECTORS(allocated, block, size);
    lwp_block_add(block, size, LWPS_BLOCK_HEAP, lwp_context_now);
}

void lwp_heap_told_free(Addr block)
{
    struct lwp_block old;
    heap_look(block);
    if (block && lwp_block_remove(block, &old))
        LWP_DETECTORS(freed, old.start, old.size);
}

void lwp_heap_finish(void)
{
    static HChar name[200], note[300];
    uint32_t number = 0;
    for (const HChar *at = lwp_exact_options.allocators; at && *at; number++) {
        const HChar *comma = VG_(strchr)(at, ','), *end = comma ? comma : at + VG_(strlen)(at);
        SizeT length = (SizeT)(end - at) - 2;
        if (!(heap_met >> (number & 63) & 1) && length < sizeof name) {
            VG_(memcpy)(name, at, length);
            name[length] = '\0';
            VG_(snprintf)(note, sizeof note, "--allocator: no function %s was entered; it has no symbol, or was inlined.", name);
            lwp_exact_process_note(note);
        }
        at = comma ? comma + 1 : NULL;
    }
}
