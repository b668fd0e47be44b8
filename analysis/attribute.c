/* The way of a sample: its instruction -> module, function, loop; each access's address -> object and offset; both ->
 * a stream of this thread's shard, where it is counted and forgotten. What is shared with other threads is asked
 * through a resolver, which keeps its answers; what depends on the file (its call paths) is kept here: a sample then
 * costs some table look-ups and a line or two of its stream. Limits: the samples of one file are read by one thread. */
#include "analysis/attribute.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONTEXTS_PER_THREAD_MAX = 1 << 22,
    CALLERS_MAX = 8,
    CALLERS_SEEN = 64,
    PATH_FRAMES = 1024,
    PLACES = 1 << 12,
    COMMONS = 1 << 12,
    WAITING = 128,
    SAMPLES = 16,
    PAGE = 4096
};

struct attribution_context {
    uint32_t parent;
    const struct lwp_spot *spot; /* NULL: a hole */
    uint32_t
        node[2]; /* of the whole path by its functions, by its calls (enum attribution_path); LWP_NONE: not made yet */
};

enum attribution_path { PATH_FUNCTIONS, PATH_CALLS };

/* An instruction below a call path: the path with its function, and the loop it counts for. */
struct attribution_site {
    uint32_t functions, part; /* functions LWP_NONE: not asked for yet */
};

/* What was found of an instruction below a call path, for the next sample there. */
struct attribution_place {
    uint64_t ip;
    uint32_t context, round; /* another round: of another file */
    const struct lwp_spot *spot;
    struct attribution_site site;
};

/* The context above two. */
struct attribution_common {
    uint32_t a, b, common; /* all 0: the root is above itself */
};

/* An access that is attributed and waits to be counted, until its stream has come from memory. */
struct attribution_access {
    struct lwp_stream_key key;
    struct lwp_stream_access access;
    uint64_t time, weight, distance;
    uint32_t functions, stream;
    int apart_from; /* the sample's first access, if that was on the same object; or -1 */
    bool weighted;
};

struct lwp_attribution {
    struct lwp_resolver *resolver;
    struct lwp_space *space;
    struct lwp_shard *shard;
    uint8_t weight_unit;

    struct attribution_context *contexts;
    size_t context_count, context_room;
    struct attribution_place places[PLACES];
    uint32_t round;
    struct attribution_common commons[COMMONS];

    struct lwp_attributed *file;
    uint64_t seed, counter;
    uint64_t stack_low, stack_high;
    struct lwp_extent last; /* the block of the access before */
    uint32_t number;

    struct lwps_sample samples[SAMPLES]; /* read and not yet attributed */
    int sample_count;
    struct attribution_access waiting[WAITING];
    int waiting_count;
};

struct lwp_attribution *lwp_attribution_new(struct lwp_resolver *resolver, struct lwp_shard *shard, uint8_t weight_unit)
{
    struct lwp_attribution *self = calloc(1, sizeof *self);
    if (!self)
        abort();
    self->resolver = resolver;
    self->shard = shard;
    self->weight_unit = weight_unit;
    return self;
}

void lwp_attribution_free(struct lwp_attribution *self)
{
    free(self->contexts);
    free(self);
}

/* ---- code ---- */

/* The path as functions (what the common context of an object is made of) or as calls. */
static uint32_t attribution_path(struct lwp_attribution *self, uint32_t context, enum attribution_path kind)
{
    if (context == 0 || context >= self->context_count)
        return 0;
    uint32_t path[PATH_FRAMES], at = context;
    size_t depth = 0;
    while (at && depth < PATH_FRAMES && self->contexts[at].node[kind] == LWP_NONE) {
        path[depth++] = at;
        at = self->contexts[at].parent;
    }
    uint32_t node = at && self->contexts[at].node[kind] != LWP_NONE ? self->contexts[at].node[kind] : 0;
    while (depth--) {
        struct attribution_context *frame = &self->contexts[path[depth]];
        if (frame->spot)
            node = kind == PATH_FUNCTIONS ? lwp_resolver_function(self->resolver, node, frame->spot)
                                          : lwp_resolver_call(self->resolver, node, frame->spot);
        frame->node[kind] = node;
    }
    return node;
}

