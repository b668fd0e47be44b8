/* Candidates for the type of an object's elements. Pointers at its accesses count by how often they were used, the
 * allocation and the declaration as much as all accesses together or more. */

#include "analysis/elements/element_code.h"
#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"

#include <string.h>

enum { STREAMS_ASKED = 48, SITES_ROOM = 16 };

/* hashbrown's RawTable<T>: as many buckets as a power of two says, filled up in front to a multiple of a group; behind
 * them one control byte for each, and those of the first group once more. Buckets are counted backwards from there, which
 * makes no difference to where in a bucket a field is. */
enum { GROUP = 16 }; /* bytes that SSE2 compares at once */

bool lwp_element_table(uint64_t block_bytes, uint64_t element_bytes, uint64_t *start, uint64_t *end)
{
    for (uint64_t buckets = 1; element_bytes && buckets <= block_bytes / element_bytes; buckets *= 2) {
        uint64_t bytes = buckets * element_bytes;
        *end = (bytes + GROUP - 1) / GROUP * GROUP;
        *start = *end - bytes;
        if (*end + buckets + GROUP == block_bytes)
            return true;
    }
    return false;
}

static void element_vote(struct lwp_element_votes *votes, const struct lwp_type *type, const char *variable, double score, bool exact)
{
    if (type && type->kind == LWP_TYPE_STRUCT && type->bytes > LWP_TYPE_ELEMENT_MAX)
        votes->large = type; /* also a type that is only in scope: its size is the block's by no chance */
    if (!type || type->bytes == 0 || type->bytes > LWP_TYPE_ELEMENT_MAX)
        return;
    struct lwp_element_candidate *candidate = NULL;
    for (size_t i = 0; i < votes->count && !candidate; i++)
        if (lwp_element_same_type(votes->candidates[i].type, type))
            candidate = &votes->candidates[i];
    if (!candidate) {
        if (votes->count == LWP_ELEMENT_CANDIDATES_MAX)
            return;
        candidate = &votes->candidates[votes->count++];
        *candidate = (struct lwp_element_candidate){.type = type};
    }
    candidate->score += score;
    candidate->exact |= exact;
    /* A pointer that was followed names it, and what was merely in scope where none was. */
    if (variable && (exact > candidate->variable_exact || (exact == candidate->variable_exact && score > candidate->variable_score))) {
        candidate->variable = variable;
        candidate->variable_score = score;
        candidate->variable_exact = exact;
    }
}

bool lwp_element_is_flexible(const struct lwp_type *type)
{
    return type->kind == LWP_TYPE_STRUCT && lwp_types_is_open(type);
}

/* As C derives: what a pointer to the head is cast to. */
static bool element_begins_with(const struct lwp_type *outer, const struct lwp_type *head)
{
    return outer && outer->kind == LWP_TYPE_STRUCT && head->kind == LWP_TYPE_STRUCT && outer->bytes >= head->bytes &&
           !lwp_element_same_type(outer, head) && lwp_types_contain(outer, 0, head);
}

/* What a caller has for a result of another type is another result: frames of a recursion between them were left out. */
static bool element_is_another(const struct lwp_type *outer, const struct lwp_type *made)
{
    return outer && outer->kind == LWP_TYPE_STRUCT && made->kind == LWP_TYPE_STRUCT && !lwp_element_same_type(outer, made) &&
           !element_begins_with(outer, made) && !element_begins_with(made, outer);
}

/* Pointers to the head of what a block is lead to all of it: a block as large as a structure that begins so, or one of those that end
 * in as many elements as were asked for, where only one such is known. */
static void element_derive(struct lwp_element_votes *votes, uint64_t block)
{
    for (size_t i = 0; i < votes->count; i++) {
        struct lwp_element_candidate *head = &votes->candidates[i], *whole = NULL;
        size_t found = 0;
        for (size_t k = 0; k < votes->count && head->exact; k++) {
            struct lwp_element_candidate *other = &votes->candidates[k];
            if (other->exact && element_begins_with(other->type, head->type) &&
                (other->type->bytes == block || (lwp_element_is_flexible(other->type) && other->type->bytes < block))) {
                whole = other;
                found++;
            }
        }
        if (found != 1)
            continue;
        whole->score += head->score;
        whole->accessed += head->accessed;
        whole->made |= head->made;
        head->score = 0;
        head->derived = true;
    }
}

static void element_count_exact(struct lwp_element_votes *votes, const struct lwp_type *type, double accesses)
{
    votes->exact += accesses;
    for (size_t i = 0; i < votes->count; i++)
        if (lwp_element_same_type(votes->candidates[i].type, type))
            votes->candidates[i].accessed += accesses;
}

/* A table's block must have the size of one; what is behind its elements says nothing about them. */
static bool element_is_table(const struct lwp_object *object, const struct lwp_candidate *candidate, struct lwp_element_votes *votes)
{
    uint64_t block = object->pool_size ? object->pool_size : object->largest, bytes = candidate->type->bytes;
    if (lwp_element_table(block, bytes, &votes->table_start, &votes->table_end))
        return true;
    votes->table_start = votes->table_end = 0;
    return false;
}

/* What the block is called: by what keeps it for good, as far as functions hand it to their callers. Of many small blocks only the
 * newest is in a member, but all are in an array. NULL: unknown. What keeps a pointer into the block is called `inside`: it keeps
 * the block where an element begins there. The candidate becomes the outermost one, and its type what callers make of the head. */
