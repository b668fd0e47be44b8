/* Huge pages: so many pages by turns that a core does not know where they lie. */
#include "analysis/advice/locality/locality_kinds.h"

#include "analysis/caches/tlb.h"

static const double walks_least = 0.2; /* of the accesses */

bool lwp_advise_pages(const struct lwp_advice *advice, size_t index, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = advice->profile;
    const struct lwp_locality *locality = advice->locality;
    enum { KIB = 1024 };
    const struct lwp_locality_row *row = &locality->rows[index];
    const struct lwp_region *region = row->region == LWP_NONE ? NULL : &profile->regions[row->region];
    double accesses = (double)row->count->accesses, walks = (double)row->count->walks, cycles = walks * LWP_TLB_CYCLES;
    double saved = row->share * cycles / (cycles + (double)row->count->found.cycles);
    enum lwp_object_kind kind = profile->objects[row->object].kind;
    if (!region || walks < walks_least * accesses || saved < lwp_advice_share || kind == LWP_OBJECT_STACK || kind == LWP_OBJECT_UNKNOWN)
        return false;
    const char *name = lwp_objects_name(profile, row->object), *here = lwp_advice_place(profile, region);
    *tip = (struct lwp_locality_tip){.kind = "pages", .row = index, .share = row->share, .gain = lwp_gain_speedup(saved / 2, saved)};
    tip->title = lwp_arena_printf(profile->arena, "The code %s uses %s on more pages by turns than a processor knows the places of: %.0f %% of these accesses look them up", here, name,
                                  100 * walks / accesses);
    tip->next_step = lwp_arena_printf(profile->arena,
                                      "Huge pages: %s on pages of 2 MiB, or use what lies on one page together (sort the accesses, or keep what is used apart from what is not, side by "
                                      "side). %u pages of 4 KiB reach %u KiB. Where /sys/kernel/mm/transparent_hugepage/enabled says always the system may do so already: lwp does not see that.",
                                      kind == LWP_OBJECT_HEAP ? lwp_arena_printf(profile->arena, "put %s with aligned_alloc and madvise(MADV_HUGEPAGE), or GLIBC_TUNABLES=glibc.malloc.hugetlb=1,", name)
                                                              : lwp_arena_printf(profile->arena, "allocate %s with aligned_alloc and madvise(MADV_HUGEPAGE)", name),
                                      LWP_TLB_PAGES, LWP_TLB_PAGES * ((1 << LWP_TLB_PAGE_SHIFT) / KIB));
    return true;
}
