#include "analysis/advice/locality/huge_pages_text.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"

enum { NAMED = 6, ANY_KIND = -1 };

static bool pages_is_of(const struct lwp_profile *profile, uint32_t object, int kind)
{
    return kind == ANY_KIND || profile->objects[object].kind == (enum lwp_object_kind)kind;
}

/* Names of those of a kind. `count`: how many there are. */
static const char *pages_names(struct lwp_profile *profile, const struct lwp_locality_tip *tip, int kind, size_t *count)
{
    const char *names[NAMED];
    size_t named = 0, all = 0;
    for (size_t i = 0; i < tip->object_count; i++)
        if (pages_is_of(profile, tip->objects[i], kind)) {
            if (named < NAMED)
                names[named++] = lwp_objects_name(profile, tip->objects[i]);
            all++;
        }
    *count = all;
    return lwp_arena_list(profile->arena, names, named, all - named);
}

const char *lwp_huge_pages_names(struct lwp_profile *profile, const struct lwp_locality_tip *tip)
{
    size_t count;
    return pages_names(profile, tip, ANY_KIND, &count);
}

/* What to do for the tip's objects of a kind; "" where there are none. */
static const char *pages_how(struct lwp_profile *profile, const struct lwp_locality_tip *tip, enum lwp_object_kind kind)
{
    size_t count;
    const char *names = pages_names(profile, tip, (int)kind, &count), *each = count > 1 ? "each" : "it";
    if (!count)
        return "";
    if (kind == LWP_OBJECT_STATIC)
        return lwp_arena_printf(
            profile->arena,
            " Have %s begin on %s of 2 MiB (alignas(1 << 21)), and call madvise(..., sizeof ..., MADV_HUGEPAGE) on %s at "
            "the program's start.",
            names, count > 1 ? "multiples" : "a multiple", each);
    return lwp_arena_printf(profile->arena, " %s of %s, and madvise(..., MADV_HUGEPAGE) on %s before it is first written.",
                            kind == LWP_OBJECT_MMAP ? "Mappings on multiples of 2 MiB in place of those"
                                                    : "aligned_alloc(1 << 21, ...) in place of the allocation",
                            names, each);
}

void lwp_huge_pages_say(struct lwp_profile *profile, struct lwp_locality_tip *tip)
{
    const struct lwp_region *region = &profile->regions[tip->region];
    const char *lines = lwp_regions_lines(profile, region), *names = lwp_huge_pages_names(profile, tip);
    double bytes = 0;
    for (size_t i = 0; i < tip->object_count; i++)
        bytes += (double)profile->objects[tip->objects[i]].bytes;
    tip->title = lwp_arena_printf(
        profile->arena, "Back %s with huge pages: the loop %s goes anywhere in %s %.0f MiB, on more pages than the TLB reaches", names,
        lines              ? lwp_arena_printf(profile->arena, "at %s", lines)
        : region->function ? lwp_arena_printf(profile->arena, "in %s", region->function)
                           : "in code without a name",
        tip->object_count > 1 ? "their" : "its", bytes / 1048576);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Huge pages:%s%s%s Without a change of the program: GLIBC_TUNABLES=glibc.malloc.hugetlb=1 for what malloc() "
        "allocates, or 'always' in /sys/kernel/mm/transparent_hugepage/enabled. The accesses were run on this machine on "
        "pages of 4 KiB and on huge ones. Then run lwp collect again and compare with lwp diff.",
        pages_how(profile, tip, LWP_OBJECT_HEAP), pages_how(profile, tip, LWP_OBJECT_STATIC), pages_how(profile, tip, LWP_OBJECT_MMAP));
}