/* Code outside of any loop belongs to the loop that calls it, unless it calls itself: then its body is the loop. */
static uint32_t attribution_calling_loop(const struct lwp_attribution *self, const struct lwp_spot *spot,
                                         uint32_t context)
{
    uint32_t found = spot->part, at = context;
    for (int i = 0; i < CALLERS_SEEN && at && at < self->context_count; i++, at = self->contexts[at].parent) {
        const struct lwp_spot *caller = self->contexts[at].spot;
        if (!caller)
            continue;
        if (caller->function_id == spot->function_id)
            return spot->part; /* recursion */
        if (i < CALLERS_MAX && found == spot->part && caller->is_loop)
            found = caller->part;
    }
    return found;
}

static inline struct attribution_place *attribution_place(struct lwp_attribution *self, uint32_t context, uint64_t ip,
                                                          uint64_t time)
{
    uint64_t hash = (ip ^ (uint64_t)context << 40) * 0x9e3779b97f4a7c15u;
    struct attribution_place *place = &self->places[(hash ^ hash >> 32) % PLACES];
    if (place->ip != ip || place->context != context || place->round != self->round)
        *place = (struct attribution_place){.ip = ip,
                                            .context = context,
                                            .round = self->round,
                                            .spot = lwp_resolver_spot(self->resolver, ip, time),
                                            .site = {.functions = LWP_NONE}};
    return place;
}

static void attribution_find_site(struct lwp_attribution *self, struct attribution_place *place)
{
    const struct lwp_spot *spot = place->spot;
    bool plain = spot->is_loop || place->context == 0 || spot->part == LWP_NONE;
    uint32_t path = attribution_path(self, place->context, PATH_FUNCTIONS);
    place->site =
        (struct attribution_site){.functions = lwp_resolver_function(self->resolver, path, spot),
                                  .part = plain ? spot->part : attribution_calling_loop(self, spot, place->context)};
}

static inline const struct attribution_site *attribution_site(struct lwp_attribution *self,
                                                              struct attribution_place *place)
{
    if (place->site.functions == LWP_NONE)
        attribution_find_site(self, place);
    return &place->site;
}

static inline uint32_t attribution_object(struct lwp_attribution *self, const struct lwps_access *access, uint64_t time,
                                          uint32_t hint, uint64_t *offset)
{
    *offset = access->address;
    if (!(access->flags & LWPS_ACCESS_KNOWN))
        return lwp_resolver_unknown(self->resolver);
    if (access->home == LWPS_HOME_ADDRESS && lwp_extent_holds(&self->last, access->address, time)) {
        *offset -= self->last.start;
        return self->last.object;
    }
    uint32_t object = LWP_NONE;
    if (access->home == LWPS_HOME_POOL) {
        object = lwp_space_pool_object(self->space, access->home_id);
        *offset = access->address - access->home_base;
    } else if (access->home == LWPS_HOME_STACK) {
        const struct lwp_spot *owner =
            access->home_id && access->home_id < self->context_count ? self->contexts[access->home_id].spot : NULL;
        if (!owner)
            return lwp_resolver_other_stack(self->resolver);
        return lwp_resolver_stack(self->resolver, owner, access->address - access->home_base, offset);
    } else {
        object = lwp_resolver_data(self->resolver, &self->last, hint, access->address, time, offset);
        if (object == LWP_NONE && access->address >= self->stack_low && access->address < self->stack_high)
            return lwp_resolver_other_stack(self->resolver);
    }
    return object == LWP_NONE ? lwp_resolver_unowned(self->resolver) : object;
}

/* ---- samples ---- */

static inline uint32_t attribution_common(struct lwp_attribution *self, uint32_t a, uint32_t b)
{
    struct attribution_common *known = &self->commons[(a * 0x9e3779b9u ^ b) % COMMONS];
    if (known->a != a || known->b != b)
        *known = (struct attribution_common){a, b, lwp_resolver_common(self->resolver, a, b)};
    return known->common;
}

