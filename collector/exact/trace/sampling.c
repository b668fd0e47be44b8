/* Systematic sampling of simulated cycles. An instruction takes half a cycle, an access what the cache model says above
 * that. Whatever is running when a multiple of the period passes is written with all cycles since the one before, so
 * costs add up to the whole, and a miss, which is longer than the first period, is never passed over. After it, a few
 * accesses are passed and then three that follow each other are written with it, without cost: fair ones, from which
 * strides, sizes and order come. The period doubles with every so many samples: records grow with the logarithm of
 * the run. All of it is the same in every run. */
#include "collector/exact/trace/sampling.h"

#include "base/cache.h"
#include "base/random.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/valgrind/pages.h"
#include "format/record.h"

enum {
    HALVES = LWP_SAMPLING_HALVES, /* the unit below */
    PERIOD_FIRST = 16 * HALVES,
    SAMPLES_EACH = 1 << 12, /* until the period doubles */
    KEEP = 3,
    PASS_MOST = 48,
    QUEUE = 64, /* lines */
    QUEUED_MOST = (LWP_CACHE_MEMORY_CYCLES - LWP_CACHE_L1_CYCLES) * HALVES,
    COUNTED_MOST = 1 << 30, /* half cycles that translated code counts by itself */
};

static struct lwp_cache cache;
/* The line that was last accessed, of those that are alike in their lowest bits. It is also the last one of its set, if
 * there are as many sets or more: an access to it hits, and changes nothing. Otherwise nothing is remembered. */
#define recent lwp_trace_state.recent
static bool recent_kept;
static int32_t sampling_given; /* half cycles that translated code was given to count down */

static uint64_t sampling_period = PERIOD_FIRST, sampling_next = PERIOD_FIRST; /* half cycles until the next sample */
static uint64_t sampling_since;  /* half cycles since the last one */
static uint32_t sampling_count;
static uint32_t sampling_random = 0x9e3779b9;

static struct lwps_sample sample; /* under way, of the running thread */
static bool sample_open;
static unsigned sample_pass;

bool lwp_sampling_start(const char *caches)
{
    if (!caches || !lwp_cache_parse(&cache, caches))
        return false;
    for (unsigned i = 0; i < cache.levels; i++)
        cache.level[i].tags = lwp_pages_map(lwp_cache_tag_bytes(&cache.level[i]));
    recent_kept = cache.line_shift == LWP_TRACE_LINE_BITS && cache.level[0].mask >= LWP_TRACE_LINES - 1;
    for (unsigned i = 0; i < LWP_TRACE_LINES; i++)
        recent[i] = (uint64_t)1 << 63;
    return true;
}

static uint32_t sampling_below(uint32_t bound)
{
    return lwp_random_next(&sampling_random) % bound;
}

void lwp_sampling_flush(void)
{
    struct lwps_writer *file = sample_open ? lwp_thread_file(lwp_thread_now) : NULL;
    sample_open = false;
    if (!file)
        return;
    sample.context = lwp_context_in_file(&lwp_thread_now->contexts, file, sample.context);
    for (unsigned i = 0; i < sample.access_count; i++)
        if (sample.access[i].home == LWPS_HOME_STACK)
            sample.access[i].home_id = lwp_context_in_file(&lwp_thread_now->contexts, file, sample.access[i].home_id);
    if (lwps_put_sample(file, &sample))
        return;
    lwp_exact_process.samples++;
    lwp_exact_process.samples_with_address += sample.access_count > 0;
}

void lwp_sampling_attribute(struct lwps_access *access)
{
    const struct lwp_exact_thread *thread = lwp_thread_now;
    const struct lwp_block *block = lwp_block_at(access->address);
    if (block && block->pool) {
        access->home = LWPS_HOME_POOL;
        access->home_id = block->pool;
        access->home_base = block->start;
    } else if (access->address >= thread->stack_low && access->address < thread->stack_high) {
        access->home = LWPS_HOME_STACK;
        access->home_base = lwp_calls_frame_of(access->address, access->ip, &access->home_id);
        if (!access->home_base)
            access->home_base = access->address;
    }
}

static void sampling_add(const struct lwp_trace_access *site, uint64_t address, uint8_t level, uint8_t flags)
{
    struct lwps_access *access = &sample.access[sample.access_count++];
    *access = (struct lwps_access){.ip = site->ip, .address = address, .bytes = site->bytes, .level = level,
                                   .flags = (uint8_t)(site->flags | flags | LWPS_ACCESS_KNOWN),
                                   .source = LWPS_SOURCE_TRACE};
    lwp_sampling_attribute(access);
}

