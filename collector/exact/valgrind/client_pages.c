/* A page that is the process' own took a fault; of a file's pages the kernel maps those around one with it. Faults of what is unmapped by
 * now, and those of a page that was read before it was written, are not known: there were more. Pages of what Valgrind itself has mapped are
 * left out; its translator reads the program's code where it runs. */
#include "collector/exact/valgrind/client_pages.h"

#include "collector/exact/valgrind/tool.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum {
    PAGE_SHIFT = 12,
    AROUND_SHIFT = 16, /* fault_around_bytes */
    HUGE_SHIFT = 21,
    CHUNK = 512
};
static const uint64_t page_present = (uint64_t)1 << 63, page_of_file = (uint64_t)1 << 61;

/* A fault may have brought so much of anonymous memory. */
static unsigned anonymous_shift(void)
{
    static const char always[] = "[always]";
    char text[sizeof always] = "";
    SysRes opened = VG_(open)("/sys/kernel/mm/transparent_hugepage/enabled", VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return PAGE_SHIFT;
    VG_(read)((Int)sr_Res(opened), text, sizeof text - 1);
    VG_(close)((Int)sr_Res(opened));
    return VG_(strcmp)(text, always) == 0 ? HUGE_SHIFT : PAGE_SHIFT;
}

/* Calls `page` for each that is there; false: it wants no more. */
static bool segment_pages(int fd, const NSegment *segment, bool (*page)(void *to, const NSegment *segment, uint64_t number, bool file),
                          void *to)
{
    uint64_t entries[CHUNK];
    const uint64_t end = (segment->end >> PAGE_SHIFT) + 1;
    for (uint64_t first = segment->start >> PAGE_SHIFT; first < end; first += CHUNK) {
        const uint64_t count = end - first < CHUNK ? end - first : CHUNK;
        if (pread(fd, entries, count * sizeof *entries, (off_t)(first * sizeof *entries)) != (ssize_t)(count * sizeof *entries))
            return true;
        for (uint64_t i = 0; i < count; i++)
            if (entries[i] & page_present && !page(to, segment, first + i, entries[i] & page_of_file))
                return false;
    }
    return true;
}

static void client_pages(bool (*page)(void *to, const NSegment *segment, uint64_t number, bool file), void *to)
{
    enum { SEGMENTS_MOST = 4096 };
    static Addr starts[SEGMENTS_MOST];
    const Int count = VG_(am_get_segment_starts)(SkAnonC | SkFileC | SkShmC, starts, SEGMENTS_MOST);
    SysRes opened = VG_(open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return;
    bool more = true;
    for (Int i = 0; i < count && more; i++) {
        const NSegment *segment = VG_(am_find_nsegment)(starts[i]);
        more = !segment || segment_pages((int)sr_Res(opened), segment, page, to);
    }
    VG_(close)((Int)sr_Res(opened));
}

struct page_faults {
    const NSegment *segment;
    uint64_t count, last[2]; /* of the segment; of anonymous memory, and of files */
    unsigned shift[2];
};

static bool page_fault(void *to, const NSegment *segment, uint64_t number, bool file)
{
    struct page_faults *faults = to;
    const uint64_t place = number >> (faults->shift[file] - PAGE_SHIFT);
    if (segment != faults->segment)
        faults->last[0] = faults->last[1] = UINT64_MAX;
    faults->segment = segment;
    faults->count += place != faults->last[file];
    faults->last[file] = place;
    return true;
}

uint64_t lwp_client_page_faults(void)
{
    struct page_faults faults = {.shift = {anonymous_shift(), AROUND_SHIFT}};
    client_pages(page_fault, &faults);
    return faults.count;
}

static bool page_touch(void *to, const NSegment *segment, uint64_t number, bool file)
{
    unsigned *left = to;
    unsigned char *at = (unsigned char *)(number << PAGE_SHIFT);
    (void)file;
    if (segment->hasW)
        __asm__ volatile("lock orb $0, %0" : "+m"(*at));
    else if (segment->hasR)
        (void)*(volatile unsigned char *)at;
    return --*left > 0;
}

void lwp_client_pages_touch(unsigned most)
{
    client_pages(page_touch, &most);
}
