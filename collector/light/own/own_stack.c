#include "collector/light/own/own_stack.h"

#include "collector/light/own/floats.h"
#include "collector/light/own/hot.h"

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* From its low end: the header, a page that cannot be written, the part for lwp's own work, the part for signals. */
enum { STACK_BYTES = 1 << LWP_OWN_STACK_BITS, PAGE_BYTES = 4096, WORK_END = 56 * 1024, MAGIC = 0x6c777073, TRIES = 64 };
enum stack_use { FREE, USED, KEPT };

__thread struct lwp_own_stack *lwp_own_stack_self;
static struct lwp_own_stack *stacks; /* all that were made */

/* Of threads that have ended: what they had is still theirs in the kernel, and they may still be there. A thread with the same thread
 * pointer is made when they are not, and takes it over: the C library waits for that before it uses a thread's memory again. To take
 * it from each thread at its end is a system call. */
enum { KEPT_MOST = 256 };
static LWP_LARGE struct lwp_own_stack *stacks_kept[KEPT_MOST];

LWP_LARGE _Alignas(PAGE_BYTES) uint8_t lwp_own_stack_first[STACK_BYTES];

/* Where the thread has its variables: the C library has it there, too. The kernel's answer takes 4 us in some virtual machines. */
static uint64_t thread_pointer(void)
{
    uint64_t base;
    __asm__("movq %%fs:0, %0" : "=r"(base));
    return base;
}

/* As it is now, whether variables are there or not. */
static uint64_t fs_base(void)
{
    enum { HAS_FSGSBASE = 2 };
    static int known; /* 1: the instruction can be used, 2: it cannot */
    uint64_t base = 0;
    if (!known)
        known = getauxval(AT_HWCAP2) & HAS_FSGSBASE ? 1 : 2;
    if (known == 1)
        __asm__ volatile("rdfsbase %0" : "=r"(base));
    else
        __asm__ volatile("syscall" : : "a"(SYS_arch_prctl), "D"(ARCH_GET_FS), "S"(&base) : "rcx", "r11", "memory");
    return base;
}

static void stack_guard(struct lwp_own_stack *stack)
{
    syscall(SYS_mprotect, (char *)stack + PAGE_BYTES, PAGE_BYTES, PROT_READ); /* LeakSanitizer reads what is in images */
}

void lwp_own_stack_guard(void)
{
    stack_guard((struct lwp_own_stack *)lwp_own_stack_first);
}