static inline void attribution_count(struct lwp_attribution *self, struct attribution_access *access)
{
    struct lwp_stream_table *streams = &self->shard->streams;
    if (access->stream == LWP_NONE || !lwp_stream_is(&streams->counts[access->stream], &access->key))
        access->stream = lwp_stream_table_at(streams, &access->key);
    struct lwp_stream_count *count = &streams->counts[access->stream];
    lwp_stream_table_count(streams, access->stream, &access->access);
    if (count->common == LWP_NONE)
        count->common = access->functions;
    else if (count->common != access->functions && count->common)
        count->common = attribution_common(self, count->common, access->functions);
    if (access->time < count->first_ns)
        count->first_ns = access->time;
    if (access->time > count->last_ns)
        count->last_ns = access->time;
    if (access->weighted)
        lwp_sum_add(&streams->rests[access->stream].sum, access->weight);
    if (access->apart_from >= 0)
        lwp_stream_apart(&streams->rests[self->waiting[access->apart_from].stream], access->distance);
}

/* Counts the accesses that wait. */
static void attribution_flush(struct lwp_attribution *self)
{
    struct lwp_stream_table *streams = &self->shard->streams;
    for (int i = 0; i < self->waiting_count; i++) {
        struct attribution_access *access = &self->waiting[i];
        access->stream = lwp_stream_table_next(streams, &access->key, &access->access);
        uint32_t first = access->apart_from >= 0 ? self->waiting[access->apart_from].stream : LWP_NONE;
        if (first != LWP_NONE)
            __builtin_prefetch(&streams->rests[first].distances);
    }
    for (int i = 0; i < self->waiting_count; i++)
        if (self->waiting[i].stream != LWP_NONE)
            lwp_stream_table_expect(streams, self->waiting[i].stream, &self->waiting[i].access);
    for (int i = 0; i < self->waiting_count; i++)
        attribution_count(self, &self->waiting[i]);
    self->waiting_count = 0;
}

/* Among themselves these follow each other in the program without a gap. */
static bool attribution_follows(const struct lwps_access *access)
{
    return lwp_stream_is_fair(access->source, access->flags);
}

/* `hints`: of its first access to each page. */
static void attribution_sample(struct lwp_attribution *self, const struct lwps_sample *sample, const uint32_t *hints)
{
    struct lwp_shard *shard = self->shard;
    struct lwp_walk_access walk[LWPS_ACCESSES_MAX];
    uint32_t counts_for = LWP_NONE, object_before = LWP_NONE;
    uint64_t address_before = 0, time = lwp_space_time(self->space, sample->time);
    bool weighted = false, known = false;
    int walk_count = 0, first = -1;

    if (lwp_space_reuses_code(self->space)) /* an address may be another instruction by now */
        self->round++;
    const struct lwp_spot *spot = attribution_place(self, sample->context, sample->ip, sample->time)->spot;
    if (self->waiting_count + sample->access_count > WAITING)
        attribution_flush(self);
    for (int i = 0; i < sample->access_count; i++) {
        const struct lwps_access *access = &sample->access[i];
        bool is_known = access->flags & LWPS_ACCESS_KNOWN;
        bool is_weighted = (access->flags & LWPS_ACCESS_WEIGHTED) && !weighted;
        if (!is_weighted && !is_known)
            continue;
        struct attribution_place *place = attribution_place(self, sample->context, access->ip, sample->time);
        const struct lwp_spot *at = place->spot;
        /* The context is that of the interrupted function; an access the walk met elsewhere has another one. */
        struct attribution_site site =
            at->function_id == spot->function_id
                ? *attribution_site(self, place)
                : (struct attribution_site){attribution_path(self, sample->context, PATH_FUNCTIONS), at->part};
        struct attribution_access *to = &self->waiting[self->waiting_count];
        uint32_t object = attribution_object(self, access, sample->time, hints[i], &to->access.offset);
        lwp_stream_key(&to->key, object, site.part, at->id);
        lwp_stream_table_soon(&shard->streams, &to->key);
        to->access.rank = (uint32_t)lwp_hash_mix(self->seed, self->counter++);
        to->access.bytes = access->bytes;
        to->access.flags = access->flags;
        to->access.source = access->source;
        to->functions = site.functions;
        to->time = time;
        to->weight = sample->weight;
        to->weighted = is_weighted;
        to->apart_from = is_known && first >= 0 && object == object_before ? first : -1;
        to->distance =
            access->address > address_before ? access->address - address_before : address_before - access->address;
        if (is_known) {
            known = true;
            if (lwp_windows_wants(&shard->windows))
                walk[walk_count] = (struct lwp_walk_access){
                    .object = object,
                    .region = site.part,
                    .code = at->address,
                    .offset = to->access.offset,
                    .close = i > 0 && attribution_follows(&sample->access[i - 1]) && attribution_follows(access)};
            walk_count++;
        }
        if (i == 0) {
            first = self->waiting_count;
            object_before = object;
            address_before = access->address;
        }
        if (is_weighted) {
            weighted = true;
            counts_for = site.part;
        }
        self->waiting_count++;
    }
    lwp_windows_sample(&shard->windows, walk, walk_count, time);
    lwp_sum_add(&shard->total, sample->weight);
    lwp_shared_sample(&shard->shared, sample->time, sample->weight);
    if (weighted)
        lwp_sum_add(&shard->stalled, sample->weight);
    else if (sample->kind != LWPS_SAMPLE_COMPUTE)
        shard->unknown_weight += sample->weight;
    if (!weighted)
        counts_for = attribution_site(self, attribution_place(self, sample->context, sample->ip, sample->time))->part;
    if (counts_for != LWP_NONE)
        lwp_shard_part(shard, counts_for, sample->weight);
    shard->samples++;
    shard->samples_with_address += known;
}

