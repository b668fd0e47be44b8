/* What a redundant pair usually means, told from where its two accesses are: the same loop or not, whose frame, the C
 * library's fill, the object. Each sentence says no more than its rule has seen; where no rule fits, the pair is only
 * described. What others gained is from Wen's thesis, table 4.3 (Witch). */
#include "analysis/redundancy.h"

#include "analysis/objects.h"

#include <string.h>

struct site {
    const struct lwp_place *place;
    uint32_t loop;        /* LWP_NONE: none */
    const char *function; /* innermost, inlined or not; "" unknown */
};

static struct site meaning_site(struct lwp_profile *profile, uint32_t context)
{
    struct site site = {.loop = LWP_NONE, .function = ""};
    const struct lwp_context_node *node = &profile->contexts[context];
    if (context == 0 || node->module == LWP_NONE)
        return site;
    site.place = lwp_code_place(profile->code, node->module, node->address);
    site.loop = site.place->loop;
    if (site.place->frame_count && site.place->frames[0].function)
        site.function = site.place->frames[0].function;
    return site;
}

/* memset, bzero, calloc and the like, under whatever name the processor's version has. Not any name with "fill" in it:
 * the program's own may do more than fill. */
static bool meaning_fills(const struct site *site)
{
    static const char *const names[] = {"memset", "bzero", "calloc", "std::fill", "std::__fill"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(site->function, names[i]))
            return true;
    return false;
}

static bool meaning_copies(const struct site *site)
{
    return strstr(site->function, "memcpy") || strstr(site->function, "memmove") || strstr(site->function, "mempcpy");
}

static void meaning_dead(struct lwp_redundancy *item, const struct site *first, const struct site *second,
                         const struct lwp_object *object)
{
    bool stack = object && object->kind == LWP_OBJECT_STACK;
    if (meaning_fills(first)) {
        item->meaning = meaning_fills(second)
                            ? "Useless initialisation: memory is filled that was filled before and hardly "
                              "used in between."
                            : "Useless initialisation: what is filled first is written again before "
                              "anything reads it.";
        item->remedy =
            "Leave the fill out, or fill only the part that is used; NWChem became 1.43x faster without one, and "
            "gcc 1.33x with a smaller table in place of one cleared again and again.";
    } else if (meaning_copies(first)) {
        item->meaning = "A copy is made that is overwritten before anything reads it.";
        item->remedy = "Do not copy what is written anyway, or copy only the part that is kept.";
    } else if (stack && strcmp(first->function, second->function) != 0) {
        item->meaning = "Values are stored to the stack around calls and not read again: usually registers saved for a "
                        "function that is not inlined.";
        item->remedy =
            "Let the compiler inline the function (in the header, static, or -flto); povray became 1.08x faster.";
    } else if (first->place && second->place && first->place == second->place && first->loop != LWP_NONE) {
        item->meaning =
            "Each pass of the loop overwrites what the pass before stored, and nothing reads it in between.";
        item->remedy =
            "Keep the value in a local variable and store it once after the loop; if the compiler has to assume "
            "that a pointer may lead to it, restrict helps. hmmer became 1.28x faster, bzip2 1.07x.";
    } else if (first->loop != LWP_NONE && first->loop == second->loop) {
        item->meaning = "One pass of the loop stores twice to the same place, and nothing reads the first value.";
        item->remedy = "Store once, at the end: keep the value in a local variable until it is final.";
    } else {
        item->meaning = "What the first line stores is overwritten by the second before anything reads it.";
        item->remedy = "Look whether the first store is needed at all, or only in some cases.";
    }
}

static void meaning_silent_store(struct lwp_redundancy *item, const struct site *second)
{
    if (meaning_fills(second)) {
        item->meaning = "Memory is filled with what it already holds.";
        item->remedy = "Clear only what was changed since the last time.";
    } else if (item->close > 0.5) {
        item->meaning = "The new number is within 1 % of the one it replaces: the result hardly changes any more.";
        item->remedy =
            "If the algorithm allows it, stop or skip where nothing changes; Caffe's pooling layer became 1.16x "
            "faster that way.";
    } else {
        item->meaning =
            "The store writes the value that is there already: often a computation whose result is zero or has "
            "not changed.";
        item->remedy =
            "Test the operands first and skip the computation with the store (Caffe 1.06x, backprop 1.20x for the "
            "whole program); if it is never anything else, move it out of the loop.";
    }
}

static void meaning_silent_load(struct lwp_redundancy *item, const struct site *first, const struct site *second,
                                bool same_caller, const struct lwp_object *object)
{
    bool array = object && object->kind != LWP_OBJECT_STACK && object->bytes >= LWP_ARRAY_BYTES;
    bool same = first->place && first->place == second->place;
    if (same && first->loop != LWP_NONE && array) {
        item->meaning =
            "One loop walks the same data again and again and finds it unchanged: often a linear search, or a "
            "result that could have been kept.";
        item->remedy = "Keep what was found, or look things up by hashing or bisection; replacing a linear search made "
                       "binutils' objdump 10x faster, a better hash Kallisto 4.1x.";
    } else if (same && !same_caller) {
        item->meaning = "A small function loads the same unchanged value each time it is called.";
        item->remedy = "Inline it, so that the value can stay in a register (h264ref 1.27x), or pass the value in.";
    } else if (first->loop != LWP_NONE && first->loop == second->loop) {
        item->meaning = "The loop loads the same unchanged value again instead of keeping it in a register.";
        item->remedy =
            "Load it into a local variable before the loop; if the compiler has to assume that a store changes it, "
            "restrict or a copy of the field helps. lavaMD became 1.66x faster, imagick 1.6x.";
    } else {
        item->meaning = "The second line loads what the first has loaded, and nothing has changed it.";
        item->remedy =
            "Pass the value on instead of loading it again, or keep the result computed from it (vacation 1.31x).";
    }
}

void lwp_redundancy_explain(struct lwp_profile *profile, struct lwp_redundancy *item)
{
    const struct lwp_watched_pair *pair = item->pair;
    struct site first = meaning_site(profile, pair->first), second = meaning_site(profile, pair->second);
    bool same_caller = profile->contexts[pair->first].parent == profile->contexts[pair->second].parent;
    const struct lwp_object *object = pair->object == LWP_NONE ? NULL : &profile->objects[pair->object];
    switch (item->kind) {
    case LWP_WATCHED_DEAD_STORE:
        meaning_dead(item, &first, &second, object);
        break;
    case LWP_WATCHED_SILENT_STORE:
        meaning_silent_store(item, &second);
        break;
    default:
        meaning_silent_load(item, &first, &second, same_caller, object);
        break;
    }
}
