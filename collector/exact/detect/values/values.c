/* Redundant computations by runtime value numbering (value_number.h), fed by the trace: which superblocks ran, with which
 * addresses, until which exit. Numbers need no values, so that nothing else is added to the program. */
#include "collector/exact/detect/values/value_block.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread_sums.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/translation.h"
#include "collector/exact/valgrind/pages.h"
#include "format/record.h"


enum {
    PAIR_BITS = 19,       /* 36 MiB */
    SPLIT_WORDS = 1 << 20, /* 32 MiB */
    PLACES_FIRST = 1 << 12,
    AHEAD = 32, /* prefetch distance, in words of the trace */
};

struct lwp_values_site {
    struct lwp_value_steps steps;
    struct lwp_numbered_group *numbers; /* NULL: it computes nothing */
    uint32_t first;                     /* its first computation in the group */
    uint32_t words, exits;              /* words in the trace behind the first; the one that counts the exits passed */
};

struct lwp_values_thread {
    uint64_t low[LWP_VALUE_REGISTERS], high[LWP_VALUE_REGISTERS];
    uint64_t epoch, signals;
};

static struct lwp_thread_sums *values_threads;
_Static_assert((int)LWP_VALUE_SUMS <= (int)LWP_THREAD_SUMS, "room");

static uint64_t values_signals; /* after each, the registers of all threads are unknown */

static struct lwp_values *values;
static unsigned values_asked, values_noted; /* computations of each instruction: asked for; as the last note says */

/* Numbers of instructions by address, for values->places. */
static struct {
    Addr *ips; /* hash table; 0: free */
    uint32_t *numbers, count, room;
} places;

static const struct lwp_shadow_port values_port = {.map = lwp_pages_map, .unmap = lwp_pages_unmap, .large = lwp_pages_large};

/* ---- superblocks ---- */

