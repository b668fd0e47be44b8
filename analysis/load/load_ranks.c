/* What a rank has gathered from its part of the processes goes along a tree to the first rank. */
#include "analysis/load/load_internal.h"
#include "analysis/load/pack.h"
#include "analysis/ranks/ranks.h"

/* Totals and notes of the processes. */
static void load_pack_processes(struct load *load, struct lwp_pack *pack)
{
    size_t first = load->first, last = load->last, count = load->notes.count;
    LWP_PACK(pack, first);
    LWP_PACK(pack, last);
    pack->bad |= pack->unpacking && (first != load->last || last < first || last > load->inputs.count);
    for (size_t i = first; i < last && !pack->bad; i++) {
        struct load_process *process = &load->processes[i];
        LWP_PACK(pack, process->totals);
        LWP_PACK(pack, process->has_totals);
        LWP_PACK(pack, process->left_out);
        LWP_PACK(pack, process->lost);
        LWP_PACK(pack, process->summary->pid);
        lwp_pack_text(pack, &process->summary->command);
    }
    LWP_PACK(pack, count);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        struct load_note unpacked = {.number = 0}, *note = pack->unpacking ? &unpacked : &load->notes.items[i];
        const char *text = note->text;
        LWP_PACK(pack, note->number);
        LWP_PACK(pack, note->sequence);
        lwp_pack_text(pack, &text);
        if (pack->unpacking)
            load_note(&load->notes, note->number, note->sequence, "%s", text);
    }
    load->last = pack->bad ? load->last : last;
}

static void load_pack(struct load *load, struct lwp_pack *pack)
{
    lwp_pack_tables(pack);
    lwp_pack_shard(pack, &load->workers[0].shard);
    load_pack_processes(load, pack);
    load->mismatch |= pack->bad;
    lwp_pack_end(pack);
}

static void load_unpack(void *of, const void *bytes, size_t size)
{
    struct load *load = of;
    struct lwp_pack pack;
    lwp_unpack_begin(&pack, load->profile, bytes, size);
    load_pack(load, &pack);
}

static size_t load_pack_all(void *of, void **bytes)
{
    struct load *load = of;
    struct lwp_pack pack;
    lwp_pack_begin(&pack, load->profile);
    load_pack(load, &pack);
    *bytes = pack.bytes;
    return pack.size;
}

/* The streams of all threads here, into one table. */
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

int load_ranks(struct load *load, struct lwp_error *err)
{
    int status = LWP_OK;
    if (lwp_ranks_count() == 1)
        return status;
    load_join(load);
    lwp_ranks_reduce(load_unpack, load_pack_all, load);
    if (!lwp_ranks_first()) {
        lwp_stream_table_free(&load->workers[0].shard.streams);
        lwp_shard_free(&load->workers[0].shard);
    }
    load->profile->contexts_refused = lwp_ranks_agree(load->profile->contexts_refused);
    if (load->mismatch)
        status = lwp_error_set(err, LWP_ERR_SYSTEM,
                               "the ranks do not see the same: each needs this lwp, and all folders on a file system that all share");
    return lwp_ranks_status(status, err);
}
