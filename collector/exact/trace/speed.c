#include "collector/exact/trace/speed.h"

#include "collector/exact/program/options.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/native_copy.h"

#include <asm/unistd.h>
#include <linux/prctl.h>

extern Int VG_(count_living_threads)(void); /* of Valgrind's core, not in the headers for tools */

/* Copies are made where the program has run for so long without a system call, and may go on for as long: their caches are cold at first.
 * They take half a second and a tenth of the time at most, unless one is longer by itself. One alone may meet a moment in which the machine
 * does something else. */
enum { STRETCH_LEAST = 1000000, COPIES = 3, COPIES_PART = 10, FIRST_MS = 500 };

static uint64_t speed_begin;                        /* instructions before the stretch */
static struct lwp_native_copy speed_copies[COPIES]; /* the fastest first */
static bool speed_tried, speed_known;               /* copies ran it; and came to its end, as others would not either */
static bool speed_forbidden;                        /* the program restricts what system calls it may do */
static UInt speed_spent;                            /* ms */

/* What the process loses after it was copied: the next store to each page of its own is a page fault. At most, ms. */
static UInt speed_pages(void)
{
    HChar text[64] = "", *end;
    const Int file = VG_(fd_open)("/proc/self/statm", VKI_O_RDONLY, 0);
    if (file < 0)
        return 0;
    VG_(read)(file, text, sizeof text - 1);
    VG_(close)(file);
    VG_(strtoull10)(text, &end); /* all, resident, of files */
    const ULong resident = VG_(strtoull10)(end, &end), files = VG_(strtoull10)(end, NULL);
    return (UInt)((resident - files) * lwp_exact_options.page_fault_ns / 1000000);
}

static bool speed_run(ThreadId id)
{
    for (int i = 0; i < COPIES; i++) {
        struct lwp_native_copy copy;
        int at = i;
        if (!lwp_native_copy_run(id, &copy) || (i && (copy.call != speed_copies[0].call || copy.address != speed_copies[0].address)))
            return false;
        for (; at && speed_copies[at - 1].ns > copy.ns; at--)
            speed_copies[at] = speed_copies[at - 1];
        speed_copies[at] = copy;
    }
    return true;
}

void lwp_speed_look(ThreadId id)
{
    const uint64_t ran = lwp_trace_ran();
    if (!lwp_exact_options.copies || speed_tried || speed_forbidden || ran - speed_begin < STRETCH_LEAST || !lwp_exact_process.active ||
        VG_(count_living_threads)() != 1)
        return;
    const UInt now = VG_(read_millisecond_timer)(), most = FIRST_MS + now / COPIES_PART;
    if (speed_spent > most)
        return;
    const UInt pages = speed_pages();
    if (speed_spent + pages > most)
        return;
    speed_begin = ran;
    speed_tried = true;
    speed_known = speed_run(id);
    speed_spent += 1 + pages + VG_(read_millisecond_timer)() - now;
}

void lwp_speed_call(ThreadId id, UInt number, const UWord *arguments)
{
    const uint64_t ran = lwp_trace_ran();
    const struct lwp_native_copy *middle = &speed_copies[COPIES / 2];
    speed_forbidden |= number == __NR_seccomp || (number == __NR_prctl && arguments[0] == PR_SET_SECCOMP);
    if (speed_known && middle->call == number && middle->address == VG_(get_IP)(id)) {
        lwp_exact_process.native_instructions += ran - speed_begin;
        lwp_exact_process.native_ns += middle->ns;
        lwp_exact_process.native_least_ns += speed_copies[0].ns;
        lwp_exact_process.native_most_ns += speed_copies[COPIES - 1].ns;
        lwp_exact_process.native_page_faults += middle->page_faults;
    }
    speed_tried = speed_known = false;
    speed_begin = ran;
}