/* So many half cycles more; true: a sample is due, and has been begun with their cost. */
static bool sampling_pass(uint64_t halves, uint64_t ip, uint8_t kind)
{
    sampling_since += halves;
    if (sampling_next > halves) {
        sampling_next -= halves;
        return false;
    }
    sampling_next = sampling_period - (halves - sampling_next) % sampling_period;
    lwp_sampling_flush();
    sample = (struct lwps_sample){.time = lwp_trace_time(), .weight = sampling_since / HALVES, .ip = ip,
                                  .context = lwp_context_now, .kind = kind};
    sampling_since %= HALVES;
    sample_open = true;
    sample_pass = sampling_below(PASS_MOST);
    if (++sampling_count % SAMPLES_EACH == 0)
        sampling_period *= 2;
    return true;
}

static void sampling_access(const struct lwp_trace_access *site, uint64_t address, unsigned cycles, uint8_t level)
{
    if (sampling_pass(cycles * HALVES, site->ip, LWPS_SAMPLE_STALL)) {
        sampling_add(site, address, level, LWPS_ACCESS_WEIGHTED);
        return;
    }
    if (!sample_open)
        return;
    if (sample_pass) {
        sample_pass--;
        return;
    }
    sampling_add(site, address, level, 0);
    if (sample.access_count >= KEEP + (sample.kind != LWPS_SAMPLE_COMPUTE))
        lwp_sampling_flush();
}

/* An access that is not of the line its set had last. */
struct sampling_miss {
    uint32_t access;
    uint16_t cycles;
    uint8_t where; /* enum lwp_cache_where */
};

/* One after the other, as something is to be written. */
static void sampling_walk(const struct lwp_trace_block *block, const ULong *addresses, const struct sampling_miss *miss)
{
    static const uint8_t levels[] = {LWPS_LEVEL_L1, LWPS_LEVEL_L2, LWPS_LEVEL_L3, LWPS_LEVEL_MEMORY};
    unsigned before = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct lwp_trace_access *site = &block->access[i];
        if (site->instruction > before)
            sampling_pass(site->instruction - before, block->ip, LWPS_SAMPLE_COMPUTE);
        before = site->instruction;
        if (!addresses[i])
            continue;
        bool missed = miss->access == i;
        sampling_access(site, addresses[i], missed ? miss->cycles : LWP_CACHE_L1_CYCLES, levels[missed ? miss->where : LWP_CACHE_L1]);
        miss += missed;
    }
    if (block->instructions > before)
        sampling_pass(block->instructions - before, block->ip, LWPS_SAMPLE_COMPUTE);
}

static inline uint64_t *recent_of(uint64_t address)
{
    return &recent[address >> LWP_TRACE_LINE_BITS & (LWP_TRACE_LINES - 1)];
}

/* 0: all of it lies in a recent line. */
static inline uint64_t access_missed(uint64_t address, unsigned bytes)
{
    return (address - *recent_of(address) + bytes - 1) >> LWP_TRACE_LINE_BITS;
}

static unsigned sampling_cache(uint64_t address, unsigned bytes, uint8_t *where)
{
    if (recent_kept)
        for (uint64_t line = address & -(uint64_t)LWP_TRACE_LINE; line < address + bytes; line += LWP_TRACE_LINE)
            *recent_of(line) = line;
    return lwp_cache_access(&cache, address, bytes, where);
}

/* In order, since each changes what the next ones find. Returns the cycles of all. */
static uint64_t sampling_misses(const struct lwp_trace_block *block, const ULong *addresses, struct sampling_miss *miss,
                                unsigned *happened)
{
    uint64_t cycles = 0;
    unsigned count = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct lwp_trace_access *site = &block->access[i];
        if (!addresses[i])
            continue;
        count++;
        if (!access_missed(addresses[i], site->bytes)) {
            cycles += LWP_CACHE_L1_CYCLES;
            continue;
        }
        miss->access = i;
        miss->cycles = (uint16_t)sampling_cache(addresses[i], site->bytes, &miss->where);
        cycles += miss++->cycles;
    }
    miss->access = UINT32_MAX;
    *happened = count;
    return cycles;
}

static __attribute__((noinline)) void sampling_block(const struct lwp_trace_block *block, const ULong *addresses)
{
    static struct sampling_miss misses[LWP_TRACE_ACCESSES + 1];
    unsigned happened;
    uint64_t cycles = sampling_misses(block, addresses, misses, &happened);
    uint64_t halves = block->instructions + cycles * HALVES;
    if (halves >= sampling_next || (sample_open && happened > sample_pass)) {
        sampling_walk(block, addresses, misses);
        return;
    }
    sampling_next -= halves;
    sampling_since += halves;
    sample_pass -= sample_open ? happened : 0;
}

