/* libunwind is loaded with RTLD_LOCAL, so that its _Unwind_* cannot take the place of libgcc's in the program.
 *
 * It asks whether an address can be read by writing a byte from there into a pipe that it keeps open. When the program has
 * closed all files and opened its own, the pipe's numbers are files of the program's: it would write into those. So it gets
 * the stack's words from here, and its pipe is closed. */
#define UNW_LOCAL_ONLY
#include "collector/light/code/unwind.h"

#include "collector/light/code/modules.h"
#include "collector/light/code/own_program.h"
#include "collector/light/own/imports.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* libunwind's API is macros over names with its own prefix; these are the functions behind them. */
#define UNWIND_STRING(name) UNWIND_STRING_(name)
#define UNWIND_STRING_(name) #name

static struct {
    int (*init)(unw_cursor_t *, unw_context_t *, int);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, int, unw_word_t *);
    int (*caching)(unw_addr_space_t, unw_caching_policy_t);
    unw_accessors_t *(*accessors)(unw_addr_space_t);
    unw_addr_space_t *local;
    bool ready;
} unwind;

enum { PAGE_BYTES = 4096 };

/* What can be read in this unwinding: a page, and words that begin in a part of the stack. */
static __thread uint64_t unwind_page, unwind_low, unwind_bytes;
static const struct lwp_stack_copy *unwind_copied; /* in place of the stack */
static const struct lwp_stack_words *unwind_words; /* its */

extern void *__libc_stack_end; /* of the first thread, where the program began */

static bool unwind_is_copied(uint64_t address)
{
    return address >= unwind_copied->registers.sp && address < (uint64_t)__libc_stack_end;
}

static int unwind_memory_copied(uint64_t address, unw_word_t *value)
{
    uint64_t at = address - unwind_copied->registers.sp;
    if (at % sizeof(uint64_t) || at / sizeof(uint64_t) >= unwind_copied->words)
        return -UNW_EINVAL;
    *value = lwp_stack_word(unwind_words, address);
    return 0;
}

/* The program may use libunwind, too, and may change what it finds. */
static int unwind_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *unused)
{
    (void)space, (void)unused;
    uint64_t page = address / PAGE_BYTES;
    if (write) {
        *(unw_word_t *)address = *value;
        return 0;
    }
    if (__builtin_expect(unwind_copied != NULL, 0) && unwind_is_copied(address))
        return unwind_memory_copied(address, value);
    const bool known = address - unwind_low < unwind_bytes || (page == unwind_page && (address + sizeof *value - 1) / PAGE_BYTES == page);
    if (known && !lwp_own_stops(address, sizeof *value)) {
        *value = *(const unw_word_t *)address;
        return 0;
    }
    if (!lwp_own_copy(value, (const void *)address, sizeof *value))
        return -UNW_EINVAL;
    unwind_page = page;
    return 0;
}

