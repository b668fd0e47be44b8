/* Which pages a core's translation buffer (TLB) knows: a model of a common second level, 2048 pages of 4 KiB, least
 * recently used out first. Real ones have 1024 to 4096; what the first level lacks costs little. */
#ifndef LWP_ANALYSIS_CACHES_TLB_H
#define LWP_ANALYSIS_CACHES_TLB_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LWP_TLB_PAGES = 2048,
    LWP_TLB_PAGE_SHIFT = 12,
    LWP_TLB_CYCLES = 30, /* of a walk through page tables that are in the caches */
    LWP_TLB_CORES = 64,  /* more share these */
};

/* Starts from zero. */
struct lwp_tlb {
    uint64_t last[LWP_TLB_CORES]; /* page + 1 */
    uint32_t *tags[LWP_TLB_CORES];
};

void lwp_tlb_free(struct lwp_tlb *translation);

/* The same for a page that is not that of its access before. */
bool lwp_tlb_walks(struct lwp_tlb *translation, unsigned thread, uint64_t page);

/* Whether the thread's access has to wait for its page. */
static inline bool lwp_tlb_access(struct lwp_tlb *translation, unsigned thread, uint64_t address)
{
    uint64_t page = address >> LWP_TLB_PAGE_SHIFT;
    return translation->last[thread % LWP_TLB_CORES] != page + 1 && lwp_tlb_walks(translation, thread, page);
}

#endif