static const char *element_name_of_block(struct lwp_profile *profile, const struct lwp_object *object, uint32_t node,
                                         struct lwp_candidate *candidate, struct lwp_element_inside *inside)
{
    enum { CALLERS_ASKED = 16 };
    const struct lwp_type *made = candidate->type;
    const char *name = candidate->variable, *kept = NULL;
    int64_t at = 0;
    for (int i = 0; i < CALLERS_ASKED; i++) {
        const bool only = object->allocations == 1 && !candidate->returned; /* else its caller has made more of them in another way */
        if (candidate->kept && (!object->pool_size || only || candidate->kept_in_array)) {
            if (at + candidate->kept_at != 0 && !inside->name)
                *inside = (struct lwp_element_inside){candidate->kept, at + candidate->kept_at};
            kept = kept || candidate->kept_at != 0 ? kept : candidate->kept; /* behind a header, too */
        }
        if (kept && !(candidate->returned && candidate->returned_at)) /* else that is the allocator's own list of blocks */
            return kept;
        at += candidate->returned_at;
        if (!candidate->returned && !candidate->handed)
            return name;
        const struct lwp_context_node *callee = &profile->contexts[node];
        node = profile->contexts[node].parent;
        const struct lwp_context_node *call = &profile->contexts[node];
        if (!node || call->is_function || call->module == LWP_NONE)
            return kept;
        if (!candidate->returned) {
            bool in_array = false;
            const char *handed = callee->module != call->module ? NULL
                                                                : lwp_types_handed_name(profile->code, call->module, call->address,
                                                                                        callee->address, candidate->handed, &in_array);
            if (!object->pool_size || in_array) /* a wrapper's own variable is nobody's name */
                return handed;
            return candidate->type->kind == LWP_TYPE_STRUCT ? name : NULL;
        }
        struct lwp_candidate outer = {.returned = true};
        enum lwp_block_answer answer = lwp_types_of_block(profile->code, call->module, call->address, true, &outer);
        if (answer == LWP_BLOCK_UNKNOWN || answer == LWP_BLOCK_INSIDE || (!at && element_is_another(outer.type, made)))
            return kept;
        *candidate = outer;
        if (at || !element_begins_with(outer.type, made))
            candidate->type = made;
        made = candidate->type;
        name = outer.variable;
    }
    return kept;
}

/* By the calls that allocated it. */
static void element_collect_block(struct lwp_profile *profile, const struct lwp_object *object, struct lwp_element_votes *votes, double all)
{
    struct lwp_candidate candidate;
    const uint32_t node = lwp_contexts_block(profile, object->context, &candidate);
    if (!node || (candidate.table && !element_is_table(object, &candidate, votes)))
        return;
    struct lwp_candidate holder = candidate;
    votes->holder = element_name_of_block(profile, object, node, &holder, &votes->inside);
    votes->header = candidate.header;
    if (votes->header)
        return;
    if (element_begins_with(holder.type, candidate.type))
        candidate.type = holder.type;
    const double sure = candidate.type->bytes <= 1 ? 0.1 : candidate.exact ? 6 : 2; /* a buffer of bytes may become anything */
    element_vote(votes, candidate.type, votes->holder, all * sure, candidate.exact);
    for (size_t k = 0; k < votes->count; k++)
        if (lwp_element_same_type(votes->candidates[k].type, candidate.type)) {
            *(candidate.exact ? &votes->candidates[k].made : &votes->candidates[k].allocator) = true;
            votes->candidates[k].table = candidate.table;
        }
}

void lwp_element_votes_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_votes *votes)
{
    struct lwp_object *object = &profile->objects[index];
    struct lwp_candidate candidates[SITES_ROOM];
    double all = (double)object->accesses + 1;
    if (object->kind == LWP_OBJECT_STATIC && object->variable) {
        uint64_t elements = 0;
        const struct lwp_type *type = lwp_types_of_static(profile->code, object->module, object->lookup_address, &elements);
        bool buffer = type && type->bytes == 1; /* which may become anything */
        element_vote(votes, type, object->variable, buffer ? 0.1 * all : 100 * all, !buffer);
        if (!buffer)
            return;
    }
    if (object->kind == LWP_OBJECT_STACK) {
        element_vote(votes, object->type, object->variable, 100 * all, true);
        return;
    }
    element_collect_block(profile, object, votes, all);
    int asked = 0;
    for (uint32_t i = profile->object_streams[index]; i != LWP_NONE && asked < STREAMS_ASKED; i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->module == LWP_NONE || lwp_element_copies(profile, stream) || (double)stream->accesses < all / 200 ||
            lwp_element_beyond(stream, votes->table_end))
            continue;
        size_t count = lwp_types_at_access(profile->code, stream->module, stream->address, candidates, SITES_ROOM);
        for (size_t k = 0; k < count && k < SITES_ROOM; k++)
            element_vote(votes, candidates[k].type, candidates[k].variable,
                         (double)stream->accesses * (candidates[k].exact ? 4 : 1.0 / (double)(k + 1)), candidates[k].exact);
        if (count && candidates[0].exact)
            element_count_exact(votes, candidates[0].type, (double)stream->accesses);
        asked++;
    }
    struct lwp_frame frame;
    uint32_t node;
    if (object->context && lwp_objects_site(profile, object->context, &frame, &node)) {
        size_t count =
            lwp_types_at_call(profile->code, profile->contexts[node].module, profile->contexts[node].address, candidates, SITES_ROOM);
        for (size_t k = 0; k < count && k < SITES_ROOM; k++)
            if (!candidates[k].exact)
                element_vote(votes, candidates[k].type, candidates[k].variable, all * 0.75 / (double)(k + 1), false);
    }
    if (object->pool_size)
        element_derive(votes, object->pool_size);
}
