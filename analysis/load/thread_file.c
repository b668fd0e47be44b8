/* One thread's file: its samples go into a batch (sample_batch.c), what was watched is added up at once. What is shared with
 * other threads is asked through a resolver, which keeps its answers. Limits: the samples of one file are read by one
 * thread. */
#include "analysis/load/thread_file.h"

#include "analysis/load/sample_batch.h"
#include "analysis/load/trace_replay.h"
#include "base/log.h"
#include "base/pages.h"

#include <sys/stat.h>

struct lwp_attribution {
    struct lwp_resolver *resolver;
    struct lwp_shard *shard;
    uint8_t weight_unit;
    struct lwp_file_locations places;
    struct lwp_data_attribution owners;
    struct lwp_batch batch;
    struct lwp_attributed *file;
    uint32_t number;
    const struct lwp_hierarchy_plan *machines;
    struct lwp_trace *trace; /* made when there is one */
    bool tracing;            /* it is this file's */
    const char *path;        /* of the file */
};

struct lwp_attribution *lwp_attribution_new(struct lwp_resolver *resolver, struct lwp_shard *shard, uint8_t weight_unit,
                                            const struct lwp_hierarchy_plan *machines)
{
    struct lwp_attribution *self = lwp_pages_alloc(sizeof *self);
    self->resolver = resolver;
    self->shard = shard;
    self->weight_unit = weight_unit;
    self->machines = machines;
    self->places.resolver = self->owners.resolver = resolver;
    self->owners.places = self->batch.places = &self->places;
    self->batch.owners = &self->owners;
    self->batch.shard = shard;
    return self;
}

void lwp_attribution_free(struct lwp_attribution *self)
{
    lwp_trace_free(self->trace);
    lwp_file_locations_free(&self->places);
    lwp_pages_free(self, sizeof *self);
}

/* ---- the file ---- */

static int attribution_file(void *to, const struct lwps_file *file)
{
    struct lwp_attribution *self = to;
    uint64_t seed = file->engine == LWPS_ENGINE_EXACT /* the same in every run */
                        ? self->number
                        : lwp_hash_mix(lwp_hash_mix(file->pid, file->tid), file->start_ns ^ file->start_wall_ns);
    self->file->lost_records = file->lost_records;
    lwp_batch_begin(&self->batch, seed);
    lwp_sample_windows_begin(&self->shard->windows, self->number, seed);
    if (file->weight_unit == self->weight_unit)
        return LWP_OK;
    self->file->other_unit = file->weight_unit;
    return LWP_ERR_LIMIT;
}

static int attribution_thread(void *to, const struct lwps_thread *record)
{
    struct lwp_attribution *self = to;
    self->owners.stack_low = record->stack_low;
    self->owners.stack_high = record->stack_high;
    lwp_interaction_begin(&self->shard->shared, lwp_address_map_number(self->owners.space), record);
    return 0;
}

static int attribution_context(void *to, const struct lwps_context *record)
{
    struct lwp_attribution *self = to;
    if (!lwp_file_locations_is_new(&self->places, record))
        lwp_batch_flush(&self->batch);
    lwp_file_locations_context(&self->places, record);
    return 0;
}

static int attribution_sample(void *to, const struct lwps_sample *sample)
{
    lwp_batch_add(&((struct lwp_attribution *)to)->batch, sample);
    return 0;
}

/* ---- watched accesses ---- */

static const uint8_t attribution_bits[LWP_WATCHPOINT_KINDS] = {
    LWPS_VERDICT_DEAD_STORE,  LWPS_VERDICT_SILENT_STORE, LWPS_VERDICT_SILENT_LOAD,
    LWPS_VERDICT_COMPUTATION, LWPS_VERDICT_REGISTER,     LWPS_VERDICT_SPATIAL};

static enum lwp_watchpoint_outcome attribution_outcome(const struct lwps_watch *record, enum lwp_watchpoint_kind kind)
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

static uint32_t attribution_access_context(struct lwp_attribution *self, const struct lwps_access *access,
                                           uint32_t context, uint64_t time)
{
    self->places.time = time;
    return lwp_resolver_call(self->resolver, lwp_file_locations_path(&self->places, context, LWP_PATH_CALLS),
                             lwp_resolver_spot(self->resolver, access->ip, time));
}

static void attribution_shared(struct lwp_attribution *self, const struct lwps_watch *record)
{
    uint64_t offset;
    if (lwp_interaction_is_trial(record)) {
        lwp_interaction_trial(&self->shard->shared, record);
        return;
    }
    uint32_t object = lwp_data_attribution_find(&self->owners, &record->second, record->end_time, &offset);
    lwp_interaction_use(&self->shard->shared, record, object, offset,
                   attribution_access_context(self, &record->second, record->second_context, record->end_time));
}