/* libunwind's pipe gets the two lowest numbers that are free. */
static void unwind_without_pipe(void (*make)(void))
{
    int pipe[2];
    struct stat st;
    pipe[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pipe[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(pipe[0]);
    close(pipe[1]);
    make();
    for (int i = 0; i < 2; i++)
        if (fstat(pipe[i], &st) == 0 && S_ISFIFO(st.st_mode))
            close(pipe[i]);
}

/* Not by unw_backtrace, which makes a table of 256 KiB. */
static void unwind_first(void)
{
    unw_cursor_t cursor;
    ucontext_t here;
    if (unwind.caching)
        unwind.caching(*unwind.local, UNW_CACHE_PER_THREAD);
    if (getcontext(&here) || unwind.init(&cursor, &here, 0))
        return;
    for (unsigned frames = 0; frames < LWP_FRAMES_MAX && unwind.step(&cursor) > 0; frames++)
        ;
}

/* libunwind blocks all signals around each question to the loader and each piece of memory that it takes, two system calls, which are
 * half of what unwinding costs. Here it asks modules.c's table, and a handler that comes meanwhile finds lwp busy; before a process is set
 * up none comes. The answer must be the same for both calls, also when the process ends between them: else a mask is set that nobody saved,
 * signals are let in, and the next one's frame overwrites that of the handler which unwinds. */
static int unwind_mask(int how, const sigset_t *set, sigset_t *before)
{
    enum { SET_BYTES = 8 };
    const struct lwp_thread *self = lwp_thread_self();
    if ((self && self->busy) || lwp_modules_unwind)
        return 0;
    return (int)syscall(SYS_rt_sigprocmask, how, set, before, SET_BYTES);
}

static bool unwind_load(void)
{
    void *programs = dlopen("libunwind.so.8", RTLD_NOW | RTLD_NOLOAD); /* whose handlers may unwind, too */
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    unwind.init = dlsym(library, UNWIND_STRING(unw_init_local2));
    unwind.step = dlsym(library, UNWIND_STRING(unw_step));
    unwind.get = dlsym(library, UNWIND_STRING(unw_get_reg));
    unwind.caching = dlsym(library, UNWIND_STRING(unw_set_caching_policy));
    unwind.local = dlsym(library, UNWIND_STRING(unw_local_addr_space));
    unwind.accessors = dlsym(library, UNWIND_STRING(unw_get_accessors));
    if (unwind.init && programs)
        lwp_imports_bind((const void *)unwind.init);
    else if (unwind.init)
        lwp_imports_bind_but((const void *)unwind.init, "sigprocmask", (void *)unwind_mask);
    return unwind.init && unwind.step && unwind.get && unwind.local && unwind.accessors;
}

bool lwp_unwind_init(void)
{
    if (unwind.ready)
        return true;
    if (!unwind_load())
        return false;
    lwp_modules_update();
    lwp_modules_unwind = true;
    unwind_without_pipe(unwind_first);
    lwp_modules_unwind = false;
    unwind.accessors(*unwind.local)->access_mem = unwind_memory;
    unwind.ready = true;
    return true;
}

static __attribute__((always_inline)) inline void unwind_registers(struct lwp_kept_registers *here)
{
    __asm__ volatile("lea (%%rip), %%rax\n\tmov %%rax, %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3\n\t"
                     "mov %%r12, %4\n\tmov %%r13, %5\n\tmov %%r14, %6\n\tmov %%r15, %7"
                     : "=m"(here->ip), "=m"(here->sp), "=m"(here->bp), "=m"(here->bx), "=m"(here->r12), "=m"(here->r13), "=m"(here->r14),
                       "=m"(here->r15)
                     :
                     : "rax", "memory");
}

static void unwind_slots(const struct lwp_kept_registers *from, struct lwp_stack_slots *slots, lwp_unwind_enough *enough, void *of)
{
    unw_cursor_t cursor;
    int more;
    ucontext_t there = {0};
    greg_t *reg = there.uc_mcontext.gregs;
    reg[REG_RIP] = (greg_t)from->ip;
    reg[REG_RSP] = (greg_t)from->sp;
    reg[REG_RBP] = (greg_t)from->bp;
    reg[REG_RBX] = (greg_t)from->bx;
    reg[REG_R12] = (greg_t)from->r12;
    reg[REG_R13] = (greg_t)from->r13;
    reg[REG_R14] = (greg_t)from->r14;
    reg[REG_R15] = (greg_t)from->r15;
    slots->count = 0;
    slots->whole = slots->enough = false;
    unwind_page = 0;
    if (!unwind.ready || unwind.init(&cursor, &there, 0))
        return;
    while ((more = unwind.step(&cursor)) > 0 && slots->count < LWP_FRAMES_MAX) {
        unw_word_t ip, sp, held;
        if (unwind.get(&cursor, UNW_REG_IP, &ip) || unwind.get(&cursor, UNW_REG_SP, &sp))
            return;
        uint64_t at = sp - sizeof held;
        if (unwind_memory(*unwind.local, at, &held, 0, NULL) || held != ip) /* a signal's frame */
            return;
        slots->ip[slots->count] = ip;
        slots->at[slots->count++] = at;
        if ((slots->enough = enough(of, ip, at)))
            return;
    }
    slots->whole = more == 0;
}

__attribute__((noinline)) void lwp_unwind_slots(struct lwp_stack_slots *slots, uint64_t low, uint64_t high, lwp_unwind_enough *enough,
                                                void *of)
{
    struct lwp_kept_registers here;
    unwind_registers(&here);
    unwind_low = low;
    unwind_bytes = high - low - (sizeof(unw_word_t) - 1);
    unwind_slots(&here, slots, enough, of);
    unwind_bytes = 0;
}

enum { PART = 8 /* words */ };

/* Whether a part of the stack is as it was. */
static inline bool unwind_as_before(uint64_t sp, uint64_t all, unsigned from, const struct lwp_stack_words *words)
{
    const volatile uint64_t *now = (const volatile uint64_t *)sp + from;
    unsigned place = lwp_stack_place((uint64_t)now);
    uint64_t other = 0;
    if (from + PART > all || place + PART > LWP_STACK_COPIED)
        return false;
    for (unsigned i = 0; i < PART; i++)
        other |= now[i] ^ words->word[place + i];
    return !other;
}

/* Not by memcpy(), which a sanitizer of the program's may watch. */
__attribute__((noinline)) size_t lwp_unwind_copy(struct lwp_stack_copy *copy, size_t room, struct lwp_stack_words *words)
{
    enum { MOST_BYTES = sizeof *words, FURTHEST = 64 << 20 };
    struct lwp_kept_registers here;
    unwind_registers(&here);
    uint64_t sp = here.sp, end = (uint64_t)__libc_stack_end;
    size_t bytes = end - sp < MOST_BYTES ? end - sp : MOST_BYTES, kept = 0;
    if (end - sp > FURTHEST || room < sizeof *copy + bytes)
        return 0;
    *copy = (struct lwp_stack_copy){.registers = here, .words = bytes / sizeof sp};
    for (unsigned i = 0; i < copy->words; i += PART)
        if (!unwind_as_before(sp, copy->words, i, words))
            for (unsigned k = i; k < i + PART && k < copy->words; k++) {
                const volatile uint64_t *at = (const volatile uint64_t *)sp + k;
                uint64_t now = *at, *before = &words->word[lwp_stack_place((uint64_t)at)];
                if (now == *before)
                    continue;
                copy->differs[k / 64] |= (uint64_t)1 << k % 64;
                copy->word[kept++] = *before = now;
            }
    return sizeof *copy + kept * sizeof(uint64_t);
}

void lwp_stack_words_add(struct lwp_stack_words *words, const struct lwp_stack_copy *copy)
{
    const uint64_t *word = copy->word;
    for (unsigned part = 0; part < LWP_STACK_COPIED / 64; part++)
        for (uint64_t bits = copy->differs[part]; bits; bits &= bits - 1)
            words->word[lwp_stack_place(copy->registers.sp + (part * 64 + (unsigned)__builtin_ctzll(bits)) * sizeof *word)] = *word++;
}

void lwp_unwind_slots_of(const struct lwp_stack_copy *copy, const struct lwp_stack_words *words, struct lwp_stack_slots *slots,
                         lwp_unwind_enough *enough, void *of)
{
    unwind_words = words;
    unwind_copied = copy;
    lwp_modules_unwind = true;
    unwind_slots(&copy->registers, slots, enough, of);
    lwp_modules_unwind = false;
    unwind_copied = NULL;
}

/* A call leaves its return address right below where its caller's frame ends: what is returned to without is an instruction that a
 * signal interrupted, and the frame before it, the code that returns from the signal, begins where its handler returns to. (The
 * address may be there by chance, left by a call that has returned: then the call is before it, too.) */
static bool unwind_is_call(uint64_t ip, uint64_t sp)
{
    unw_word_t held;
    return !unwind_memory(*unwind.local, sp - sizeof held, &held, 0, NULL) && held == ip;
}

/* Whether a call is before an address, and how far from there it leads. */
static bool unwind_called(uint64_t address, int32_t *distance)
{
    enum { CALL = 0xe8, CALL_BYTES = 5 };
    unw_word_t code;
    if (unwind_memory(*unwind.local, address - CALL_BYTES, &code, 0, NULL))
        return false;
    *distance = (int32_t)(code >> 8);
    return (uint8_t)code == CALL;
}

/* libunwind keeps what it finds by address, and does not distinguish an interrupted instruction, which is a function's first, from what
 * the last call of the function before it returns to. So the first is not asked for where both may be: where it was called from is on
 * top of the stack. */
static bool unwind_is_entry(const greg_t *machine, uint64_t *back)
{
    uint64_t ip = (uint64_t)machine[REG_RIP], low, high;
    int32_t distance;
    return lwp_function_bounds(ip, &low, &high) && low == ip && unwind_called(ip, &distance) &&
           !unwind_memory(*unwind.local, (uint64_t)machine[REG_RSP], back, 0, NULL) && unwind_called(*back, &distance) &&
           *back + (uint64_t)(int64_t)distance == ip;
}

/* Callers of the interrupted function, innermost first. `cfas` gets each frame's CFA beginning with the interrupted function's own:
 * cfas[i] is that of the function returned to by ips[i - 1]. */
static unsigned unwind_signal(ucontext_t *ucontext, uint64_t *ips, uint64_t *cfas, unsigned room)
{
    greg_t *machine = ucontext->uc_mcontext.gregs;
    const greg_t ip_before = machine[REG_RIP], sp_before = machine[REG_RSP];
    if (!unwind.ready)
        return 0;
    unwind_page = 0;
    unw_cursor_t cursor;
    unsigned count = 0;
    bool by_call = unwind_is_entry(machine, &ips[0]); /* the frame before */
    if (by_call) {
        machine[REG_RIP] = (greg_t)ips[0];
        machine[REG_RSP] += (greg_t)sizeof(uint64_t);
        cfas[0] = (uint64_t)machine[REG_RSP];
        ips[count++]--;
    }
    if (unwind.init(&cursor, ucontext, by_call ? 0 : UNW_INIT_SIGNAL_FRAME))
        room = 0;
    while (count < room && unwind.step(&cursor) > 0) {
        unw_word_t ip, sp;
        if (unwind.get(&cursor, UNW_REG_IP, &ip) || !ip || unwind.get(&cursor, UNW_REG_SP, &sp))
            break;
        bool call = unwind_is_call(ip, sp);
        if (!call && by_call)
            ips[count - 1]++;
        by_call = call;
        cfas[count] = sp;
        ips[count++] = ip - call;
    }
    machine[REG_RIP] = ip_before; /* the cursor reads them there */
    machine[REG_RSP] = sp_before;
    return count;
}

void lwp_frames_take(struct lwp_frames *frames, void *ucontext, bool located)
{
    const greg_t *machine = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    frames->ips[0] = located ? (uint64_t)machine[REG_RIP] : 0;
    frames->sp = (uint64_t)machine[REG_RSP];
    frames->count = located ? unwind_signal(ucontext, frames->ips + 1, frames->cfas, LWP_FRAMES_MAX) : 0;
    if (frames->count)
        lwp_modules_see(frames->ips[frames->count]); /* unwinding ends in an image not known yet: it will be next time */
}

uint32_t lwp_frames_context(struct lwp_thread *self, const struct lwp_frames *frames)
{
    return lwps_paths_intern(&self->contexts, frames->ips + 1, frames->count);
}

uint32_t lwp_frames_context_to_come(struct lwp_thread *self, const struct lwp_frames *frames, unsigned returned, const uint64_t *calls,
                                    unsigned call_count)
{
    uint64_t ips[LWP_FRAMES_MAX];
    unsigned count = 0;
    if (returned > frames->count)
        return 0;
    if (!call_count)
        return lwps_paths_intern(&self->contexts, frames->ips + 1 + returned, frames->count - returned);
    while (call_count)
        ips[count++] = calls[--call_count] - 1;
    for (unsigned i = 1 + returned; i <= frames->count && count < LWP_FRAMES_MAX; i++)
        ips[count++] = frames->ips[i];
    return lwps_paths_intern(&self->contexts, ips, count);
}

uint32_t lwp_frames_context_of(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t low, uint64_t high)
{
    for (unsigned i = 0; i <= frames->count; i++) {
        if (frames->ips[i] >= low && frames->ips[i] < high)
            return lwps_paths_intern(&self->contexts, frames->ips + i + 1, frames->count - i);
    }
    return 0;
}