static struct lwp_own_stack *stack_init(void *memory)
{
    struct lwp_own_stack *stack = memory;
    if (memory != lwp_own_stack_first)
        stack_guard(stack);
    stack->magic = MAGIC;
    stack->used = USED;
    stack->next = __atomic_load_n(&stacks, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&stacks, &stack->next, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return stack;
}

/* In a region where nothing else is, so that an address says whether it is one of them. The first is in lwp's own image: most processes
 * need no other, and many end soon (own_memory.c). */
static struct lwp_own_stack *stack_make(void)
{
    static uint64_t places;
    static bool made;
    if (!__atomic_exchange_n(&made, true, __ATOMIC_RELAXED))
        return stack_init(lwp_own_stack_first);
    for (int try = 0; try < TRIES; try++) {
        uint64_t place = __atomic_fetch_add(&places, STACK_BYTES, __ATOMIC_RELAXED) & (((uint64_t)1 << LWP_OWN_STACK_REGION_BITS) - 1);
        void *wanted = (void *)(((uint64_t)LWP_OWN_STACK_REGION << LWP_OWN_STACK_REGION_BITS) + place);
        void *memory = (void *)syscall(SYS_mmap, wanted, STACK_BYTES, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory == wanted)
            return stack_init(memory);
        if (memory != MAP_FAILED)
            syscall(SYS_munmap, memory, STACK_BYTES); /* of a kernel that takes the place for a hint */
        else if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

static struct lwp_own_stack **stack_place(uint64_t base)
{
    return &stacks_kept[base * 0x9e3779b97f4a7c15u >> 56];
}
_Static_assert(KEPT_MOST == 1 << 8, "the product's upper 8 bits");

static struct lwp_own_stack *stack_take_kept(uint64_t base)
{
    struct lwp_own_stack **place = stack_place(base), *kept = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!kept || kept->fs_base != base || !__atomic_compare_exchange_n(place, &kept, NULL, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    kept->used = USED;
    return kept;
}

static struct lwp_own_stack *stack_take(uint64_t base)
{
    struct lwp_own_stack *kept = stacks ? stack_take_kept(base) : NULL;
    if (kept)
        return kept;
    for (struct lwp_own_stack *stack = __atomic_load_n(&stacks, __ATOMIC_ACQUIRE); stack; stack = stack->next) {
        int none = FREE;
        if (!__atomic_load_n(&stack->used, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&stack->used, &none, USED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return stack;
    }
    return stack_make();
}

/* The C library knows it, and says so in the number of the thread's clock (the kernel's encoding); to ask the kernel takes as long as
 * all else here. */
static pid_t stack_tid(void)
{
    enum { UNKNOWN, GOOD, BAD, CLOCK_BITS = 3 };
    static int known;
    clockid_t clock;
    pid_t tid = known == BAD || pthread_getcpuclockid(pthread_self(), &clock) ? 0 : (pid_t)~(clock >> CLOCK_BITS);
    if (known == GOOD && tid > 0)
        return tid;
    pid_t real = (pid_t)syscall(SYS_gettid);
    known = tid == real ? GOOD : BAD;
    return real;
}

static int stack_set(const stack_t *now, stack_t *before)
{
    return (int)syscall(SYS_sigaltstack, now, before);
}

stack_t lwp_own_stack_ours(const struct lwp_own_stack *stack)
{
    return (stack_t){.ss_sp = (char *)stack + WORK_END, .ss_size = STACK_BYTES - WORK_END};
}

bool lwp_own_stack_begin(void)
{
    if (lwp_own_stack_self)
        return true;
    int saved = errno;
    const uint64_t base = thread_pointer();
    struct lwp_own_stack *stack = stack_take(base);
    if (stack) {
        const stack_t ours = lwp_own_stack_ours(stack);
        stack->fs_base = base;
        stack->tid = stack_tid();
        if (stack_set(&ours, &stack->theirs) == 0) {
            if (!stack->theirs.ss_size)
                stack->theirs.ss_flags = 0; /* as in the kernel, though it answers SS_DISABLE */
            stack->works = 0;
            lwp_own_stack_self = stack;
        } else { /* it is on the one it has */
            stack->tid = 0;
            __atomic_store_n(&stack->used, FREE, __ATOMIC_RELEASE);
        }
    }
    errno = saved;
    return lwp_own_stack_self != NULL;
}

void lwp_own_stack_end(void)
{
    struct lwp_own_stack *stack = lwp_own_stack_self;
    if (!stack)
        return;
    struct lwp_own_stack *none = NULL;
    stack->used = KEPT;
    if (stack->fs_base == thread_pointer() &&
        __atomic_compare_exchange_n(stack_place(stack->fs_base), &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return;
    stack->used = USED;
    int saved = errno;
    stack_t theirs = stack->theirs;
    if (!theirs.ss_size)
        theirs.ss_flags = SS_DISABLE;
    if (stack_set(&theirs, NULL) == 0) {
        lwp_own_stack_self = NULL;
        stack->tid = 0;
        __atomic_store_n(&stack->used, FREE, __ATOMIC_RELEASE);
    }
    errno = saved;
}

void lwp_own_stack_after_fork(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    memset(stacks_kept, 0, sizeof stacks_kept);
    for (struct lwp_own_stack *stack = stacks; stack; stack = stack->next) {
        stack->used = stack == lwp_own_stack_self ? USED : FREE;
        stack->tid = stack->used ? tid : 0;
    }
}

bool lwp_own_stack_has(pid_t tid)
{
    for (struct lwp_own_stack *stack = __atomic_load_n(&stacks, __ATOMIC_ACQUIRE); stack; stack = stack->next)
        if (stack->tid == tid && stack->used == USED)
            return true;
    return false;
}

bool lwp_own_stack_has_variables(const struct lwp_own_stack *stack)
{
    uint64_t base = fs_base();
    if (stack)
        return base == stack->fs_base;
    /* on an alternate stack that the program set by a bare system call */
    pid_t tid = (pid_t)syscall(SYS_gettid);
    for (stack = __atomic_load_n(&stacks, __ATOMIC_ACQUIRE); stack; stack = stack->next)
        if (stack->tid == tid && stack->used == USED)
            return base == stack->fs_base;
    return base != 0;
}

/* Not where signals are handled: their frames begin at its end again when a handler of the program's has left it. */
static void stack_run(void (*run)(void *), void *argument)
{
    struct lwp_own_stack *stack = lwp_own_stack_self;
    if (!stack || stack->works || lwp_own_stack_at(__builtin_frame_address(0)) == stack) {
        run(argument);
        return;
    }
    stack->works = 1;
    void *top = (char *)stack + WORK_END;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[run]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(argument), [run] "+a"(run), [top] "+c"(top)
                     :
                     : "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                       "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    stack->works = 0;
}

void lwp_own_stack_run(void (*run)(void *), void *argument)
{
    const uint32_t floats = lwp_floats_begin();
    stack_run(run, argument);
    lwp_floats_end(floats);
}
