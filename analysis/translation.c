#include "analysis/translation.h"

#include "base/cache.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 16, SETS = LWP_TRANSLATION_PAGES / WAYS };

void lwp_translation_free(struct lwp_translation *translation)
{
    for (unsigned i = 0; i < LWP_TRANSLATION_CORES; i++)
        free(translation->tags[i]);
    *translation = (struct lwp_translation){0};
}

bool lwp_translation_walks(struct lwp_translation *translation, unsigned thread, uint64_t page)
{
    unsigned core = thread % LWP_TRANSLATION_CORES, at = 0;
    translation->last[core] = page + 1;
    if (!translation->tags[core] && !(translation->tags[core] = calloc(LWP_TRANSLATION_PAGES, sizeof(uint32_t))))
        abort();
    uint32_t tag = lwp_cache_tag(page), *set = translation->tags[core] + page % SETS * WAYS;
    while (at < WAYS - 1 && set[at] != tag)
        at++;
    bool missed = set[at] != tag;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = tag;
    return missed;
}