static uint32_t places_slot(Addr ip)
{
    uint32_t mask = places.room - 1, at = (uint32_t)((ip * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (places.ips[at] && places.ips[at] != ip)
        at = (at + 1) & mask;
    return at;
}

static void places_grow(void)
{
    Addr *ips = places.ips;
    uint32_t *numbers = places.numbers, room = places.room;
    places.room = room ? 2 * room : PLACES_FIRST;
    places.ips = VG_(calloc)("lwp.places", places.room, sizeof *places.ips);
    places.numbers = VG_(calloc)("lwp.places", places.room, sizeof *places.numbers);
    for (uint32_t i = 0; i < room; i++) {
        if (!ips[i])
            continue;
        uint32_t at = places_slot(ips[i]);
        places.ips[at] = ips[i];
        places.numbers[at] = numbers[i];
    }
    VG_(free)(ips);
    VG_(free)(numbers);
    values->places = VG_(realloc)("lwp.places", values->places, places.room * sizeof *values->places);
}

static uint32_t places_number(Addr ip)
{
    if (2 * places.count >= places.room)
        places_grow();
    uint32_t at = places_slot(ip);
    if (!places.ips[at]) {
        places.ips[at] = ip;
        places.numbers[at] = places.count;
        values->places[places.count++] = (struct lwp_value_place){0, 0};
    }
    return places.numbers[at];
}

static void *values_copy(const void *from, SizeT bytes)
{
    return VG_(memcpy)(VG_(malloc)("lwp.values", bytes ? bytes : 1), from, bytes);
}

static struct lwp_values_site *values_site(const IRSB *in, const Short *access, UInt count, UInt words, Addr start)
{
    const struct lwp_value_block *block = lwp_value_block_of(in, access, places_number);
    struct lwp_values_site *site = VG_(calloc)("lwp.values", 1, sizeof *site);
    site->words = words;
    site->exits = count;
    site->steps = block->steps;
    site->steps.step = values_copy(block->steps.step, block->steps.count * sizeof *block->steps.step);
    site->steps.ends = values_copy(block->steps.ends, (block->steps.exits + 1) * sizeof *block->steps.ends);
    if (!block->computation_count)
        return site;
    const struct lwp_numbered_block numbers = lwp_numbers_block(start, block->computation_count);
    site->numbers = numbers.group;
    site->first = numbers.first;
    for (UInt i = 0; i < block->computation_count && i < LWP_NUMBERED_MOST; i++)
        numbers.group->access[numbers.first + i] = (struct lwp_numbered_access){block->computations[i].ip, block->computations[i].bytes,
                                                                                block->computations[i].flags};
    return site;
}

static void values_survey(struct lwp_translation *now)
{
    struct lwp_trace_block *block = now->block;
    block->values = values_site(now->in, now->accesses, block->count, block->count + 1 + block->swaps + block->moves, now->start);
}

/* A history too long for memory is made shorter, rather than left without the instructions that come late. */
static void values_make_room(void)
{
    while (values->table.full && lwp_value_table_shorten(&values->table, values->places, places.count))
        ;
}

static void values_words(ULong *begin, ULong *end)
{
    if (values->table.full)
        values_make_room();
    for (const ULong *at = begin; lwp_trace_open && at < end;) {
        const struct lwp_values_site *site = ((const struct lwp_trace_block *)*at++)->values;
        uint32_t context = 0;
        if (site->numbers) {
            if (site->numbers->node != lwp_context_now)
                lwp_numbers_enter(site->numbers);
            context = site->numbers->base + site->first;
        }
        /* Without this the interpreter mostly waits for the shadow of random accesses. Words that are no addresses do no harm. */
        const ULong *ahead = at + AHEAD, *until = ahead + site->words + 1;
        for (until = until < end ? until : end; ahead < until; ahead++)
            lwp_value_prefetch(&values->memory, *ahead);
        lwp_values_run(values, &site->steps, (const uint64_t *)at, (uint32_t)at[site->exits], context);
        at += site->words;
    }
}

/* ---- what else happens to registers and memory ---- */

static void values_window(bool opens)
{
    if (opens)
        lwp_values_begin(values);
}

static void values_thread_runs(ThreadId id, struct lwp_exact_thread *before, struct lwp_exact_thread *now)
{
    struct lwp_values_thread **from = before ? &before->values : NULL, *const *to = &now->values;
    (void)id;
    values->sums = lwp_thread_sums_of(&values_threads, &now->value_sums)->sum;
    if (from && !*from)
        *from = VG_(malloc)("lwp.values", sizeof **from);
    if (from) {
        VG_(memcpy)((*from)->low, values->low, sizeof (*from)->low);
        VG_(memcpy)((*from)->high, values->high, sizeof (*from)->high);
        (*from)->epoch = values->numbering.epoch;
        (*from)->signals = values_signals;
    }
    if (*to && (*to)->epoch == values->numbering.epoch && (*to)->signals == values_signals) {
        VG_(memcpy)(values->low, (*to)->low, sizeof (*to)->low);
        VG_(memcpy)(values->high, (*to)->high, sizeof (*to)->high);
    } else {
        lwp_values_lose(values, 0, LWP_VALUE_REGISTERS);
    }
}

static void values_thread_ends(struct lwp_exact_thread *thread)
{
    VG_(free)(thread->values);
}

/* Outside of windows there is nothing to forget: all numbers are of a window that has ended. */
static void values_forget(Addr address, SizeT bytes)
{
    if (!bytes || !lwp_trace_open)
        return;
    lwp_trace_drain();
    lwp_value_forget(&values->memory, address, bytes);
}

static void values_signal(ThreadId thread, Int signal, Bool other_stack)
{
    (void)thread, (void)signal, (void)other_stack;
    lwp_trace_drain();
    values_signals++;
    lwp_values_lose(values, 0, LWP_VALUE_REGISTERS);
}

static void values_signal_done(ThreadId thread, Int signal)
{
    values_signal(thread, signal, False);
}

static void values_heap_grew(Addr address, SizeT bytes, ThreadId thread)
{
    (void)thread;
    values_forget(address, bytes);
}

static void values_moved(Addr from, Addr to, SizeT bytes)
{
    (void)from;
    values_forget(to, bytes);
}

static bool values_start(unsigned last)
{
    struct lwp_values *made = VG_(calloc)("lwp.values", 1, sizeof *made);
    if (!lwp_values_init(made, &values_port, last, SPLIT_WORDS, PAIR_BITS)) {
        VG_(free)(made);
        return false;
    }
    values = made;
    values_asked = values_noted = last;
    VG_(clo_vex_control).iropt_unroll_thresh = 0; /* or computations of one round of a loop serve the next, too */
    VG_(track_new_mem_brk)(values_heap_grew);
    VG_(track_copy_mem_remap)(values_moved);
    VG_(track_pre_deliver_signal)(values_signal);
    VG_(track_post_deliver_signal)(values_signal_done);
    return true;
}

/* ---- records ---- */

static struct {
    struct lwps_writer file;
    struct lwp_context_map contexts;
    uint64_t of_pairs; /* redundant computations in pairs */
    bool noted;        /* that some were not counted */
} counts;

static void counts_pair(const struct lwp_shadow_pair *pair)
{
    struct lwps_pair record = {.verdict = LWPS_VERDICT_COMPUTATION, .waste = pair->same, .times = pair->same};
    record.first_context = lwp_numbers_in_file(lwp_shadow_pair_first(pair), &counts.contexts, &counts.file, &record.first);
    record.second_context = lwp_numbers_in_file(lwp_shadow_pair_second(pair), &counts.contexts, &counts.file, &record.second);
    counts.of_pairs += pair->same;
    lwps_put_pair(&counts.file, &record);
}

static void values_note_shortened(void)
{
    static HChar note[200];
    if (values->table.last == values_noted)
        return;
    VG_(snprintf)(note, sizeof note,
                  "Each computation was compared with the last %u of each instruction, not with %u as asked: there is no memory for more "
                  "(--value-history).",
                  values->table.last, values_asked);
    values_noted = values->table.last;
    lwp_exact_process_note(note);
}

static void values_write(void)
{
    if (!lwp_exact_process_rewrite(&counts.file, "t0.1"))
        return;
    counts.of_pairs = 0;
    for (size_t i = 0; i < (size_t)1 << values->pairs.bits; i++)
        if (values->pairs.entries[i].key)
            counts_pair(&values->pairs.entries[i]);
    lwps_put_pair(&counts.file, &(struct lwps_pair){.verdict = LWPS_VERDICT_COMPUTATION,
                                                    .use = values->computed - counts.of_pairs});
    static const struct lwp_thread_sums_record sums[] = {
        {LWPS_VERDICT_COMPUTATION, 0, -1, LWP_VALUE_SUM_REDUNDANT, -1},
        {LWPS_VERDICT_COMPUTATION, LWPS_ACCESS_LOAD, LWP_VALUE_SUM_LOADS, LWP_VALUE_SUM_LOADS_AGAIN, -1},
        {LWPS_VERDICT_COMPUTATION, LWPS_ACCESS_STORE, LWP_VALUE_SUM_STORES, LWP_VALUE_SUM_STORES_AGAIN, -1}};
    for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++)
        lwp_thread_sums_write(values_threads, &counts.file, &sums[i]);
    lwp_exact_process_rewritten(&counts.file, "t0.1");
    lwp_context_map_clear(&counts.contexts);
    if ((values->memory.unseen || values->table.full) && !counts.noted)
        lwp_exact_process_note("Some redundant computations were not counted: there was not enough memory to follow all values.");
    counts.noted = counts.noted || values->memory.unseen || values->table.full;
    values_note_shortened();
}

static void values_reset(void)
{
    lwp_shadow_pairs_clear(&values->pairs);
    values->computed = values->redundant = 0;
    lwp_thread_sums_clear(values_threads);
    counts.noted = false;
}

const struct lwp_detector lwp_values_detector = {
    .option = "values",
    .most = 1 << 16, /* numbers kept of each instruction */
    .needs = LWP_NEEDS_ADDRESSES | LWP_NEEDS_PATHS,
    .failed = "Redundant computations were not counted: there is not enough memory.",
    .start = values_start,
    .write = values_write,
    .reset = values_reset,
    .survey = values_survey,
    .words = values_words,
    .window = values_window,
    .forget = values_forget,
    .kernel_wrote = values_forget,
    .thread_runs = values_thread_runs,
    .thread_ends = values_thread_ends,
};
