/* Both tables are small and fixed: watchpoints are few, and so are shared mappings; when there is no room for another, all
 * memory outside of the known ones counts as shared, which loses verdicts but reports nothing wrong. */
#include "collector/light/own/watched_memory.h"

#include "collector/light/own/hot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WATCHES_MOST = 1024, SHARED_MOST = 256 };

LWP_HOT uint16_t lwp_watched_pages[LWP_WATCHED_PAGES];
LWP_HOT uint32_t lwp_watched_count;

static LWP_LARGE struct {
    uint64_t address; /* 0: free */
    uint8_t lost;
} watched[WATCHES_MOST];
static uint32_t watched_high; /* slots beyond were never used */

static LWP_LARGE struct {
    uint64_t low, high; /* high 0: free */
} shared[SHARED_MOST];
static uint32_t shared_high;
static bool shared_too_many;

static void raise_to(uint32_t *high, uint32_t least)
{
    uint32_t is = __atomic_load_n(high, __ATOMIC_RELAXED);
    while (is < least && !__atomic_compare_exchange_n(high, &is, least, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

static uint16_t *watched_page(uint64_t address)
{
    return &lwp_watched_pages[(address >> LWP_WATCHED_PAGE_BITS) % LWP_WATCHED_PAGES];
}

int lwp_watched_enter(uint64_t address)
{
    for (uint32_t i = 0; i < WATCHES_MOST; i++) {
        uint64_t none = 0;
        if (watched[i].address || !__atomic_compare_exchange_n(&watched[i].address, &none, address, false,
                                                               __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
        watched[i].lost = 0;
        raise_to(&watched_high, i + 1);
        __atomic_add_fetch(watched_page(address), 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&lwp_watched_count, 1, __ATOMIC_SEQ_CST);
        return (int)i;
    }
    return -1;
}

void lwp_watched_leave(int slot)
{
    if (slot < 0)
        return;
    __atomic_sub_fetch(watched_page(watched[slot].address), 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&lwp_watched_count, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&watched[slot].address, 0, __ATOMIC_SEQ_CST);
}

uint8_t lwp_watched_lost(int slot)
{
    return slot < 0 ? 0 : __atomic_load_n(&watched[slot].lost, __ATOMIC_ACQUIRE);
}

void lwp_watched_reset(void)
{
    memset(watched, 0, sizeof watched);
    memset(lwp_watched_pages, 0, sizeof lwp_watched_pages);
    lwp_watched_count = 0;
}

void lwp_watched_forget_slowly(uint64_t address, uint64_t bytes, enum lwps_watch_end why)
{
    enum { PIECE_MOST = 8 };
    uint32_t high = __atomic_load_n(&watched_high, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < high; i++) {
        uint64_t at = __atomic_load_n(&watched[i].address, __ATOMIC_ACQUIRE);
        if (at && at + PIECE_MOST > address && at < address + bytes)
            __atomic_store_n(&watched[i].lost, (uint8_t)why, __ATOMIC_RELEASE);
    }
}

void lwp_shared_add(uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < SHARED_MOST; i++) {
        uint64_t none = 0;
        if (shared[i].high || !__atomic_compare_exchange_n(&shared[i].high, &none, address + bytes, false,
                                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&shared[i].low, address,
                         __ATOMIC_RELEASE); /* until now it reached down to what was there before */
        raise_to(&shared_high, i + 1);
        return;
    }
    shared_too_many = true;
}

/* What is left of an entry stays; a reader meanwhile finds too much shared, never too little. */
void lwp_shared_remove(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    for (uint32_t i = 0; i < __atomic_load_n(&shared_high, __ATOMIC_ACQUIRE); i++) {
        uint64_t low = shared[i].low, high = shared[i].high;
        if (!high || low >= end || high <= address)
            continue;
        if (low < address && high > end)
            lwp_shared_add(end, high - end);
        if (low < address)
            __atomic_store_n(&shared[i].high, address, __ATOMIC_RELEASE);
        else if (high > end)
            __atomic_store_n(&shared[i].low, end, __ATOMIC_RELEASE);
        else
            __atomic_store_n(&shared[i].high, 0, __ATOMIC_RELEASE);
    }
}

void lwp_shared_all(void)
{
    shared_too_many = true;
}

uint64_t lwp_shared_from(uint64_t address)
{
    for (uint32_t i = 0; i < __atomic_load_n(&shared_high, __ATOMIC_ACQUIRE); i++)
        if (shared[i].high && shared[i].low == address)
            return shared[i].high - address;
    return 0;
}

bool lwp_shared_has(uint64_t address)
{
    for (uint32_t i = 0; i < __atomic_load_n(&shared_high, __ATOMIC_ACQUIRE); i++)
        if (address >= shared[i].low && address < shared[i].high)
            return true;
    return shared_too_many;
}

uint64_t lwp_main_stack_high;

/* "7f00-7f01 rw-s ..." */
static void shared_line(const char *line)
{
    char *end;
    uint64_t low = strtoull(line, &end, 16), high = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
    if (high > low && strlen(end) > 4 && end[4] == 's')
        lwp_shared_add(low, high - low);
    if (high > low && strstr(end, "[stack]"))
        lwp_main_stack_high = high;
}

void lwp_shared_start(void)
{
    char text[4096];
    size_t held = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (ssize_t got; (got = read(fd, text + held, sizeof text - 1 - held)) > 0;) {
        held += (size_t)got;
        text[held] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            shared_line(line);
        }
        held = strlen(line);
        memmove(text, line, held);
        if (held == sizeof text - 1) /* a path longer than any is */
            held = 0;
    }
    close(fd);
}
