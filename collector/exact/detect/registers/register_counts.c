#include "collector/exact/detect/registers/register_counts.h"

#include "collector/exact/detect/redundancy/shadow_pairs.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread_sums.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/valgrind/pages.h"
#include "collector/record/value.h"
#include "format/record.h"

enum { PAIR_BITS = 19 }; /* 36 MiB */

struct lwp_register_totals *lwp_register_totals;

static struct lwp_register_totals counted, passed;
static struct lwp_shadow_pairs pairs;
enum { SUM_SAME, SUM_CLOSE };
static struct lwp_thread_sums *of_threads, of_none, *of_running = &of_none;
static bool counts_run;

static struct {
    struct lwps_writer file;
    struct lwp_context_map contexts;
} counts;

static const struct lwp_shadow_port counts_port = {.map = lwp_pages_map, .unmap = lwp_pages_unmap};

bool lwp_register_counts_start(void)
{
    counts_run = lwp_shadow_pairs_init(&pairs, &counts_port, PAIR_BITS);
    lwp_register_counts_part();
    return counts_run;
}

static struct lwp_shadow_pair *counts_pair(ULong what, ULong first)
{
    struct lwp_shadow_pair *pair = lwp_shadow_pairs_at(&pairs, LWP_SHADOW_STORES, (uint32_t)first, (uint32_t)what, 0);
    pair->same_times++;
    pair->dead_times += what >> LWP_REGISTER_COUNTS_AT; /* of instructions */
    return pair;
}

static unsigned what_bytes(ULong what)
{
    return (unsigned)(what >> LWP_REGISTER_BYTES_AT) & 0xff;
}

VG_REGPARM(2) void lwp_register_same(ULong what, ULong first)
{
    if (lwp_register_totals != &counted)
        return;
    counts_pair(what, first)->same += what_bytes(what);
    of_running->sum[SUM_SAME] += what_bytes(what);
}

void lwp_register_near(ULong what, ULong first, ULong before, ULong after)
{
    unsigned bytes = what_bytes(what), element = (unsigned)(what >> LWP_REGISTER_ELEMENT_AT) & 0xff;
    if (lwp_register_totals != &counted)
        return;
    enum lwps_value value = lwp_value_compare(before, after, bytes, element);
    if (value == LWPS_VALUE_SAME)
        counts_pair(what, first)->same += bytes;
    else if (value == LWPS_VALUE_CLOSE)
        counts_pair(what, first)->close += bytes;
    of_running->sum[SUM_SAME] += value == LWPS_VALUE_SAME ? bytes : 0;
    of_running->sum[SUM_CLOSE] += value == LWPS_VALUE_CLOSE ? bytes : 0;
}

void lwp_register_counts_thread(struct lwp_exact_thread *thread)
{
    of_running = lwp_thread_sums_of(&of_threads, &thread->register_sums);
}

ULong lwp_register_far(UInt element)
{
    return (ULong)(lwp_value_close * (element == sizeof(double) ? 0x1p53 : 0x1p24)) + 1;
}

void lwp_register_counts_part(void)
{
    if (counts_run)
        lwp_register_totals = lwp_trace_inside && (lwp_trace_open || !lwp_exact_options.windows) ? &counted : &passed;
}

/* ---- records ---- */

/* Adds it to the sums of its class. */
static void counts_write_pair(const struct lwp_shadow_pair *pair, struct lwps_registers sums[2][2])
{
    struct lwps_pair record = {.verdict = LWPS_VERDICT_REGISTER, .waste = pair->same, .close = pair->close,
                               .times = pair->same_times, .again = pair->same_times};
    record.first_context = lwp_numbers_in_file(lwp_shadow_pair_first(pair), &counts.contexts, &counts.file, &record.first);
    record.second_context = lwp_numbers_in_file(lwp_shadow_pair_second(pair), &counts.contexts, &counts.file, &record.second);
    lwps_put_pair(&counts.file, &record);
    struct lwps_registers *sum = &sums[(record.second.flags & LWPS_ACCESS_LOAD) != 0][(record.second.flags & LWPS_ACCESS_FLOAT) != 0];
    sum->same += pair->same;
    sum->close += pair->close;
    sum->instructions += pair->dead_times;
}

void lwp_register_counts_write(void)
{
    struct lwps_registers sums[2][2] = {0};
    struct lwps_pair rest = {.verdict = LWPS_VERDICT_REGISTER};
    if (!lwp_exact_process_rewrite(&counts.file, "t0.2"))
        return;
    for (size_t i = 0; i < (size_t)1 << pairs.bits; i++)
        if (pairs.entries[i].key)
            counts_write_pair(&pairs.entries[i], sums);
    for (unsigned load = 0; load < 2; load++)
        for (unsigned is_float = 0; is_float < 2; is_float++) {
            struct lwps_registers *sum = &sums[load][is_float];
            sum->flags = (uint8_t)((load ? LWPS_ACCESS_LOAD : 0) | (is_float ? LWPS_ACCESS_FLOAT : 0));
            sum->bytes = counted.bytes[load][is_float];
            sum->of_instructions = counted.instructions;
            rest.use += sum->bytes - sum->same - sum->close;
            lwps_put_registers(&counts.file, sum);
        }
    if (rest.use)
        lwps_put_pair(&counts.file, &rest);
    lwp_thread_sums_write(of_threads, &counts.file, &(struct lwp_thread_sums_record){LWPS_VERDICT_REGISTER, 0, -1, SUM_SAME, SUM_CLOSE});
    lwp_exact_process_rewritten(&counts.file, "t0.2");
    lwp_context_map_clear(&counts.contexts);
}

void lwp_register_counts_reset(void)
{
    if (!counts_run)
        return;
    lwp_shadow_pairs_clear(&pairs);
    counted = (struct lwp_register_totals){0};
    lwp_thread_sums_clear(of_threads);
}
