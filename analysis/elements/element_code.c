/* What the code says of an object's accesses, and where the elements begin then. */
#include "analysis/elements/element_code.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

bool lwp_element_same_type(const struct lwp_type *a, const struct lwp_type *b)
{
    return a == b || (a->bytes == b->bytes && a->kind == b->kind && a->name && b->name && strcmp(a->name, b->name) == 0);
}

void lwp_element_code_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_code *code)
{
    code->count = 0;
    code->accesses = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        struct lwp_element_spoken spoken = {.stream = stream};
        if (stream->module == LWP_NONE || stream->offsets.count == 0 || lwp_objects_library_code(profile, stream->module))
            continue;
        code->accesses += (double)stream->accesses;
        if (code->count < LWP_ELEMENT_CODE_STREAMS && lwp_types_place(profile->code, stream->module, stream->address, &spoken.place) &&
            spoken.place.type->bytes > 1)
            code->items[code->count++] = spoken;
    }
}

struct code_vote {
    uint64_t start;
    double weight;
};

static int code_by_start(const void *a, const void *b)
{
    return LWP_COMPARE(((const struct code_vote *)a)->start, ((const struct code_vote *)b)->start);
}

double lwp_element_code_start(const struct lwp_element_code *code, const struct lwp_type *type, uint64_t spacing, uint64_t *start)
{
    struct code_vote *votes = NULL;
    size_t count = 0, room = 0;
    double all = 0, best = 0;
    *start = 0;
    for (size_t i = 0; i < code->count; i++) {
        const struct lwp_element_spoken *spoken = &code->items[i];
        uint64_t offsets[LWP_RESERVOIR];
        size_t kept = lwp_element_same_type(spoken->place.type, type) ? lwp_streams_offsets(spoken->stream, offsets, LWP_RESERVOIR) : 0;
        for (size_t k = 0; k < kept; k++) {
            uint64_t at = (offsets[k] % spacing + spacing - spoken->place.at % spacing) % spacing;
            LWP_APPEND(&votes, &count, &room, (struct code_vote){at, (double)spoken->stream->accesses / (double)kept});
        }
    }
    if (!count)
        return -1;
    qsort(votes, count, sizeof *votes, code_by_start);
    for (size_t i = 0; i < count;) {
        uint64_t at = votes[i].start;
        double sum = 0;
        for (; i < count && votes[i].start == at; i++)
            sum += votes[i].weight;
        all += sum;
        if (sum > best) {
            best = sum;
            *start = at;
        }
    }
    free(votes);
    return best / all;
}
