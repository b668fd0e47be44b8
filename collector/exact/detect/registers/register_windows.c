#include "collector/exact/detect/registers/register_windows.h"

#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum { LANE = 8, HALF = 16, VECTOR = 32, NUMBERS_X87 = 8, STATE = offsetof(VexGuestAMD64State, guest_FPTAG) };

/* Of the superblock that runs: what is in the registers, and who wrote it, as Valgrind's shadow of them has it. That of the
 * stack pointer, which is not looked at, says in which window. */
static UChar values[STATE], writers[STATE] __attribute__((aligned(8)));
static bool known;
static ULong window = 1;

static ULong *writers_window(void)
{
    return (ULong *)&writers[offsetof(VexGuestAMD64State, guest_RSP)];
}

static UInt writer_at(UInt offset)
{
    return *(const UInt *)&writers[offset];
}

struct lwp_registers_site *lwp_registers_site_new(UInt parts, UInt writes)
{
    struct lwp_registers_site *site = VG_(calloc)("lwp.registers", 1, sizeof *site);
    site->writes = VG_(malloc)("lwp.registers", (writes + 1) * sizeof *site->writes);
    site->parts = VG_(malloc)("lwp.registers", (parts + 1) * sizeof *site->parts);
    return site;
}

void lwp_registers_site_done(struct lwp_registers_site *site)
{
    site->writes = VG_(realloc)("lwp.registers", site->writes, (site->write_count + 1) * sizeof *site->writes);
}

/* What others than translated code do to registers they do now. */
static void windows_stop(ThreadId thread, ULong blocks)
{
    (void)blocks;
    lwp_trace_drain();
    if (known)
        VG_(set_shadow_regs_area)(thread, 1, 0, STATE, writers);
    known = false;
}

void lwp_register_windows_start(void)
{
    VG_(track_stop_client_code)(windows_stop);
}

void lwp_register_windows_open(void)
{
    window++;
    known = false;
}

static void windows_know(void)
{
    ThreadId thread = VG_(get_running_tid)();
    VG_(get_shadow_regs_area)(thread, values, 0, 0, STATE);
    VG_(get_shadow_regs_area)(thread, writers, 1, 0, STATE);
    if (*writers_window() != window) {
        VG_(memset)(writers, 0, STATE);
        *writers_window() = window;
    }
    known = true;
}

void lwp_register_windows_begin(const struct lwp_registers_site *site, ULong *words)
{
    words[site->done] = 0;
    if (!known)
        windows_know();
    if (site->numbers->node != lwp_context_now)
        lwp_numbers_enter(site->numbers);
}

/* ---- one write ---- */

/* Translated code does not call for numbers further apart, either (registers.c). */
static void number_compare(ULong what, UInt writer, const UChar *before, const UChar *after, UInt element)
{
    ULong from = 0, to = 0;
    __builtin_memcpy(&from, before, element == LANE ? LANE : LANE / 2);
    __builtin_memcpy(&to, after, element == LANE ? LANE : LANE / 2);
    ULong far = lwp_register_far(element);
    if (to - from + far <= 2 * far)
        lwp_register_near(what, writer, from, to);
}

static void numbers_compare(const struct lwp_register_write *write, ULong what, UInt base, const UChar *after)
{
    for (UInt at = write->low; at < write->high; at += write->element) {
        number_compare(what, writer_at(base + at), &values[base + at], &after[at], write->element);
        what &= ~(1ull << LWP_REGISTER_COUNTS_AT); /* the instruction's other values */
    }
}

/* In whole lanes. */
static bool same_compare(const struct lwp_register_write *write, const UChar *before, const UChar *after)
{
    UInt low = write->low, high = write->high;
    low &= ~(LANE - 1u);
    high = (high + LANE - 1) & ~(LANE - 1u);
    return !VG_(memcmp)(&after[low], &before[low], high - low);
}

static void writers_set(const struct lwp_register_write *write, UInt base, UInt number)
{
    ULong twice = (ULong)number << 32 | number;
    if (write->part == LANE)
        __builtin_memcpy(&writers[write->writer], &twice, LANE);
    else if (write->part)
        __builtin_memcpy(&writers[write->writer], &twice, LANE / 2);
    for (UInt lane = write->low & ~(LANE - 1u); !write->part && lane < write->high; lane += LANE)
        __builtin_memcpy(&writers[base + lane], &twice, LANE);
}

/* What is usual: a general register. */
static void general_ran(const struct lwp_register_write *write, ULong what, const ULong *words)
{
    const void *from = write->known ? &write->value : &words[write->word];
    UChar *to = &values[write->base + write->from];
    ULong before = 0, after = 0;
    switch (write->bytes) {
    case 8: __builtin_memcpy(&before, to, 8), __builtin_memcpy(&after, from, 8), __builtin_memcpy(to, from, 8); break;
    case 4: __builtin_memcpy(&before, to, 4), __builtin_memcpy(&after, from, 4), __builtin_memcpy(to, from, 4); break;
    case 2: __builtin_memcpy(&before, to, 2), __builtin_memcpy(&after, from, 2), __builtin_memcpy(to, from, 2); break;
    default: before = *to, after = *to = *(const UChar *)from;
    }
    if (write->kind == LWP_REGISTER_SET)
        return;
    if (before == after)
        lwp_register_same(what, writer_at(write->writer));
    writers_set(write, write->base, (UInt)what);
}

static void write_ran(const struct lwp_register_write *write, UInt first_number, const ULong *words)
{
    UChar after[VECTOR];
    const ULong *word = &words[write->word];
    UInt base = write->base, size = write->from + write->bytes > LANE || write->clears_upper || write->high > LANE ? VECTOR : LANE;
    if (write->turns)
        base += ((UInt)word[1] + (UInt)write->bias) % NUMBERS_X87 * LANE;
    VG_(memcpy)(after, &values[base], size);
    VG_(memcpy)(&after[write->from], write->known ? &write->value : word, write->bytes);
    if (write->clears_upper)
        VG_(memset)(&after[HALF], 0, HALF);
    ULong what = write->what + first_number;
    if (write->kind == LWP_REGISTER_NUMBERS)
        numbers_compare(write, what, base, after);
    else if (write->kind == LWP_REGISTER_INTEGER && same_compare(write, &values[base], after))
        lwp_register_same(what, writer_at(write->writer));
    if (write->kind != LWP_REGISTER_SET)
        writers_set(write, base, (UInt)what);
    VG_(memcpy)(&values[base], after, size);
}

void lwp_register_windows_ran(const struct lwp_registers_site *site, const ULong *words)
{
    if (!words[site->done])
        return;
    const struct lwp_register_part *part = &site->parts[words[site->done] - 1];
    for (UInt i = 0; i < part->writes; i++) {
        const struct lwp_register_write *write = &site->writes[i];
        if (write->part)
            general_ran(write, write->what + site->numbers->base, words);
        else
            write_ran(write, site->numbers->base, words);
    }
    for (unsigned i = 0; i < 4; i++)
        lwp_register_totals->bytes[i / 2][i % 2] += part->bytes[i / 2][i % 2];
    lwp_register_totals->instructions += part->instructions;
}
