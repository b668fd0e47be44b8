/* Replays the trace through the models. Reuse distances and strides are counted within a window only, since what happened between
 * two windows is unknown; the caches keep their contents. A stride is that of one instruction on one object in one thread (MACPO
 * takes all accesses to a structure together, where a loop that reads a row and the next one jumps to and fro).
 * A strided run is a sequence of accesses of one instruction with equal strides; the distance between the starts of two runs is
 * the stride of the outer loop. */
#include "analysis/load/trace_replay.h"
#include "base/order.h"

#include "analysis/caches/distance_counts.h"
#include "analysis/caches/line_rounds.h"
#include "analysis/caches/reuse_distance.h"
#include "analysis/caches/tlb.h"
#include "analysis/statistics/heavy_hitters.h"
#include "base/pages.h"
#include "format/trace_decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_LEAST = 3 /* equal steps */, WINDOW_NONE = 0, STREAM_LINES = 2, STREAMS_MOST = 1024, SAMPLED = 1 << 16, SAMPLED_OF = 32 };

/* Of an instruction in the trace. */
struct trace_site {
    const struct lwp_location *location;
    struct lwp_extent extent;         /* of its last object */
    uint32_t pool, pool_object;       /* pool 0: none */
    uint32_t object, counts, hitters; /* of the last access; counts, hitters: indexes */
    uint32_t window, thread;          /* in which what follows was so */
    uint64_t last, run;               /* last address; where the traversal began: its loop, or else the strided run */
    int64_t step;
    uint32_t steps;  /* equal ones so far */
    uint32_t rounds; /* of the loop, since it was entered; 0: that was not seen */
    uint64_t time;   /* of the last access, as in struct trace_part */
    uint32_t chunk; /* the last one with an access */
};

/* The last access of a loop, or of the rest of a function, without those of loops in it. */
struct trace_part {
    uint64_t time; /* accesses before it, in the file */
    uint32_t thread;
};

/* The last use of a line in a window; of one line in SAMPLED_OF. */
struct trace_line {
    uint64_t line;
    uint32_t part, window; /* window: counted over all files */
};

/* Frequent values in the file, of an object and a part. */
struct trace_hitters {
    uint32_t counts; /* index */
    struct lwp_heavy_hitters of[LWP_LOCALITY_HITTERS];
    struct lwp_distance_counts distances;
};

struct lwp_trace {
    const struct lwp_hierarchy_plan *machines;
    struct lwp_resolver *resolver;
    struct lwp_data_attribution *attribution;
    struct lwp_locality_counts *counts;
    struct lwp_thread_interaction *interaction;
    struct lwps_trace_decoder *decoder;
    struct lwps_traced_all *all;
    struct trace_site *sites; /* one per instruction, which may be in several superblocks, and several times in an unrolled one */
    size_t site_count, site_room;
    struct lwp_map site_index; /* by ip */
    struct trace_hitters *hitters;
    size_t hitters_count, hitters_room;
    struct lwp_map hitters_index; /* by index of counts */
    uint32_t *site_of;              /* of each site of the decoder */
    struct trace_part *parts;       /* by part */
    size_t part_count, part_room;
    uint64_t time;
    size_t of_count, of_room;
    struct lwp_reuse_cores cores;
    struct lwp_rounds rounds;
    uint64_t record_time; /* of the turn that runs */
    uint32_t process;
    struct lwp_hierarchy here, elsewhere;
    struct lwp_first_touch touch;
    uint32_t *tids; /* of threads, in the order they were met */
    size_t thread_count, thread_room;
    uint32_t window, chunk;
    bool damaged;                 /* the window, in part */
    uint32_t l1_lines, own_lines; /* own: of the second level, or of the only one */
    struct lwp_tlb translation;
    struct trace_line *sampled; /* by hash; window 0: none */
    unsigned line_shift;
};

