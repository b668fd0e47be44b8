/* One thread's file: its samples go into a batch (sample_batch.c), all else is added up at once. What all reading threads share is
 * looked up through a resolver, which caches it. */
#include "analysis/load/load_internal.h"
#include "analysis/load/sample_batch.h"
#include "analysis/load/trace_replay.h"
#include "base/log.h"
#include "base/pages.h"

#include <sys/stat.h>

struct lwp_thread_reader {
    struct lwp_resolver *resolver;
    struct lwp_shard *shard;
    uint8_t weight_unit;
    struct lwp_file_locations locations;
    struct lwp_data_attribution attribution;
    struct lwp_batch batch;
    struct lwp_thread_file *file;
    uint32_t number;
    const struct lwp_hierarchy_plan *machines;
    struct lwp_trace *trace; /* made when there is one */
    bool tracing;            /* it is this file's */
    const char *path;        /* of the file */
};

struct lwp_thread_reader *lwp_thread_reader_new(struct lwp_resolver *resolver, struct lwp_shard *shard, uint8_t weight_unit,
                                                const struct lwp_hierarchy_plan *machines)
{
    struct lwp_thread_reader *reader = lwp_pages_alloc(sizeof *reader);
    reader->resolver = resolver;
    reader->shard = shard;
    reader->weight_unit = weight_unit;
    reader->machines = machines;
    reader->locations.resolver = reader->attribution.resolver = resolver;
    reader->attribution.locations = reader->batch.locations = &reader->locations;
    reader->batch.attribution = &reader->attribution;
    reader->batch.shard = shard;
    return reader;
}

void lwp_thread_reader_free(struct lwp_thread_reader *reader)
{
    lwp_trace_free(reader->trace);
    lwp_file_locations_free(&reader->locations);
    lwp_pages_free(reader, sizeof *reader);
}

/* ---- the file ---- */

static int reader_file(void *to, const struct lwps_file *file)
{
    struct lwp_thread_reader *reader = to;
    uint64_t seed = file->engine == LWPS_ENGINE_EXACT /* the same in every run */
                        ? reader->number
                        : lwp_hash_mix(lwp_hash_mix(file->pid, file->tid), file->start_ns ^ file->start_wall_ns);
    reader->file->lost_records = file->lost_records;
    lwp_batch_begin(&reader->batch, seed);
    lwp_sample_windows_begin(&reader->shard->windows, reader->number, seed);
    if (file->weight_unit == reader->weight_unit)
        return LWP_OK;
    reader->file->other_unit = file->weight_unit;
    return LWP_ERR_LIMIT; /* none of its records is read */
}

/* Where the stack ends: between it and the thread's pointer, in what was allocated for the stack, are thread-local variables. */
static uint64_t reader_stack_end(const struct lwp_address_map *map, const struct lwps_thread *record)
{
    const uint64_t variables = lwp_address_map_thread_locals(map), pointer = record->pointer;
    const bool inside = pointer > record->stack_low && pointer <= record->stack_high && pointer - record->stack_low > variables;
    return inside ? pointer - variables : record->stack_high;
}

static int reader_thread(void *to, const struct lwps_thread *record)
{
    struct lwp_thread_reader *reader = to;
    struct lwps_thread thread = *record;
    thread.stack_high = reader_stack_end(reader->attribution.map, record);
    reader->attribution.stack_low = thread.stack_low;
    reader->attribution.stack_high = thread.stack_high;
    reader->attribution.pointer = thread.pointer;
    lwp_interaction_begin(&reader->shard->interaction, lwp_address_map_number(reader->attribution.map), &thread);
    return 0;
}

static int reader_context(void *to, const struct lwps_context *record)
{
    struct lwp_thread_reader *reader = to;
    if (!lwp_file_locations_is_new(&reader->locations, record))
        lwp_batch_flush(&reader->batch);
    lwp_file_locations_context(&reader->locations, record);
    return 0;
}

static int reader_sample(void *to, const struct lwps_sample *sample)
{
    lwp_batch_add(&((struct lwp_thread_reader *)to)->batch, sample);
    return 0;
}

/* ---- watchpoints ---- */