/* Attributes the samples that wait. */
static void attribution_work(struct lwp_attribution *self)
{
    uint64_t addresses[SAMPLES * LWPS_ACCESSES_MAX + 1];
    uint32_t found[SAMPLES * LWPS_ACCESSES_MAX], hints[SAMPLES * LWPS_ACCESSES_MAX];
    size_t count = 0, all = 0;
    addresses[0] = 0;
    for (int s = 0; s < self->sample_count; s++) {
        uint64_t before = 0;
        for (int i = 0; i < self->samples[s].access_count; i++) {
            const struct lwps_access *access = &self->samples[s].access[i];
            bool first = access->flags & LWPS_ACCESS_KNOWN && access->home == LWPS_HOME_ADDRESS &&
                         (!before || (access->address ^ before) >= PAGE);
            addresses[count] = access->address;
            hints[all++] = first ? (uint32_t)count : LWP_NONE;
            before = first ? access->address : before;
            count += first;
        }
    }
    lwp_space_hints(self->space, addresses, count, found);
    for (size_t i = 0; i < all; i++)
        hints[i] = hints[i] == LWP_NONE ? LWP_NONE : found[hints[i]];
    all = 0;
    for (int s = 0; s < self->sample_count; s++) {
        attribution_sample(self, &self->samples[s], &hints[all]);
        all += self->samples[s].access_count;
    }
    self->sample_count = 0;
}

static int attribution_take(void *to, const struct lwps_sample *sample)
{
    struct lwp_attribution *self = to;
    struct lwps_sample *kept = &self->samples[self->sample_count++];
    size_t accesses = sample->access_count <= LWPS_ACCESSES_MAX ? sample->access_count : LWPS_ACCESSES_MAX;
    memcpy(kept, sample, offsetof(struct lwps_sample, access) + accesses * sizeof *sample->access);
    kept->access_count = (uint8_t)accesses;
    if (self->sample_count == SAMPLES)
        attribution_work(self);
    return 0;
}

/* ---- the file ---- */

static int attribution_file(void *to, const struct lwps_file *file)
{
    struct lwp_attribution *self = to;
    self->file->lost_records = file->lost_records;
    self->seed = file->engine == LWPS_ENGINE_EXACT /* the same in every run */
                     ? self->number
                     : lwp_hash_mix(lwp_hash_mix(file->pid, file->tid), file->start_ns ^ file->start_wall_ns);
    lwp_windows_begin(&self->shard->windows, self->number, self->seed);
    if (file->weight_unit == self->weight_unit)
        return LWP_OK;
    self->file->other_unit = file->weight_unit;
    return LWP_ERR_LIMIT;
}