struct lwp_trace *lwp_trace_new(const struct lwp_hierarchy_plan *machines, struct lwp_resolver *resolver,
                                struct lwp_data_attribution *attribution, struct lwp_locality_counts *counts,
                                struct lwp_thread_interaction *interaction)
{
    struct lwp_trace *trace = lwp_zeroed(sizeof *trace, 1);
    trace->all = lwp_zeroed(sizeof *trace->all, 1);
    trace->sampled = lwp_zeroed(SAMPLED, sizeof *trace->sampled);
    trace->machines = machines;
    trace->resolver = resolver;
    trace->attribution = attribution;
    trace->counts = counts;
    trace->interaction = interaction;
    trace->decoder = lwps_trace_decoder_new();
    return trace;
}

static void trace_touched(struct lwp_trace *trace)
{
    struct lwp_locality_counts *counts = trace->counts;
    for (size_t i = 0; i < trace->touch.count; i++)
        LWP_APPEND(&counts->touched, &counts->touched_count, &counts->touched_room, lwp_first_touch_page(&trace->touch, i));
}

/* A line that threads use side by side: conflicts of their stores (MACPO 5.4) for the loops, and false sharing. */
static void trace_shared_line(void *to, const struct lwp_round_line *line)
{
    struct lwp_trace *trace = to;
    for (uint32_t i = 0; i < line->count; i++) {
        const struct lwp_round_part *part = &line->part[i];
        struct lwp_round_conflicts conflicts = lwp_round_conflicts(line, part);
        struct lwp_locality_count *count = &trace->counts->items[part->what];
        uint64_t hits = (uint64_t)llround(lwp_round_false(line, part)), bytes = part->loaded | part->stored, offset;
        count->taken += (uint64_t)llround(conflicts.mean * LWP_LOCALITY_TAKEN);
        count->taken_least += (uint64_t)llround(conflicts.least * LWP_LOCALITY_TAKEN);
        count->taken_most += (uint64_t)llround(conflicts.most * LWP_LOCALITY_TAKEN);
        if (!hits)
            continue;
        uint64_t address = line->line * LWP_INTERACTION_LINE + (unsigned)__builtin_ctzll(bytes);
        const struct lwps_access access = {.address = address, .flags = LWPS_ACCESS_KNOWN, .home = LWPS_HOME_ADDRESS};
        uint32_t object = lwp_data_attribution_find(trace->attribution, &access, trace->record_time, &offset);
        lwp_interaction_counted(trace->interaction,
                                &(struct lwp_interaction_use){.process = trace->process,
                                                              .tid = trace->tids[part->thread],
                                                              .line = line->line,
                                                              .object = object,
                                                              .offset = (int64_t)offset - (int64_t)(address % LWP_INTERACTION_LINE),
                                                              .loaded = part->loaded,
                                                              .stored = part->stored},
                                hits, hits * LWP_CACHE_L3_CYCLES);
    }
}

static uint32_t trace_hitters_at(struct lwp_trace *trace, uint32_t counts)
{
    uint32_t *at = lwp_map_at(&trace->hitters_index, counts);
    if (lwp_number_new(at, trace->hitters_count))
        LWP_APPEND(&trace->hitters, &trace->hitters_count, &trace->hitters_room, (struct trace_hitters){.counts = counts});
    return *at;
}

static void trace_distances_flush(struct lwp_trace *trace, struct trace_hitters *hitters)
{
    struct lwp_locality_count *count = &trace->counts->items[hitters->counts];
    for (unsigned page = 0; page < LWP_DISTANCE_PAGES; page++)
        for (unsigned i = 0; i < LWP_DISTANCE_PAGE && hitters->distances.pages[page]; i++) {
            const struct lwp_distance_count *of = &hitters->distances.pages[page][i];
            count->values[LWP_LOCALITY_DISTANCE] += of->count;
            if (of->count)
                lwp_locality_values_add(&trace->counts->values, &(struct lwp_locality_value){count->object, count->part,
                                                                                             LWP_LOCALITY_DISTANCE, of->most, of->count});
        }
    lwp_distance_counts_free(&hitters->distances);
}

static void trace_rounds_end(struct lwp_trace *trace)
{
    lwp_rounds_end(&trace->rounds, trace_shared_line, trace);
    lwp_rounds_free(&trace->rounds);
}