static enum lwp_watchpoint_outcome reader_outcome(const struct lwps_watch *record, enum lwp_watchpoint_kind kind)
{
    switch (record->end) {
    case LWPS_WATCH_DECIDED:
        break;
    case LWPS_WATCH_MISPREDICTED:
        return LWP_WATCHPOINT_VOID;
    case LWPS_WATCH_OVERWRITTEN:
    case LWPS_WATCH_FREED:
    case LWPS_WATCH_FRAME_DIED:
    case LWPS_WATCH_KERNEL:
    case LWPS_WATCH_FOREIGN:
        return LWP_WATCHPOINT_DROPPED;
    default:
        return LWP_WATCHPOINT_OPEN;
    }
    if (kind == LWP_WATCHPOINT_DEAD_STORE)
        return record->second.flags & LWPS_ACCESS_LOAD ? LWP_WATCHPOINT_USE : LWP_WATCHPOINT_WASTE;
    switch (record->value) {
    case LWPS_VALUE_SAME:
        return LWP_WATCHPOINT_WASTE;
    case LWPS_VALUE_CLOSE:
        return LWP_WATCHPOINT_CLOSE;
    case LWPS_VALUE_OTHER:
        return LWP_WATCHPOINT_USE;
    default:
        return LWP_WATCHPOINT_OPEN;
    }
}

static uint32_t reader_access_context(struct lwp_thread_reader *reader, const struct lwps_access *access, uint32_t context, uint64_t time)
{
    reader->locations.time = time;
    return lwp_resolver_call(reader->resolver, lwp_file_locations_path(&reader->locations, context, LWP_PATH_CALLS),
                             lwp_resolver_location(reader->resolver, access->ip, time));
}

/* LWP_NONE: of no access. */
static uint32_t reader_access_location(struct lwp_thread_reader *reader, const struct lwps_access *access, uint64_t time)
{
    return access->ip ? lwp_resolver_location(reader->resolver, access->ip, time)->id : LWP_NONE;
}

static void reader_interaction(struct lwp_thread_reader *reader, const struct lwps_watch *record)
{
    uint64_t offset;
    if (lwp_interaction_is_trial(record)) {
        lwp_interaction_trial(&reader->shard->interaction, record, reader_access_location(reader, &record->first, record->time),
                              reader_access_location(reader, &record->second, record->end_time));
        return;
    }
    uint32_t object = lwp_data_attribution_find(&reader->attribution, &record->second, record->end_time, &offset);
    lwp_interaction_use(&reader->shard->interaction, record, object, offset,
                        reader_access_context(reader, &record->second, record->second_context, record->end_time));
}

static int reader_watch(void *to, const struct lwps_watch *record)
{
    struct lwp_thread_reader *reader = to;
    uint64_t offset;
    if (record->first_tid == 0) {
        lwp_interaction_candidate(&reader->shard->interaction, record, reader_access_location(reader, &record->first, record->time));
        if (record->verdicts & LWPS_VERDICT_SHARING) /* a store that is only counted */
            return 0;
    }
    if (record->verdicts & LWPS_VERDICT_SHARING) {
        reader_interaction(reader, record);
        if (record->end == LWPS_WATCH_DECIDED && record->overlap && record->second.flags & LWPS_ACCESS_LOAD &&
            record->first.flags & LWPS_ACCESS_STORE)
            lwp_watchpoint_read_elsewhere(&reader->shard->watchpoints,
                                          lwp_data_attribution_find(&reader->attribution, &record->second, record->end_time, &offset));
        return 0;
    }
    struct lwp_watchpoint_verdict verdict = {.first = reader_access_context(reader, &record->first, record->first_context, record->time),
                                             .second = LWP_NONE,
                                             .object = LWP_NONE,
                                             .address = record->first.address,
                                             .weight = record->weight,
                                             .count = 1,
                                             .bytes = record->first.bytes,
                                             .ns = record->watched_ns,
                                             .own_ns = record->end_time - record->time - record->watched_ns};
    if (record->second.ip) {
        verdict.second = reader_access_context(reader, &record->second, record->second_context, record->end_time);
        verdict.object = lwp_data_attribution_find(&reader->attribution, &record->first, record->time, &offset);
    }
    for (unsigned kind = 0; kind < LWP_REDUNDANCY_SAMPLED; kind++) {
        if (!(record->verdicts & lwp_redundancy_rows[kind].verdict))
            continue;
        verdict.kind = (enum lwp_watchpoint_kind)kind;
        verdict.outcome = reader_outcome(record, verdict.kind);
        if (verdict.outcome >= LWP_WATCHPOINT_USE && verdict.second == LWP_NONE) /* damage */
            verdict.outcome = LWP_WATCHPOINT_OPEN;
        lwp_watchpoint_add(&reader->shard->watchpoints, &verdict);
    }
    return 0;
}