static int attribution_thread(void *to, const struct lwps_thread *record)
{
    struct lwp_attribution *self = to;
    self->stack_low = record->stack_low;
    self->stack_high = record->stack_high;
    lwp_shared_begin(&self->shard->shared, lwp_space_number(self->space), record);
    return 0;
}

static int attribution_context(void *to, const struct lwps_context *record)
{
    struct lwp_attribution *self = to;
    if (record->id == 0 || record->id >= CONTEXTS_PER_THREAD_MAX)
        return 0;
    if (record->id < self->context_count) { /* damage: it is another one from here on */
        attribution_work(self);
        self->round++;
    }
    while (self->context_count <= record->id) {
        LWP_GROW(&self->contexts, self->context_count, &self->context_room);
        self->contexts[self->context_count++] = (struct attribution_context){.node = {LWP_NONE, LWP_NONE}};
    }
    self->contexts[record->id] = (struct attribution_context){
        .parent = record->parent < record->id ? record->parent : 0,
        .spot = lwp_resolver_spot(self->resolver, record->ip - 1, 0), /* the call is before it */
        .node = {LWP_NONE, LWP_NONE}};
    return 0;
}

/* ---- watched accesses ---- */

static const uint8_t attribution_bits[LWP_WATCHED_KINDS] = {LWPS_VERDICT_DEAD_STORE, LWPS_VERDICT_SILENT_STORE,
                                                            LWPS_VERDICT_SILENT_LOAD};

static enum lwp_watched_outcome attribution_outcome(const struct lwps_watch *record, enum lwp_watched_kind kind)
{
    switch (record->end) {
    case LWPS_WATCH_DECIDED:
        break;
    case LWPS_WATCH_MISPREDICTED:
        return LWP_WATCHED_VOID;
    case LWPS_WATCH_OVERWRITTEN:
    case LWPS_WATCH_FREED:
    case LWPS_WATCH_FRAME_DIED:
    case LWPS_WATCH_KERNEL:
    case LWPS_WATCH_FOREIGN:
        return LWP_WATCHED_DROPPED;
    default:
        return LWP_WATCHED_OPEN;
    }
    if (kind == LWP_WATCHED_DEAD_STORE)
        return record->second.flags & LWPS_ACCESS_LOAD ? LWP_WATCHED_USE : LWP_WATCHED_WASTE;
    switch (record->value) {
    case LWPS_VALUE_SAME:
        return LWP_WATCHED_WASTE;
    case LWPS_VALUE_CLOSE:
        return LWP_WATCHED_CLOSE;
    case LWPS_VALUE_OTHER:
        return LWP_WATCHED_USE;
    default:
        return LWP_WATCHED_OPEN;
    }
}

static uint32_t attribution_access_context(struct lwp_attribution *self, const struct lwps_access *access,
                                           uint32_t context, uint64_t time)
{
    return lwp_resolver_call(self->resolver, attribution_path(self, context, PATH_CALLS),
                             lwp_resolver_spot(self->resolver, access->ip, time));
}

static void attribution_shared(struct lwp_attribution *self, const struct lwps_watch *record)
{
    uint64_t offset;
    if (lwp_shared_is_trial(record)) {
        lwp_shared_trial(&self->shard->shared, record);
        return;
    }
    uint32_t object = attribution_object(self, &record->second, record->end_time, LWP_NONE, &offset);
    lwp_shared_use(&self->shard->shared, record, object, offset,
                   attribution_access_context(self, &record->second, record->second_context, record->end_time));
}