/* At the end of a file. */
static void trace_hitters_flush(struct lwp_trace *trace)
{
    for (size_t i = 0; i < trace->hitters_count; i++) {
        struct lwp_locality_count *count = &trace->counts->items[trace->hitters[i].counts];
        trace_distances_flush(trace, &trace->hitters[i]);
        for (unsigned of = 0; of < LWP_LOCALITY_HITTERS; of++) {
            const struct lwp_heavy_hitters *hitters = &trace->hitters[i].of[of];
            count->values[of] += hitters->all;
            for (size_t k = 0; k < LWP_HEAVY_HITTERS; k++)
                if (hitters->count[k])
                    lwp_locality_values_add(&trace->counts->values, &(struct lwp_locality_value){count->object, count->part, of,
                                                                                                 hitters->value[k], hitters->count[k]});
        }
    }
    trace->hitters_count = 0;
    lwp_map_clear(&trace->hitters_index);
}

void lwp_trace_free(struct lwp_trace *trace)
{
    if (!trace)
        return;
    lwps_trace_decoder_free(trace->decoder);
    trace_hitters_flush(trace);
    lwp_map_fini(&trace->hitters_index);
    free(trace->hitters);
    trace_touched(trace);
    lwp_first_touch_free(&trace->touch);
    lwp_reuse_cores_free(&trace->cores);
    trace_rounds_end(trace);
    lwp_hierarchy_free(&trace->here);
    lwp_hierarchy_free(&trace->elsewhere);
    lwp_map_fini(&trace->site_index);
    free(trace->site_of);
    free(trace->parts);
    free(trace->sites);
    lwp_tlb_free(&trace->translation);
    free(trace->sampled);
    free(trace->tids);
    free(trace->all);
    free(trace);
}

void lwp_trace_begin(struct lwp_trace *trace, uint32_t file, uint64_t bytes)
{
    lwps_trace_decoder_begin(trace->decoder);
    lwp_reuse_cores_free(&trace->cores);
    trace_rounds_end(trace);
    lwp_hierarchy_free(&trace->here);
    lwp_hierarchy_free(&trace->elsewhere);
    trace->here = (struct lwp_hierarchy){.plan = trace->machines[LWP_MACHINE_HERE]};
    trace->elsewhere = (struct lwp_hierarchy){.plan = trace->machines[LWP_MACHINE_ELSEWHERE]};
    const struct lwp_cache *caches = &trace->machines[LWP_MACHINE_HERE].caches;
    trace->line_shift = caches->line_shift;
    trace->l1_lines = (uint32_t)(caches->level[0].bytes >> caches->line_shift);
    const struct lwp_cache_level *own = &caches->level[caches->levels > 1];
    trace->own_lines = (uint32_t)(own->bytes >> caches->line_shift);
    lwp_tlb_free(&trace->translation);
    lwp_map_clear(&trace->site_index);
    trace->site_count = trace->of_count = trace->thread_count = 0;
    trace->part_count = 0;
    trace->time = 0;
    trace->window = WINDOW_NONE;
    trace->process = lwp_address_map_number(trace->attribution->map);
    lwp_trace_sample_begin(&trace->counts->kept, file, bytes);
    trace_hitters_flush(trace);
    trace_touched(trace);
    lwp_first_touch_begin(&trace->touch, trace->machines);
}

static unsigned trace_thread(struct lwp_trace *trace, uint32_t tid)
{
    for (size_t i = 0; i < trace->thread_count; i++)
        if (trace->tids[i] == tid)
            return (unsigned)i;
    return (unsigned)(LWP_APPEND(&trace->tids, &trace->thread_count, &trace->thread_room, tid) - trace->tids);
}

static void trace_sites(struct lwp_trace *trace)
{
    for (uint32_t all = lwps_trace_decoder_sites(trace->decoder); trace->of_count < all;) {
        const struct lwps_trace_site *decoded = lwps_trace_decoder_site(trace->decoder, (uint32_t)trace->of_count);
        uint32_t *site = lwp_map_at(&trace->site_index, decoded->ip);
        if (lwp_number_new(site, trace->site_count))
            LWP_PUSH(trace->site, (struct trace_site){0});
        LWP_APPEND(&trace->site_of, &trace->of_count, &trace->of_room, *site);
    }
}

