/* In: a calling context. Out: the instruction's operand, its loop's shape, and what its function's name says.
 * Limits: names are those of the C and C++ libraries; of the program's own functions nothing is guessed by name but constructors,
 * which C++ names after their class. Registers saved around a call are not seen: their place is gone with the function's frame
 * before it can be watched again. */
#include "analysis/advice/redundancy/access_site.h"

#include "analysis/profile/objects.h"

#include <string.h>

enum { RSP = 4, RBP = 5, SIBLINGS_MAX = 256 };

struct lwp_access_site lwp_access_site(struct lwp_profile *profile, uint32_t context)
{
    struct lwp_access_site site = {.loop = LWP_NONE, .function = ""};
    const struct lwp_context_node *node = &profile->contexts[context];
    if (context == 0 || node->module == LWP_NONE)
        return site;
    site.place = lwp_code_symbolize(profile->code, node->module, node->address);
    site.operand = lwp_code_operand(profile->code, node->module, node->address);
    site.shaped = lwp_loop_shape(profile->code, node->module, node->address, &site.shape);
    if (site.place->loop != LWP_NONE)
        site.loop = lwp_code_source_loop(profile->code, site.place->loop);
    if (site.place->frame_count && site.place->frames[0].function)
        site.function = site.place->frames[0].function;
    return site;
}

static bool access_named(const struct lwp_access_site *site, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(site->function, names[i]))
            return true;
    return false;
}

/* memset, calloc, std::fill and the like, under whatever name the processor's version has. Not any name with "fill" in it: the
 * program's own may do more than fill. */
static bool access_fills(const struct lwp_access_site *site)
{
    static const char *const names[] = {"memset", "bzero", "calloc", "std::fill", "std::__fill"};
    return access_named(site, names, sizeof names / sizeof *names);
}

bool lwp_access_copies(const struct lwp_access_site *site)
{
    static const char *const names[] = {"memcpy", "memmove", "mempcpy"};
    return access_named(site, names, sizeof names / sizeof *names);
}

bool lwp_access_compares(const struct lwp_access_site *site)
{
    static const char *const names[] = {"strcmp", "strncmp", "strcasecmp", "memcmp"};
    return access_named(site, names, sizeof names / sizeof *names);
}

/* "ns::Grid<int>::Grid(int)": the last name is that of the class it is in. */
bool lwp_access_constructs(const struct lwp_access_site *site)
{
    const char *open = strchr(site->function, '('), *last = NULL, *class = site->function;
    int depth = 0;
    if (!open)
        return false;
    for (const char *at = site->function; at + 1 < open; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0 && at[0] == ':' && at[1] == ':') {
            class = last ? last : site->function;
            last = at + 2;
        }
    }
    size_t length = last ? (size_t)(open - last) : 0;
    return length && strncmp(class, last, length) == 0 && (class[length] == ':' || class[length] == '<');
}

bool lwp_access_initialises(const struct lwp_access_site *site)
{
    return access_fills(site) || lwp_access_constructs(site) || (site->shaped && site->shape.repeats_value && !site->shape.stays);
}

bool lwp_access_same(const struct lwp_access_site *a, const struct lwp_access_site *b)
{
    return a->place && a->place == b->place;
}

bool lwp_access_same_loop(const struct lwp_access_site *a, const struct lwp_access_site *b)
{
    return a->loop != LWP_NONE && a->loop == b->loop;
}

bool lwp_access_same_pass(struct lwp_profile *profile, const struct lwp_access_site *a, const struct lwp_access_site *b)
{
    struct lwp_sibling siblings[SIBLINGS_MAX];
    if (!a->place || !b->place || a->place->module != b->place->module)
        return false;
    size_t count = lwp_code_siblings(profile->code, a->place->module, a->place->address, siblings, SIBLINGS_MAX);
    for (size_t i = 0; i < count && i < SIBLINGS_MAX; i++)
        if (siblings[i].address == b->place->address)
            return siblings[i].delta < a->operand.bytes && siblings[i].delta + siblings[i].bytes > 0;
    return false;
}

bool lwp_access_by_stack(const struct lwp_access_site *site)
{
    return (site->operand.base == RSP || site->operand.base == RBP) && site->operand.index < 0;
}

static bool access_in_frame(const struct lwp_access_site *site, const struct lwp_object *object)
{
    return site->place && object && object->kind == LWP_OBJECT_STACK && object->module == site->place->module && lwp_access_by_stack(site);
}

bool lwp_access_is_slot(const struct lwp_access_site *site, const struct lwp_object *object)
{
    return access_in_frame(site, object) && (!object->variable || object->spilled) && object->start == site->place->function_low;
}

bool lwp_access_is_argument(const struct lwp_access_site *site, const struct lwp_object *object)
{
    return access_in_frame(site, object) && site->place->function_low && object->start != site->place->function_low;
}

bool lwp_access_called_in_loop(struct lwp_profile *profile, uint32_t context)
{
    uint32_t at = context;
    do
        at = profile->contexts[at].parent;
    while (at && lwp_objects_library_code(profile, profile->contexts[at].module));
    const struct lwp_context_node *call = &profile->contexts[at];
    return at && call->module != LWP_NONE && lwp_code_symbolize(profile->code, call->module, call->address)->loop != LWP_NONE;
}
