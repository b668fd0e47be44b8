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

static uint64_t segment_faults(int fd, const NSegment *segment, unsigned anonymous)
{
    uint64_t entries[CHUNK], faults = 0, last[2] = {UINT64_MAX, UINT64_MAX};
    const uint64_t end = (segment->end >> PAGE_SHIFT) + 1;
    for (uint64_t page = segment->start >> PAGE_SHIFT; page < end; page += CHUNK) {
        const uint64_t count = end - page < CHUNK ? end - page : CHUNK;
        if (pread(fd, entries, count * sizeof *entries, (off_t)(page * sizeof *entries)) != (ssize_t)(count * sizeof *entries))
            return faults;
        for (uint64_t i = 0; i < count; i++) {
            const bool file = entries[i] & page_of_file;
            const uint64_t place = (page + i) >> ((file ? AROUND_SHIFT : anonymous) - PAGE_SHIFT);
            if (!(entries[i] & page_present) || place == last[file])
                continue;
            last[file] = place;
            faults++;
        }
    }
    return faults;
}

uint64_t lwp_client_page_faults(void)
{
    enum { SEGMENTS_MOST = 4096 };
    static Addr starts[SEGMENTS_MOST];
    const Int count = VG_(am_get_segment_starts)(SkAnonC | SkFileC | SkShmC, starts, SEGMENTS_MOST);
    SysRes opened = VG_(open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
    uint64_t faults = 0;
    if (sr_isError(opened))
        return 0;
    const unsigned anonymous = anonymous_shift();
    for (Int i = 0; i < count; i++) {
        const NSegment *segment = VG_(am_find_nsegment)(starts[i]);
        faults += segment ? segment_faults((int)sr_Res(opened), segment, anonymous) : 0;
    }
    VG_(close)((Int)sr_Res(opened));
    return faults;
}