static int reader_candidates(void *to, const struct lwps_candidates *record)
{
    struct lwp_thread_reader *reader = to;
    reader->shard->interaction.candidates += record->count;
    const struct lwps_access access = {.ip = record->ip};
    struct lwp_watchpoint_verdict verdict = {
        .outcome = LWP_WATCHPOINT_OPEN, .second = LWP_NONE, .object = LWP_NONE, .weight = record->weight, .count = record->count};
    verdict.first = reader_access_context(reader, &access, record->context, record->time);
    for (unsigned kind = 0; kind < LWP_REDUNDANCY_SAMPLED; kind++) {
        verdict.kind = (enum lwp_watchpoint_kind)kind;
        if (record->verdicts & lwp_redundancy_rows[kind].verdict)
            lwp_watchpoint_add(&reader->shard->watchpoints, &verdict);
    }
    return 0;
}

/* Larger numbers are damage: sums must not wrap. */
static bool reader_counts(const struct lwps_pair *record)
{
    return (record->use | record->waste | record->close | record->open | record->times | record->again) >> 56 == 0;
}

static int reader_pair(void *to, const struct lwps_pair *record)
{
    struct lwp_thread_reader *reader = to;
    uint64_t offset;
    if (!reader_counts(record))
        return 0;
    struct lwp_watchpoint_count count = {.first = reader_access_context(reader, &record->first, record->first_context, record->time),
                                         .second = reader_access_context(reader, &record->second, record->second_context, record->time),
                                         .object = LWP_NONE, .use = record->use, .waste = record->waste,
                                         .close = record->close, .open = record->open, .times = record->times,
                                         .again = record->again, .bytes = record->first.bytes};
    if (record->second.ip)
        count.object = lwp_data_attribution_find(&reader->attribution, &record->first, record->time, &offset);
    if (record->verdict == LWPS_VERDICT_SPATIAL) { /* numbers about the same are one value, too */
        count.waste += count.close;
        count.close = 0;
    }
    if (record->verdict == LWPS_VERDICT_SILENT_STORE)
        lwp_watchpoint_stored(&reader->shard->watchpoints, record->second.flags & LWPS_ACCESS_FLOAT,
                              &(struct lwp_watchpoint_registers){.bytes = record->use + record->waste + record->close,
                                                                 .same = record->waste, .close = record->close});
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++) {
        count.kind = (enum lwp_watchpoint_kind)kind;
        if (record->verdict == lwp_redundancy_rows[kind].verdict)
            lwp_watchpoint_count(&reader->shard->watchpoints, &count);
    }
    return 0;
}

static int reader_registers(void *to, const struct lwps_registers *record)
{
    struct lwp_thread_reader *reader = to;
    struct lwp_watchpoint_registers more = {record->bytes, record->same, record->close, record->instructions, record->of_instructions};
    bool sound = (record->bytes | record->same | record->close | record->instructions | record->of_instructions) >> 56 == 0 &&
                 record->same + record->close <= record->bytes && record->instructions <= record->of_instructions;
    if (sound)
        lwp_watchpoint_registers(&reader->shard->watchpoints, record->flags & LWPS_ACCESS_LOAD, record->flags & LWPS_ACCESS_FLOAT, &more);
    return 0;
}

static int reader_contribution(void *to, const struct lwps_contribution *record)
{
    struct lwp_thread_reader *reader = to;
    if ((record->all | record->waste | record->close) >> 56 != 0)
        return 0;
    struct lwp_watchpoint_contribution more = {
        .moves = record->moves, .thread = record->thread, .all = record->all, .waste = record->waste, .close = record->close};
    for (; more.kind < LWP_WATCHPOINT_KINDS; more.kind++)
        if (record->verdict == lwp_redundancy_rows[more.kind].verdict)
            lwp_watchpoint_contribute(&reader->shard->watchpoints, &more);
    return 0;
}

