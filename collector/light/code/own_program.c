/* Bounds come from the unwind table (.eh_frame_hdr), which stripped programs have too. */
#include "collector/light/code/own_program.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/single_threaded.h>

/* The table's pairs are (function start, FDE), both relative to the header; an FDE is
 * length, CIE pointer, start (pc-relative), size. */
bool lwp_function_bounds(uint64_t ip, uint64_t *low, uint64_t *high)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)ip, &object) || !object.dlfo_eh_frame)
        return false;
    const uint8_t *header = object.dlfo_eh_frame;
    enum { PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
    if (header[0] != 1 || header[1] != PCREL_SDATA4 || header[2] != UDATA4 || header[3] != DATAREL_SDATA4)
        return false;
    uint32_t count;
    memcpy(&count, header + 8, 4);
    const int32_t(*table)[2] = (const void *)(header + 12);
    uint32_t from = 0, to = count;
    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        if ((uint64_t)header + (uint64_t)(int64_t)table[middle][0] <= ip)
            from = middle;
        else
            to = middle;
    }
    if (!count)
        return false;
    *low = (uint64_t)header + (uint64_t)(int64_t)table[from][0];
    const uint8_t *fde = header + table[from][1];
    int32_t start;
    uint32_t size;
    memcpy(&start, fde + 8, 4);
    memcpy(&size, fde + 12, 4);
    *high = *low + size;
    return (uint64_t)(fde + 8) + (uint64_t)(int64_t)start == *low && ip >= *low && ip < *high;
}

uint64_t lwp_function_start(uint64_t ip)
{
    uint64_t low, high;
    return lwp_function_bounds(ip, &low, &high) ? low : ip;
}

static const uint8_t *own_code(const struct lwp_program *program, uint64_t address, unsigned bytes)
{
    (void)program, (void)bytes;
    return (const uint8_t *)address;
}

/* Asked first: a path guessed wrong must not fault in the program. */
static size_t own_read(const struct lwp_program *program, uint64_t address, void *to, size_t bytes, enum lwp_read how)
{
    (void)program; /* its thread stands still */
    if (how == LWP_READ_SURE && (!__libc_single_threaded || lwp_shared_has(address)))
        return 0;
    return lwp_own_copy(to, (const void *)address, bytes) ? bytes : 0;
}

static bool own_bounds(const struct lwp_program *program, uint64_t ip, uint64_t *low, uint64_t *high)
{
    (void)program;
    return !lwp_is_ours((const void *)ip) && lwp_function_bounds(ip, low, high);
}

const struct lwp_program lwp_own_program = {.code = own_code, .read = own_read, .bounds = own_bounds, .memory = lwp_own_memory};