static uint32_t trace_object(struct lwp_trace *trace, struct trace_site *site, const struct lwps_trace_place *place, uint64_t time)
{
    uint64_t offset;
    if (place->home == LWPS_HOME_POOL && place->home_id == site->pool)
        return site->pool_object;
    if (place->home == LWPS_HOME_ADDRESS && lwp_extent_holds(&site->extent, place->address, time))
        return site->extent.object;
    const struct lwps_access access = {.address = place->address, .flags = LWPS_ACCESS_KNOWN, .home = place->home,
                                       .home_id = place->home_id, .home_base = place->home_base};
    uint32_t object = lwp_data_attribution_find(trace->attribution, &access, time, &offset);
    if (place->home == LWPS_HOME_POOL) {
        site->pool = place->home_id;
        site->pool_object = object;
    } else if (place->home == LWPS_HOME_ADDRESS && lwp_extent_holds(&trace->attribution->last, place->address, time)) {
        site->extent = trace->attribution->last;
    }
    return object;
}

static void trace_keep(struct lwp_trace *trace, const struct trace_site *site, const struct lwps_trace_place *place, uint32_t object,
                       unsigned thread, unsigned bytes)
{
    bool pool = place->home == LWPS_HOME_POOL, block = place->home == LWPS_HOME_ADDRESS && site->extent.object == object;
    uint64_t offset = place->address - (pool ? place->home_base : site->extent.start);
    lwp_trace_sample_add(&trace->counts->kept, &(struct lwp_trace_sample_access){
                                                   .address = place->address, .bytes = bytes < 255 ? bytes : 255,
                                                   .thread = thread, .object = object,
                                                   .offset = (pool || block) && offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX});
}

/* Notes the access. Returns whether the instruction's loop was left and entered since its last one: what is around has accessed
 * something. */
static bool trace_enters(struct lwp_trace *trace, struct trace_site *site, unsigned thread)
{
    const struct lwp_location *at = site->location;
    const struct trace_part *around = at->around < trace->part_count ? &trace->parts[at->around] : NULL;
    const bool enters = around && around->thread == thread && around->time > site->time;
    site->time = ++trace->time;
    if (at->part != LWP_NONE) {
        while (trace->part_count <= at->part)
            LWP_APPEND(&trace->parts, &trace->part_count, &trace->part_room, (struct trace_part){0});
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): those of a count
        trace->parts[at->part] = (struct trace_part){trace->time, thread};
    }
    return enters;
}

/* A traversal ends. */
static void trace_turns(struct trace_site *site, struct lwp_heavy_hitters *hitters, uint64_t address, uint32_t rounds)
{
    lwp_heavy_hitters_add(&hitters[LWP_LOCALITY_OUTER], (int64_t)(address - site->run), rounds);
    site->run = address;
    site->steps = 0;
}

/* The stride from the instruction's last access. Where its loop is seen to be entered, that is where a traversal begins, not a stride
 * that differs: rows that were allocated one by one need not be evenly apart. Elsewhere, what goes on from row to row in one
 * direction is one traversal. */
static void trace_stride(struct trace_site *site, struct lwp_locality_count *count, struct lwp_heavy_hitters *hitters, uint64_t address,
                         unsigned line_shift, bool enters)
{
    int64_t step = (int64_t)(address - site->last);
    uint64_t from = site->last >> line_shift, to = address >> line_shift;
    lwp_heavy_hitters_add(&hitters[LWP_LOCALITY_STRIDE], step, 1);
    count->lines[lwp_locality_bucket(to > from ? to - from : from - to)]++;
    if (enters) {
        if (site->rounds > RUN_LEAST)
            trace_turns(site, hitters, address, site->rounds);
        site->run = address;
        site->steps = 0;
        site->rounds = 1;
        site->last = address;
        return;
    }
    site->rounds += site->rounds > 0;
    if (!step)
        return;
    const int64_t line = (int64_t)1 << line_shift;
    const bool onward = step > 0 ? step > line && site->step > line : step < -line && site->step < -line;
    if (step == site->step) {
        site->steps++;
    } else if (site->rounds) {
        site->step = step;
        site->steps = 1;
    } else if (onward) {
        site->step = site->steps < RUN_LEAST ? step : site->step;
        site->steps++;
    } else if (site->steps >= RUN_LEAST) {
        trace_turns(site, hitters, address, site->steps + 1);
    } else {
        site->step = step;
        site->run = site->last;
        site->steps = 1;
    }
    site->last = address;
}