/* ---- most superblocks, which are not at a sample ---- */

/* Lines that the first level did not have, and that the others are not asked for yet: the half cycles above those of a
 * hit, QUEUED_MOST each, are still to come. */
static uint64_t queue[QUEUE];
static unsigned queue_count;

static __attribute__((noinline)) void queue_empty(void)
{
    uint8_t where;
    uint64_t cycles = 0;
    for (unsigned i = 0; i < queue_count; i++)
        cycles += lwp_cache_beyond(&cache, queue[i], &where) - LWP_CACHE_L1_CYCLES;
    queue_count = 0;
    sampling_next -= cycles * HALVES;
    sampling_since += cycles * HALVES;
}

static inline void queue_line(uint64_t line)
{
    if (queue_count == QUEUE)
        queue_empty();
    queue[queue_count++] = line;
    lwp_cache_expect(&cache, line);
}

/* Half cycles above those of a hit that are known by now: of lines behind the first one. */
static inline uint64_t sampling_lines(uint64_t address, unsigned bytes)
{
    uint64_t line = address >> cache.line_shift, first = line, last = (address + (bytes ? bytes : 1) - 1) >> cache.line_shift;
    for (; line <= last; line++) {
        if (recent_kept)
            *recent_of(line << LWP_TRACE_LINE_BITS) = line << LWP_TRACE_LINE_BITS;
        if (!lwp_cache_first(&cache, line))
            queue_line(line);
    }
    return (last - first) * LWP_CACHE_L1_CYCLES * HALVES;
}

/* False: a sample is under way, or may be due; nothing was done. */
static inline bool sampling_passes(const struct lwp_trace_block *block, const ULong *addresses, uint32_t passed)
{
    uint64_t halves = lwp_sampling_halves(block, passed);
    if (sample_open || sampling_next <= halves + (queue_count + block->lines) * QUEUED_MOST)
        return false;
    for (uint32_t i = 0; i < passed; i++) {
        unsigned bytes = block->access[i].bytes;
        if (!access_missed(addresses[i], bytes))
            continue;
        if (addresses[i])
            halves += sampling_lines(addresses[i], bytes);
        else
            halves -= LWP_CACHE_L1_CYCLES * HALVES;
    }
    sampling_next -= halves;
    sampling_since += halves;
    return true;
}

static inline __attribute__((always_inline)) void sampling_ran(const struct lwp_trace_block *block, ULong *addresses, uint32_t passed)
{
    if (sampling_passes(block, addresses, passed))
        return;
    queue_empty();
    for (uint32_t i = passed; i < block->count; i++)
        addresses[i] = 0;
    sampling_block(block, addresses);
}

static void sampling_words(ULong *begin, ULong *end)
{
    for (ULong *at = begin; lwp_trace_open && at < end;) {
        const struct lwp_trace_block *block = (const void *)*at++;
        sampling_ran(block, at, block->count);
        at += lwp_trace_length(block);
    }
}

/* ---- filtered ---- */

static void filtered_give(bool open)
{
    int32_t was = (int32_t)lwp_trace_state.left;
    uint64_t known = sampling_next - 1 - queue_count * QUEUED_MOST, most = open && known <= COUNTED_MOST ? known : COUNTED_MOST;
    sampling_given = open && sample_open ? -1 : (int32_t)most;
    lwp_trace_state.left += sampling_given - was;
}

/* What translated code has counted, without the last superblock's half cycles. */
static void filtered_take(uint64_t last)
{
    uint64_t halves = (uint64_t)(sampling_given - (int32_t)lwp_trace_state.left) - last;
    sampling_next -= halves;
    sampling_since += halves;
}

void lwp_sampling_look(bool open)
{
    if (open)
        filtered_take(0);
    filtered_give(open);
}

void lwp_sampling_filtered(bool open)
{
    const struct lwp_trace_block *block = lwp_trace_state.block;
    uint32_t passed = (uint32_t)lwp_trace_state.passed;
    if (open) {
        filtered_take(lwp_sampling_halves(block, passed));
        sampling_ran(block, lwp_trace_words + 1, passed);
    }
    lwp_trace_state.block = NULL;
    lwp_trace_state.missed = lwp_trace_state.passed = 0;
    filtered_give(open);
}

const struct lwp_detector lwp_sampling_detector = {
    .option = "sample",
    .needs = LWP_NEEDS_SAMPLES | LWP_NEEDS_PATHS,
    .words = sampling_words,
};