static int attribution_watch(void *to, const struct lwps_watch *record)
{
    struct lwp_attribution *self = to;
    uint64_t offset;
    if (self->file->other_unit)
        return 0;
    if (record->first_tid == 0) {
        lwp_interaction_candidate(&self->shard->shared, record);
        if (record->verdicts & LWPS_VERDICT_SHARING) /* a store that is only counted */
            return 0;
    }
    if (record->verdicts & LWPS_VERDICT_SHARING) {
        attribution_shared(self, record);
        if (record->end == LWPS_WATCH_DECIDED && record->overlap && record->second.flags & LWPS_ACCESS_LOAD &&
            record->first.flags & LWPS_ACCESS_STORE)
            lwp_watchpoint_read_elsewhere(&self->shard->watched,
                                       lwp_data_attribution_find(&self->owners, &record->second, record->end_time, &offset));
        return 0;
    }
    struct lwp_watchpoint_verdict verdict = {
        .first = attribution_access_context(self, &record->first, record->first_context, record->time),
        .second = LWP_NONE,
        .object = LWP_NONE,
        .address = record->first.address,
        .weight = record->weight,
        .count = 1,
        .bytes = record->first.bytes};
    if (record->second.ip) {
        verdict.second = attribution_access_context(self, &record->second, record->second_context, record->end_time);
        verdict.object = lwp_data_attribution_find(&self->owners, &record->first, record->time, &offset);
    }
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++) {
        if (!(record->verdicts & attribution_bits[kind]))
            continue;
        verdict.kind = (enum lwp_watchpoint_kind)kind;
        verdict.outcome = attribution_outcome(record, verdict.kind);
        if (verdict.outcome >= LWP_WATCHPOINT_USE && verdict.second == LWP_NONE) /* damage */
            verdict.outcome = LWP_WATCHPOINT_OPEN;
        lwp_watchpoint_add(&self->shard->watched, &verdict);
    }
    return 0;
}

static int attribution_candidates(void *to, const struct lwps_candidates *record)
{
    struct lwp_attribution *self = to;
    if (self->file->other_unit)
        return 0;
    lwp_interaction_candidates(&self->shard->shared, record);
    const struct lwps_access access = {.ip = record->ip};
    const uint32_t first = attribution_access_context(self, &access, record->context, record->time);
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++)
        if (record->verdicts & attribution_bits[kind])
            lwp_watchpoint_add(&self->shard->watched, &(struct lwp_watchpoint_verdict){.kind = (enum lwp_watchpoint_kind)kind,
                                                                                 .outcome = LWP_WATCHPOINT_OPEN,
                                                                                 .first = first,
                                                                                 .second = LWP_NONE,
                                                                                 .object = LWP_NONE,
                                                                                 .weight = record->weight,
                                                                                 .count = record->count});
    return 0;
}

/* Larger numbers are damage: sums must not wrap. */
static bool attribution_counts(const struct lwps_pair *record)
{
    return (record->use | record->waste | record->close | record->open | record->times | record->again) >> 56 == 0;
}

static int attribution_pair(void *to, const struct lwps_pair *record)
{
    struct lwp_attribution *self = to;
    uint64_t offset;
    if (self->file->other_unit || !attribution_counts(record))
        return 0;
    struct lwp_watchpoint_count count = {.first = attribution_access_context(self, &record->first, record->first_context,
                                                                          record->time),
                                      .second = attribution_access_context(self, &record->second,
                                                                           record->second_context, record->time),
                                      .object = LWP_NONE,
                                      .use = record->use,
                                      .waste = record->waste,
                                      .close = record->close,
                                      .open = record->open,
                                      .times = record->times,
                                      .again = record->again,
                                      .bytes = record->first.bytes};
    if (record->second.ip)
        count.object = lwp_data_attribution_find(&self->owners, &record->first, record->time, &offset);
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++) {
        count.kind = (enum lwp_watchpoint_kind)kind;
        if (record->verdict == attribution_bits[kind])
            lwp_watchpoint_count(&self->shard->watched, &count);
    }
    return 0;
}

static int attribution_registers(void *to, const struct lwps_registers *record)
{
    struct lwp_attribution *self = to;
    struct lwp_watchpoint_registers more = {record->bytes, record->same, record->close, record->instructions,
                                         record->of_instructions};
    bool sound = (record->bytes | record->same | record->close | record->instructions | record->of_instructions) >> 56 == 0 &&
                 record->same + record->close <= record->bytes && record->instructions <= record->of_instructions;
    if (sound && !self->file->other_unit)
        lwp_watchpoint_registers(&self->shard->watched, record->flags & LWPS_ACCESS_LOAD, record->flags & LWPS_ACCESS_FLOAT, &more);
    return 0;
}