static void trace_began(struct lwp_trace *trace, struct trace_site *site, unsigned thread, uint64_t address)
{
    site->window = trace->window;
    site->thread = thread;
    site->last = address;
    site->step = 0;
    site->steps = site->rounds = 0;
}

static void trace_found(struct lwp_hierarchy *hierarchy, unsigned thread, uint64_t address, unsigned bytes,
                        struct lwp_locality_found *found, uint8_t *where)
{
    found->cycles += lwp_hierarchy_access(hierarchy, thread, address, bytes, where);
    found->at[*where]++;
}

/* Notes which part used the line before, if it is reused beyond the caches of a core. */
static void trace_before(struct lwp_trace *trace, uint32_t part, struct lwp_heavy_hitters *hitters, uint64_t line, struct lwp_reused reused)
{
    uint64_t hash = line * 0x9e3779b97f4a7c15u;
    if (hash >> 32 & (SAMPLED_OF - 1))
        return;
    struct trace_line *last = &trace->sampled[hash >> 48];
    uint32_t window = (uint32_t)trace->counts->windows;
    if (last->line == line && last->window == window && reused.distance != LWP_REUSE_FIRST && !reused.restarted &&
        reused.distance >= trace->own_lines)
        lwp_heavy_hitters_add(&hitters[LWP_LOCALITY_BEFORE], last->part, 1);
    *last = (struct trace_line){line, part, window};
}

static void trace_access(struct lwp_trace *trace, unsigned thread, const struct lwps_traced *traced, uint64_t time)
{
    const struct lwps_trace_site *decoded = lwps_trace_decoder_site(trace->decoder, traced->site);
    struct trace_site *site = &trace->sites[trace->site_of[traced->site]];
    uint64_t address = traced->place.address;
    unsigned bytes = decoded->bytes ? decoded->bytes : 1, shift = trace->line_shift;
    site->chunk = trace->chunk;
    bool store = decoded->flags & LWPS_ACCESS_STORE, first = !site->location, restarted = false;
    if (first)
        site->location = lwp_resolver_location(trace->resolver, decoded->ip, time);
    uint32_t object = trace_object(trace, site, &traced->place, time), distance = 0;
    if (first || object != site->object) {
        site->object = object;
        site->counts = lwp_locality_counts_at(trace->counts, object, site->location->part);
        site->hitters = trace_hitters_at(trace, site->counts);
        site->window = WINDOW_NONE;
    }
    trace_keep(trace, site, &traced->place, object, thread, bytes);
    struct lwp_locality_count *count = &trace->counts->items[site->counts];
    struct lwp_heavy_hitters *hitters = trace->hitters[site->hitters].of;
    count->accesses++;
    count->stores += store;
    if (trace->touch.nodes > 1)
        count->local += lwp_first_touch_access(&trace->touch, thread, address, object);
    const bool enters = trace_enters(trace, site, thread);
    if (site->window == trace->window && site->thread == thread)
        trace_stride(site, count, hitters, address, shift, enters);
    else
        trace_began(trace, site, thread, address);
    for (uint64_t line = address >> shift; line <= (address + bytes - 1) >> shift; line++) {
        struct lwp_reused reused = lwp_reuse_cores_access(&trace->cores, thread, line, store);
        trace_before(trace, count->part, hitters, line, reused);
        distance = reused.distance > distance ? reused.distance : distance;
        restarted |= reused.restarted;
        if (reused.others) {
            lwp_hierarchy_take(&trace->here, thread, line, reused.others);
            if (trace->elsewhere.plan.caches.levels)
                lwp_hierarchy_take(&trace->elsewhere, thread, line << shift >> trace->elsewhere.plan.caches.line_shift, reused.others);
        }
    }
    count->distances[distance == LWP_REUSE_FIRST ? LWP_LOCALITY_BEYOND : lwp_locality_bucket(distance)]++;
    if (distance != LWP_REUSE_FIRST)
        lwp_distance_counts_add(&trace->hitters[site->hitters].distances, distance);
    count->restarted += restarted;
    count->walks += lwp_tlb_access(&trace->translation, thread, address);
    lwp_rounds_access(&trace->rounds, address / LWP_INTERACTION_LINE, address % LWP_INTERACTION_LINE, bytes, store, site->counts);
    uint8_t where;
    trace_found(&trace->here, thread, address, bytes, &count->found, &where);
    count->conflicts += where != LWP_CACHE_L1 && !restarted && distance < trace->l1_lines;
    if (trace->elsewhere.plan.caches.levels)
        trace_found(&trace->elsewhere, thread, address, bytes, &count->elsewhere, &where);
}