static uint64_t reader_bytes(const char *path)
{
    struct stat stat_of;
    return stat(path, &stat_of) || stat_of.st_size < 1 ? 1 : (uint64_t)stat_of.st_size;
}

static int reader_trace(void *to, const struct lwps_trace *record)
{
    struct lwp_thread_reader *reader = to;
    if (!reader->trace)
        reader->trace =
            lwp_trace_new(reader->machines, reader->resolver, &reader->attribution, &reader->shard->locality, &reader->shard->interaction);
    if (!reader->tracing)
        lwp_trace_begin(reader->trace, reader->number, reader_bytes(reader->path));
    reader->tracing = true;
    lwp_trace_chunk(reader->trace, record);
    return 0;
}

/* ---- communication ---- */

static int reader_flows(void *to, const struct lwps_flows *record)
{
    struct lwp_thread_reader *reader = to;
    lwp_communication_counts_how(&reader->shard->communication, record);
    return 0;
}

static int reader_party(void *to, const struct lwps_party *record)
{
    struct lwp_thread_reader *reader = to;
    lwp_communication_counts_party(&reader->shard->communication, lwp_address_map_number(reader->attribution.map), record);
    return 0;
}

static uint32_t reader_location(struct lwp_thread_reader *reader, uint64_t ip, uint64_t time)
{
    const struct lwp_location *location = ip ? lwp_resolver_location(reader->resolver, ip, time) : NULL;
    return location ? location->id : LWP_NONE;
}

static int reader_flow(void *to, const struct lwps_flow *record)
{
    struct lwp_thread_reader *reader = to;
    lwp_communication_counts_flow(&reader->shard->communication, lwp_address_map_number(reader->attribution.map),
                                  reader_location(reader, record->ip, record->time), record);
    return 0;
}

static int reader_flow_distance(void *to, const struct lwps_flow_distance *record)
{
    struct lwp_thread_reader *reader = to;
    lwp_communication_counts_distance(&reader->shard->communication, reader_location(reader, record->ip, record->time),
                                      reader_location(reader, record->before, record->time), record);
    return 0;
}

static int reader_flow_pieces(void *to, const struct lwps_flow_pieces *record)
{
    struct lwp_thread_reader *reader = to;
    lwp_communication_counts_pieces(&reader->shard->communication, reader_location(reader, record->ip, record->time), record);
    return 0;
}

static int reader_position(void *to, uint64_t done, uint64_t all)
{
    const struct lwp_thread_reader *reader = to;
    if (lwp_log_progress_due())
        lwp_log_progress("reading %s: %.0f %%", reader->path, 100 * (double)done / (double)all);
    return 0;
}

int lwp_thread_reader_read(struct lwp_thread_reader *reader, struct lwp_address_map *map, uint32_t number, const char *path,
                           struct lwp_thread_file *file, struct lwps_damage *damage, struct lwp_error *err)
{
    static const struct lwps_visitor visitor = {.file = reader_file,
                                                .thread = reader_thread,
                                                .context = reader_context,
                                                .watch = reader_watch,
                                                .candidates = reader_candidates,
                                                .pair = reader_pair,
                                                .registers = reader_registers,
                                                .contribution = reader_contribution,
                                                .trace = reader_trace,
                                                .flows = reader_flows,
                                                .party = reader_party,
                                                .flow = reader_flow,
                                                .flow_distance = reader_flow_distance,
                                                .flow_pieces = reader_flow_pieces,
                                                .sample = reader_sample,
                                                .position = reader_position};
    lwp_resolver_enter(reader->resolver, map);
    lwp_file_locations_begin(&reader->locations);
    reader->attribution.map = map;
    reader->attribution.stack_low = reader->attribution.stack_high = reader->attribution.pointer = 0;
    reader->attribution.last = (struct lwp_extent){0};
    reader->number = number;
    reader->path = path;
    reader->tracing = false;
    reader->file = file;
    *file = (struct lwp_thread_file){0};
    lwp_watchpoint_begin(&reader->shard->watchpoints);
    int status = lwps_read(path, &visitor, reader, damage, err);
    lwp_watchpoint_end(&reader->shard->watchpoints);
    lwp_batch_flush(&reader->batch);
    lwp_sample_windows_end(&reader->shard->windows);
    return file->other_unit ? LWP_OK : status;
}