static uint64_t attribution_bytes(const char *path)
{
    struct stat stat_of;
    return stat(path, &stat_of) || stat_of.st_size < 1 ? 1 : (uint64_t)stat_of.st_size;
}

static int attribution_trace(void *to, const struct lwps_trace *record)
{
    struct lwp_attribution *self = to;
    if (!self->trace)
        self->trace = lwp_trace_new(self->machines, self->resolver, &self->owners, &self->shard->locality);
    if (!self->tracing)
        lwp_trace_begin(self->trace, self->number, attribution_bytes(self->path));
    self->tracing = true;
    lwp_trace_chunk(self->trace, record);
    return 0;
}

/* ---- communication ---- */

static int attribution_flows(void *to, const struct lwps_flows *record)
{
    struct lwp_attribution *self = to;
    if (!self->file->other_unit)
        lwp_communication_counts_how(&self->shard->flows, record);
    return 0;
}

static int attribution_party(void *to, const struct lwps_party *record)
{
    struct lwp_attribution *self = to;
    if (!self->file->other_unit)
        lwp_communication_counts_party(&self->shard->flows, lwp_address_map_number(self->owners.space), record);
    return 0;
}

static uint32_t attribution_spot(struct lwp_attribution *self, uint64_t ip, uint64_t time)
{
    const struct lwp_location *spot = ip ? lwp_resolver_spot(self->resolver, ip, time) : NULL;
    return spot ? spot->id : LWP_NONE;
}

static int attribution_flow(void *to, const struct lwps_flow *record)
{
    struct lwp_attribution *self = to;
    if (!self->file->other_unit)
        lwp_communication_counts_flow(&self->shard->flows, lwp_address_map_number(self->owners.space),
                       attribution_spot(self, record->ip, record->time), record);
    return 0;
}

static int attribution_flow_distance(void *to, const struct lwps_flow_distance *record)
{
    struct lwp_attribution *self = to;
    if (!self->file->other_unit)
        lwp_communication_counts_distance(&self->shard->flows, attribution_spot(self, record->ip, record->time),
                           attribution_spot(self, record->before, record->time), record);
    return 0;
}

static int attribution_flow_pieces(void *to, const struct lwps_flow_pieces *record)
{
    struct lwp_attribution *self = to;
    if (!self->file->other_unit)
        lwp_communication_counts_pieces(&self->shard->flows, attribution_spot(self, record->ip, record->time), record);
    return 0;
}

static int attribution_position(void *to, uint64_t done, uint64_t all)
{
    const struct lwp_attribution *self = to;
    if (lwp_log_progress_due())
        lwp_log_progress("reading %s: %.0f %%", self->path, 100 * (double)done / (double)all);
    return 0;
}

int lwp_attribute(struct lwp_attribution *self, struct lwp_address_map *space, uint32_t number, const char *path,
                  struct lwp_attributed *file, struct lwps_damage *damage, struct lwp_error *err)
{
    static const struct lwps_visitor visitor = {.file = attribution_file,
                                                .thread = attribution_thread,
                                                .context = attribution_context,
                                                .watch = attribution_watch,
                                                .candidates = attribution_candidates,
                                                .pair = attribution_pair,
                                                .registers = attribution_registers,
                                                .trace = attribution_trace,
                                                .flows = attribution_flows,
                                                .party = attribution_party,
                                                .flow = attribution_flow,
                                                .flow_distance = attribution_flow_distance,
                                                .flow_pieces = attribution_flow_pieces,
                                                .sample = attribution_sample,
                                                .position = attribution_position};
    lwp_resolver_enter(self->resolver, space);
    lwp_file_locations_begin(&self->places);
    self->owners.space = space;
    self->owners.stack_low = self->owners.stack_high = 0;
    self->owners.last = (struct lwp_extent){0};
    self->number = number;
    self->path = path;
    self->tracing = false;
    self->file = file;
    *file = (struct lwp_attributed){0};
    lwp_watchpoint_begin(&self->shard->watched);
    int status = lwps_read(path, &visitor, self, damage, err);
    lwp_watchpoint_end(&self->shard->watched);
    lwp_batch_flush(&self->batch);
    lwp_sample_windows_end(&self->shard->windows);
    return file->other_unit ? LWP_OK : status;
}
