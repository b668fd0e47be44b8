#include "analysis/caches/tlb.h"

#include "base/arena.h"
#include "base/cache.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 16, SETS = LWP_TLB_PAGES / WAYS };

void lwp_tlb_free(struct lwp_tlb *translation)
{
    for (unsigned i = 0; i < LWP_TLB_CORES; i++)
        free(translation->tags[i]);
    *translation = (struct lwp_tlb){0};
}

bool lwp_tlb_walks(struct lwp_tlb *translation, unsigned thread, uint64_t page)
{
    unsigned core = thread % LWP_TLB_CORES, at = 0;
    translation->last[core] = page + 1;
    if (!translation->tags[core])
        translation->tags[core] = lwp_zeroed(LWP_TLB_PAGES, sizeof(uint32_t));
    uint32_t tag = lwp_cache_tag(page), *set = translation->tags[core] + page % SETS * WAYS;
    while (at < WAYS - 1 && set[at] != tag)
        at++;
    bool missed = set[at] != tag;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = tag;
    return missed;
}