static int attribution_watch(void *to, const struct lwps_watch *record)
{
    struct lwp_attribution *self = to;
    uint64_t offset;
    if (self->file->other_unit)
        return 0;
    if (record->first_tid == 0) {
        lwp_shared_candidate(&self->shard->shared, record);
        if (record->verdicts & LWPS_VERDICT_SHARING) /* a store that is only counted */
            return 0;
    }
    if (record->verdicts & LWPS_VERDICT_SHARING) {
        attribution_shared(self, record);
        if (record->end == LWPS_WATCH_DECIDED && record->overlap && record->second.flags & LWPS_ACCESS_LOAD &&
            record->first.flags & LWPS_ACCESS_STORE)
            lwp_watched_read_elsewhere(&self->shard->watched,
                                       attribution_object(self, &record->second, record->end_time, LWP_NONE, &offset));
        return 0;
    }
    struct lwp_watched_verdict verdict = {
        .first = attribution_access_context(self, &record->first, record->first_context, record->time),
        .second = LWP_NONE,
        .object = LWP_NONE,
        .address = record->first.address,
        .weight = record->weight,
        .count = 1,
        .bytes = record->first.bytes};
    if (record->second.ip) {
        verdict.second = attribution_access_context(self, &record->second, record->second_context, record->end_time);
        verdict.object = attribution_object(self, &record->first, record->time, LWP_NONE, &offset);
    }
    for (unsigned kind = 0; kind < LWP_WATCHED_KINDS; kind++) {
        if (!(record->verdicts & attribution_bits[kind]))
            continue;
        verdict.kind = (enum lwp_watched_kind)kind;
        verdict.outcome = attribution_outcome(record, verdict.kind);
        if (verdict.outcome >= LWP_WATCHED_USE && verdict.second == LWP_NONE) /* damage */
            verdict.outcome = LWP_WATCHED_OPEN;
        lwp_watched_add(&self->shard->watched, &verdict);
    }
    return 0;
}

static int attribution_candidates(void *to, const struct lwps_candidates *record)
{
    struct lwp_attribution *self = to;
    if (self->file->other_unit)
        return 0;
    lwp_shared_candidates(&self->shard->shared, record);
    const struct lwps_access access = {.ip = record->ip};
    const uint32_t first = attribution_access_context(self, &access, record->context, record->time);
    for (unsigned kind = 0; kind < LWP_WATCHED_KINDS; kind++)
        if (record->verdicts & attribution_bits[kind])
            lwp_watched_add(&self->shard->watched, &(struct lwp_watched_verdict){.kind = (enum lwp_watched_kind)kind,
                                                                                 .outcome = LWP_WATCHED_OPEN,
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
    struct lwp_watched_count count = {.first = attribution_access_context(self, &record->first, record->first_context,
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
        count.object = attribution_object(self, &record->first, record->time, LWP_NONE, &offset);
    for (unsigned kind = 0; kind < LWP_WATCHED_KINDS; kind++) {
        count.kind = (enum lwp_watched_kind)kind;
        if (record->verdict == attribution_bits[kind])
            lwp_watched_count(&self->shard->watched, &count);
    }
    return 0;
}

int lwp_attribute(struct lwp_attribution *self, struct lwp_space *space, uint32_t number, const char *path,
                  struct lwp_attributed *file, struct lwps_damage *damage, struct lwp_error *err)
{
    static const struct lwps_visitor visitor = {.file = attribution_file,
                                                .thread = attribution_thread,
                                                .context = attribution_context,
                                                .watch = attribution_watch,
                                                .candidates = attribution_candidates,
                                                .pair = attribution_pair,
                                                .sample = attribution_take};
    self->space = space;
    lwp_resolver_enter(self->resolver, space);
    self->round++;
    self->context_count = 0;
    LWP_GROW(&self->contexts, self->context_count, &self->context_room);
    self->contexts[self->context_count++] = (struct attribution_context){.node = {0, 0}};
    self->stack_low = self->stack_high = self->counter = 0;
    self->last = (struct lwp_extent){0};
    self->number = number;
    self->file = file;
    *file = (struct lwp_attributed){0};
    lwp_watched_begin(&self->shard->watched);
    int status = lwps_read(path, &visitor, self, damage, err);
    attribution_work(self);
    attribution_flush(self);
    lwp_windows_end(&self->shard->windows);
    return file->other_unit ? LWP_OK : status;
}