/* ---- streams ---- */

struct trace_stream {
    uint32_t part, site;
    uint64_t line;
};

static int stream_compare(const void *a, const void *b)
{
    const struct trace_stream *x = a, *y = b;
    return LWP_COMPARE(x->part, y->part) ?: LWP_COMPARE(x->line, y->line);
}

/* Counts the concurrent streams of the chunk: strided runs that go on, with small strides. Those of one loop within some lines of
 * each other are one, as prefetchers see it. */
static void trace_streams(struct lwp_trace *trace)
{
    struct trace_stream streams[STREAMS_MOST];
    size_t count = 0;
    for (uint32_t i = 0; i < trace->site_count && count < STREAMS_MOST; i++) {
        const struct trace_site *site = &trace->sites[i];
        if (site->chunk == trace->chunk && site->window == trace->window && site->steps >= RUN_LEAST &&
            llabs(site->step) <= STREAM_LINES << trace->line_shift)
            streams[count++] = (struct trace_stream){site->location->part, i, site->last >> trace->line_shift};
    }
    qsort(streams, count, sizeof *streams, stream_compare);
    for (size_t from = 0, to; from < count; from = to) {
        uint64_t apart = 0;
        for (to = from; to < count && streams[to].part == streams[from].part; to++)
            apart += to == from || streams[to].line - streams[to - 1].line > STREAM_LINES;
        for (size_t i = from; i < to; i++) {
            struct lwp_locality_count *all = &trace->counts->items[trace->sites[streams[i].site].counts];
            all->streams += apart;
            all->streams_times++;
        }
    }
}

void lwp_trace_chunk(struct lwp_trace *trace, const struct lwps_trace *record)
{
    if (!trace->here.plan.caches.levels)
        return;
    unsigned thread = trace_thread(trace, record->tid);
    if (record->window != trace->window) {
        lwp_reuse_cores_free(&trace->cores);
        trace->window = record->window;
        trace->counts->windows++;
        trace->counts->gaps |= record->window > 1;
        trace->damaged = false;
    }
    bool sound = lwps_trace_decode(trace->decoder, record, trace->all);
    trace->counts->lost += !sound && !trace->damaged;
    trace->damaged |= !sound;
    trace->counts->traced = true;
    trace->counts->accesses += trace->all->count;
    trace->chunk++;
    trace_sites(trace);
    lwp_rounds_turn(&trace->rounds, thread, trace->all->count, trace_shared_line, trace);
    trace->record_time = record->time;
    trace->counts->several |= trace->rounds.several;
    const struct lwps_traced *accesses = trace->all->accesses;
    for (uint32_t i = 0; i < trace->all->count; i++) {
        if (i + LWP_REUSE_AHEAD < trace->all->count)
            lwp_reuse_cores_expect(&trace->cores, thread, accesses[i + LWP_REUSE_AHEAD].place.address >> trace->line_shift,
                                   accesses[i + LWP_REUSE_AHEAD / 2].place.address >> trace->line_shift);
        trace_access(trace, thread, &accesses[i], record->time);
    }
    if (trace->all->count)
        trace_streams(trace);
}
