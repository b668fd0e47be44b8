/* From rank to rank: what one has gathered from its part of the processes goes along a tree to those before it. */
#include "analysis/load/load_internal.h"
#include "analysis/load/pack.h"
#include "analysis/ranks/ranks.h"
#include "base/log.h"

#include <stdlib.h>

/* What processes and their files said besides. */
static void load_said(struct load *load, struct lwp_pack *parcel)
{
    size_t first = load->first, last = load->last, count = load->notes.count;
    LWP_PACK(parcel, first);
    LWP_PACK(parcel, last);
    parcel->bad |= parcel->taking && (first != load->last || last < first || last > load->inputs.count);
    for (size_t i = first; i < last && !parcel->bad; i++) {
        struct load_process *process = &load->processes[i];
        LWP_PACK(parcel, process->totals);
        LWP_PACK(parcel, process->has_totals);
        LWP_PACK(parcel, process->left_out);
        LWP_PACK(parcel, process->lost);
        LWP_PACK(parcel, process->summary->pid);
        lwp_pack_text(parcel, &process->summary->command);
    }
    LWP_PACK(parcel, count);
    for (size_t i = 0; i < count && !parcel->bad; i++) {
        struct load_note taken = {.number = 0}, *note = parcel->taking ? &taken : &load->notes.items[i];
        const char *text = note->text;
        LWP_PACK(parcel, note->number);
        LWP_PACK(parcel, note->sequence);
        lwp_pack_text(parcel, &text);
        if (parcel->taking)
            load_note(&load->notes, note->number, note->sequence, "%s", text);
    }
    load->last = parcel->bad ? load->last : last;
}

static void load_parcel(struct load *load, struct lwp_pack *parcel)
{
    lwp_pack_tables(parcel);
    lwp_pack_shard(parcel, &load->workers[0].shard);
    load_said(load, parcel);
    if (parcel->bad) {
        lwp_log(LWP_LOG_ERROR, "the ranks do not see the same: each needs this lwp, and all folders on a file system that all share");
        exit(1);
    }
    lwp_pack_end(parcel);
}

static void load_take_rank(void *of, const void *bytes, size_t size)
{
    struct load *load = of;
    struct lwp_pack parcel;
    lwp_unpack_begin(&parcel, load->profile, bytes, size);
    load_parcel(load, &parcel);
}

static size_t load_give_rank(void *of, void **bytes)
{
    struct load *load = of;
    struct lwp_pack parcel;
    lwp_pack_begin(&parcel, load->profile);
    load_parcel(load, &parcel);
    *bytes = parcel.bytes;
    return parcel.size;
}

/* What all threads here have counted of streams, in one table. */
static void load_join(struct load *load)
{
    for (unsigned i = 1; i < load->jobs; i++) {
        struct lwp_stream_table *table = &load->workers[i].shard.streams;
        for (uint32_t k = 0; k < table->count; k++) {
            const struct lwp_stream_part part = lwp_stream_part(table, k);
            struct lwp_reservoir_items offsets = {.count = 0};
            lwp_reservoir_gather(&offsets, &table->offsets, &part.count->offsets);
            lwp_stream_table_merge(&load->workers[0].shard.streams, &part, &offsets, load->profile);
        }
        load->workers[0].shard.streams.refused += table->refused;
        lwp_stream_table_free(table);
    }
}

void load_ranks(struct load *load)
{
    if (lwp_ranks_count() == 1)
        return;
    load_join(load);
    lwp_ranks_reduce(load_take_rank, load_give_rank, load);
    if (!lwp_ranks_first()) {
        lwp_stream_table_free(&load->workers[0].shard.streams);
        lwp_shard_free(&load->workers[0].shard);
    }
    load->profile->contexts_refused = lwp_ranks_agree(load->profile->contexts_refused);
}
