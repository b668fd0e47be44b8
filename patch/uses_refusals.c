#include "patch/uses.h"

void lwp_uses_refuse(struct lwp_uses *uses, unsigned ways, enum lwp_refusal reason, const struct lwp_source *source, size_t offset)
{
    for (unsigned way = 0; way < LWP_WAYS; way++) {
        uses->refusals[way].arena = uses->arena;
        if (ways & 1u << way)
            lwp_refuse(&uses->refusals[way], reason, source, offset, NULL);
    }
}
