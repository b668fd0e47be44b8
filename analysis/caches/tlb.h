/* A model of a core's TLB: a common second level, 2048 pages of 4 KiB, 16 ways, LRU. Real ones have 1024 to 4096 entries; misses of
 * the first level cost little. */
#ifndef LWP_ANALYSIS_CACHES_TLB_H
#define LWP_ANALYSIS_CACHES_TLB_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LWP_TLB_PAGES = 2048,
    LWP_TLB_PAGE_SHIFT = 12,
    LWP_TLB_CYCLES = 30, /* of a page walk, with the page tables in the caches */
    LWP_TLB_CORES = 64,  /* more share these */
};

/* Starts from zero. */
struct lwp_tlb {
    uint64_t last[LWP_TLB_CORES]; /* page + 1 */
    uint32_t *tags[LWP_TLB_CORES];
};

void lwp_tlb_free(struct lwp_tlb *translation);

/* Whether there is a page walk; for a page other than that of the access before. */
bool lwp_tlb_walks(struct lwp_tlb *translation, unsigned thread, uint64_t page);

/* Whether the thread's access needs a page walk. */
static inline bool lwp_tlb_access(struct lwp_tlb *translation, unsigned thread, uint64_t address)
{
    uint64_t page = address >> LWP_TLB_PAGE_SHIFT;
    return translation->last[thread % LWP_TLB_CORES] != page + 1 && lwp_tlb_walks(translation, thread, page);
}

#endif
