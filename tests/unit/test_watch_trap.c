/* Which instruction a data breakpoint stopped after: short pieces of code touch eight watched bytes in every way there
 * is, under a real breakpoint, and what is found in the handler is compared with what each piece is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/code/execution.c"
#include "collector/code/forward_walk.c"
#include "collector/code/function.c"
#include "collector/code/insn.c"
#include "collector/code/predecessors.c"
#include "collector/code/registers.c"
#include "collector/light/code/own_program.c"
#include "collector/light/own/own_memory.c"
#include "collector/light/watch/watch_trap.c"
#include "tests/unit/looked_at.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

bool lwp_confinement_came(void)
{
    return false;
}

bool lwp_shared_has(uint64_t address)
{
    (void)address;
    return false;
}

enum { BYTES = 8, ROOM = 4096, TRAPS_MOST = 64 };

/* Called with rdi: the watched bytes, rsi: what may be stored there. `at_` is the instruction of interest. */
#define PIECE(name, before, insn, after)                                                                               \
    __asm__(".pushsection .text\n\t.globl run_" #name "\n\t.globl at_" #name "\n\t.type run_" #name ", @function\n"    \
            "run_" #name ":\n\t.cfi_startproc\n\t" before "\nat_" #name ":\n\t" insn "\n\tnop\n\t" after               \
            "\n\tret\n\t.cfi_endproc\n\t.size run_" #name ", .-run_" #name "\n\t.popsection");                         \
    void run_##name(void *, uint64_t);                                                                                 \
    extern const char at_##name[]

PIECE(store, "", "movq %rsi, (%rdi)", "");
PIECE(store_byte, "", "movb %sil, 3(%rdi)", "");
PIECE(load, "", "movl 4(%rdi), %eax", "");
PIECE(indexed, "leaq -4096(%rdi), %rdx\n\tmovl $512, %ecx", "movzwl 2(%rdx,%rcx,8), %eax", "");
PIECE(base_lost, "", "movq (%rdi), %rdi", "");
PIECE(top_lost, "movq %rsp, %rax\n\tmovq %rdi, %rsp\n\txorl %ecx, %ecx", "movq (%rsp,%rcx,8), %rcx\n\tmovq %rax, %rsp", "");
PIECE(modify, "", "addq %rsi, (%rdi)", "");
PIECE(exchange, "", "xchgq %rsi, (%rdi)", "");
PIECE(compare_swap, "movq $5, %rax", "lock cmpxchgq %rsi, (%rdi)", "");
PIECE(vector, "", "movups %xmm0, -8(%rdi)", "");
PIECE(floating, "", "addsd (%rdi), %xmm0", "");
PIECE(compare_met, "", "cmpq $5, (%rdi)", "1:");
PIECE(fused_taken, "", "cmpl $5, (%rdi)\n\tjne 1f\n\tnop\n\tnop\n1:", "");
PIECE(fused_passed, "", "cmpl $5, (%rdi)\n\tje 1f\n\tnop\n\tnop\n1:", "");
PIECE(bit_string, "movl $3, %eax", "btsq %rax, (%rdi)", "");
PIECE(pushed, "movq %rsp, %rax\n\tleaq 8(%rdi), %rsp", "pushq %rsi\n\tmovq %rax, %rsp", "");
PIECE(popped, "movq %rsp, %rax\n\tmovq %rdi, %rsp", "popq %rcx\n\tmovq %rax, %rsp", "");
/* ---- what fails, is locked, is wide, reaches over the edge, or names no whole operand ---- */
PIECE(compare_swap_done, "movabsq $0x0101010001010101, %rax", "lock cmpxchgq %rsi, (%rdi)", ""); /* the other fails */
PIECE(locked_add, "", "lock addl $1, 4(%rdi)", "");
PIECE(exchange_add, "", "lock xaddq %rsi, (%rdi)", "");
PIECE(compare_swap_pair, "movq %rbx, %r8\n\txorl %eax, %eax\n\txorl %edx, %edx", "lock cmpxchg16b (%rdi)",
      "movq %r8, %rbx");
PIECE(unaligned, "", "movq %rsi, -4(%rdi)", "");
PIECE(unaligned_end, "", "movl %esi, 6(%rdi)", "");
PIECE(swapped, "", "movbeq %rsi, (%rdi)", "");
PIECE(x87, "", "fldl (%rdi)", "fstp %st(0)");
PIECE(x87_wide, "fldz", "fstpt (%rdi)", "");
PIECE(streaming, "", "movntiq %rsi, (%rdi)", "");
PIECE(push_memory, "", "pushq (%rdi)", "popq %rcx");
PIECE(pop_memory, "pushq %rsi", "popq (%rdi)", "");
PIECE(one_copy_to, "leaq 512(%rdi), %rsi", "movsq", "");
PIECE(one_copy_from, "movq %rdi, %rsi\n\taddq $512, %rdi", "movsq", "");
PIECE(one_fill, "movl $7, %eax", "stosq", "");
PIECE(one_load, "movq %rdi, %rsi", "lodsq", "");
PIECE(wide32, "", "vmovdqu %ymm0, -8(%rdi)", "vzeroupper");
PIECE(wide32_load, "", "vaddpd -16(%rdi), %ymm0, %ymm1", "vzeroupper");
PIECE(gathered, "vpcmpeqd %ymm2, %ymm2, %ymm2\n\tvpxor %xmm1, %xmm1, %xmm1", "vgatherdpd %ymm2, (%rdi,%xmm1,8), %ymm0",
      "vzeroupper");
PIECE(masked_off, "vpxor %xmm2, %xmm2, %xmm2", "vmaskmovpd %ymm0, %ymm2, (%rdi)", "vzeroupper");
PIECE(masked, "vpcmpeqd %ymm2, %ymm2, %ymm2", "vmaskmovpd %ymm0, %ymm2, (%rdi)", "vzeroupper");
PIECE(wide64, "", "vmovdqu64 %zmm0, -16(%rdi)", "vzeroupper");
PIECE(wide64_masked, "movl $4, %eax\n\tkmovw %eax, %k1", "vmovdqu64 %zmm0, -16(%rdi){%k1}", "vzeroupper");
PIECE(wide64_masked_off, "movl $1, %eax\n\tkmovw %eax, %k1", "vmovdqu64 %zmm0, -16(%rdi){%k1}", "vzeroupper");
PIECE(broadcast, "", "vaddpd (%rdi){1to8}, %zmm0, %zmm1", "vzeroupper");
PIECE(scattered, "kxnorw %k1, %k1, %k1\n\tvpxor %xmm1, %xmm1, %xmm1", "vscatterdpd %zmm0, (%rdi,%ymm1,8){%k1}",
      "vzeroupper");
PIECE(saved, "movq %rdi, %r8\n\tmovl $3, %eax\n\txorl %edx, %edx\n\tsubq $256, %rdi", "xsave (%rdi)", "");
PIECE(callee, "nop", "nop", "");
PIECE(called, "movq %rsp, %rax\n\tleaq 8(%rdi), %rsp", "call run_callee\n\tmovq %rax, %rsp", "");
PIECE(fill, "leaq -64(%rdi), %rdi\n\tmovl $256, %ecx\n\tmovl $7, %eax", "rep stosb", "");
PIECE(fill_down, "leaq 64(%rdi), %rdi\n\tmovl $32, %ecx\n\tstd", "rep stosq\n\tcld", "");
PIECE(copy_to, "leaq 512(%rdi), %rsi\n\tleaq -64(%rdi), %rdi\n\tmovl $32, %ecx", "rep movsq", "");
PIECE(copy_from, "leaq -64(%rdi), %rsi\n\tleaq 512(%rdi), %rdi\n\tmovl $256, %ecx", "rep movsb", "");
PIECE(search, "leaq -64(%rdi), %rdi\n\tmovl $256, %ecx\n\tmovl $3, %eax", "repne scasb", "");
PIECE(search_ends, "movl $256, %ecx\n\txorl %eax, %eax", "repne scasb", "");
PIECE(two_strings, "leaq 512(%rdi), %rsi\n\tmovl $32, %ecx", "repe cmpsq", "");
PIECE(system_call, "movl $8, %esi\n\txorl %edx, %edx\n\tmovl $318, %eax", "syscall", ""); /* getrandom */
PIECE(prefetch, "", "prefetcht0 (%rdi)\n\tprefetchnta (%rdi)\n\tprefetchw (%rdi)\n\tleaq (%rdi), %rax", "");

static uint8_t room[ROOM] __attribute__((aligned(64)));
static uint8_t *const watched = room + ROOM / 2;

static struct {
    struct lwp_code_cache *cache;
    int event;
    unsigned count;
    struct trapped {
        enum lwp_trap_kind kind;
        struct lwp_trap trap;
    } at[TRAPS_MOST];
} traps;

static void on_trap(int signal, siginfo_t *info, void *ucontext)
{
    (void)signal;
    (void)info;
    ioctl(traps.event, PERF_EVENT_IOC_DISABLE, 0); /* what is found may lie in the watched bytes */
    struct trapped *trapped = &traps.at[traps.count++ % TRAPS_MOST];
    trapped->trap = (struct lwp_trap){0};
    struct lwp_stop stop = {.cache = traps.cache, .ucontext = ucontext};
    lwp_stop_look(&stop);
    trapped->kind = lwp_trap_find(&stop, (uint64_t)watched, BYTES, &trapped->trap);
    ioctl(traps.event, PERF_EVENT_IOC_ENABLE, 0);
}

static int event_open(bool kernel)
{
    struct perf_event_attr attributes = {.size = sizeof attributes,
                                         .type = PERF_TYPE_BREAKPOINT,
                                         .bp_type = HW_BREAKPOINT_RW,
                                         .bp_addr = (uint64_t)watched,
                                         .bp_len = BYTES,
                                         .sample_period = 1,
                                         .disabled = 1,
                                         .exclude_kernel = !kernel,
                                         .exclude_hv = 1,
                                         .sigtrap = 1,
                                         .remove_on_exec = 1};
    int event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    traps.event = event;
    traps.count = 0;
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    *(volatile uint8_t *)watched = 1;
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    if (event < 0 || traps.count)
        return event;
    close(event); /* in some virtual machines registers stop nothing */
    return -1;
}

static void run(void (*piece)(void *, uint64_t), int event)
{
    traps.event = event;
    traps.count = 0;
    memset(room, 1, sizeof room);
    memset(watched + 4, 0, 1); /* where a search for the end of a string ends */
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    piece(watched, 9);
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

enum { LOAD = 1, STORE = 2, VECTOR = 4, FLOAT = 8 };
enum { ANY, AVX2, AVX512, XSAVE };
enum { LOST = -1000, INSIDE = -1001 }; /* of the address: cannot be told; the last byte of the instruction is named */

static const struct expected {
    const char *name;
    void (*run)(void *, uint64_t);
    const char *at;
    unsigned what, bytes;
    int offset; /* from the watched bytes */
    unsigned needs; /* of the processor */
} expected[] = {
#define EXPECT_OF(piece, what, bytes, offset, needs, ...)                                                              \
    {                                                                                                                  \
#piece, run_##piece, at_##piece, what, bytes, offset, needs                                                    \
    }
#define EXPECT(...) EXPECT_OF(__VA_ARGS__, ANY, )
    EXPECT(store, STORE, 8, 0),
    EXPECT(store_byte, STORE, 1, 3),
    EXPECT(load, LOAD, 4, 4),
    EXPECT(indexed, LOAD, 2, 2),
    EXPECT(base_lost, LOAD, 8, LOST),
    EXPECT(top_lost, LOAD, 8, LOST),
    EXPECT(modify, LOAD | STORE, 8, 0),
    EXPECT(exchange, LOAD | STORE, 8, 0),
    EXPECT(compare_swap, LOAD | STORE, 8, 0),
    EXPECT(vector, STORE | VECTOR, 16, -8),
    EXPECT(floating, LOAD | VECTOR | FLOAT, 8, 0),
    EXPECT(compare_met, LOAD, 8, 0),
    EXPECT(fused_taken, LOAD, 4, 0),
    EXPECT(fused_passed, LOAD, 4, 0),
    EXPECT(bit_string, LOAD | STORE, 8, LOST),
    EXPECT(pushed, STORE, 8, 0),
    EXPECT(popped, LOAD, 8, 0),
    EXPECT(compare_swap_done, LOAD | STORE, 8, 0),
    EXPECT(locked_add, LOAD | STORE, 4, 4),
    EXPECT(exchange_add, LOAD | STORE, 8, 0),
    EXPECT(compare_swap_pair, LOAD | STORE, 16, 0),
    EXPECT(unaligned, STORE, 8, -4),
    EXPECT(unaligned_end, STORE, 4, 6),
    EXPECT(swapped, STORE, 8, 0),
    EXPECT(x87, LOAD, 8, 0),
    EXPECT(x87_wide, STORE, 10, 0),
    EXPECT(streaming, STORE, 8, 0),
    EXPECT(push_memory, LOAD, 8, 0),
    EXPECT(pop_memory, STORE, 8, 0),
    EXPECT(one_copy_to, STORE, 8, 0),
    EXPECT(one_copy_from, LOAD, 8, 0),
    EXPECT(one_fill, STORE, 8, 0),
    EXPECT(one_load, LOAD, 8, 0),
    EXPECT(wide32, STORE | VECTOR, 32, -8, AVX2),
    EXPECT(wide32_load, LOAD | VECTOR | FLOAT, 32, -16, AVX2),
    EXPECT(gathered, LOAD | VECTOR | FLOAT, 8, LOST, AVX2),
    EXPECT(wide64, STORE | VECTOR, 64, -16, AVX512),
    EXPECT(broadcast, LOAD | VECTOR | FLOAT, 8, 0, AVX512),
    EXPECT(scattered, STORE | VECTOR | FLOAT, 8, LOST, AVX512),
    EXPECT(saved, LOAD | STORE, 576, -256, XSAVE),
#undef EXPECT
#undef EXPECT_OF
};

static unsigned what_of(const struct lwp_trap *trap)
{
    return (trap->access.load ? LOAD : 0u) | (trap->access.store ? STORE : 0u) | (trap->access.vector ? VECTOR : 0u) |
           (trap->access.floating ? FLOAT : 0u);
}

static bool processor_has(unsigned what)
{
    return what == AVX2     ? __builtin_cpu_supports("avx2")
           : what == AVX512 ? __builtin_cpu_supports("avx512f")
           : what == XSAVE  ? __builtin_cpu_supports("avx") /* which the system must save so */
                            : true;
}

static void test_single(void **state)
{
    (void)state;
    int event = event_open(false), wrong = 0;
    if (event < 0)
        skip();
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct expected *e = &expected[i];
        if (!processor_has(e->needs))
            continue;
        run(e->run, event);
        const struct lwp_trap *trap = &traps.at[0].trap;
        uint64_t address = e->offset == LOST ? 0 : (uint64_t)watched + (uint64_t)(int64_t)e->offset;
        if (traps.count == 1 && traps.at[0].kind == LWP_TRAP_ACCESS && trap->access.ip == (uint64_t)e->at &&
            what_of(trap) == e->what && trap->access.bytes == e->bytes && trap->access.address == address)
            continue;
        print_error("%s: %u stops, kind %d, at %+ld, what %u, bytes %u, address %+ld\n", e->name, traps.count,
                    traps.at[0].kind, (long)(trap->access.ip - (uint64_t)e->at), what_of(trap), trap->access.bytes,
                    (long)(trap->access.address - (uint64_t)watched));
        wrong++;
    }
    close(event);
    assert_int_equal(wrong, 0);
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*run)(void *, uint64_t);
        const char *at;
        unsigned what;
    } strings[] = {{"fill", run_fill, at_fill, STORE},
                   {"fill_down", run_fill_down, at_fill_down, STORE},
                   {"copy_to", run_copy_to, at_copy_to, STORE},
                   {"copy_from", run_copy_from, at_copy_from, LOAD},
                   {"search", run_search, at_search, LOAD},
                   {"search_ends", run_search_ends, at_search_ends, LOAD},
                   {"two_strings", run_two_strings, at_two_strings, LOAD}};
    int event = event_open(false), wrong = 0;
    if (event < 0)
        skip();
    for (unsigned i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        run(strings[i].run, event);
        assert_in_range(traps.count, 1, TRAPS_MOST);
        for (unsigned k = 0; k < traps.count; k++) {
            const struct lwp_trap *trap = &traps.at[k].trap;
            bool last = k == traps.count - 1; /* one pass over the bytes is one access */
            if (traps.at[k].kind == LWP_TRAP_ACCESS && trap->access.ip == (uint64_t)strings[i].at &&
                what_of(trap) == strings[i].what && trap->partial == !last)
                continue;
            print_error("%s, stop %u of %u: kind %d, at %+ld, what %u, partial %d\n", strings[i].name, k + 1,
                        traps.count, traps.at[k].kind, (long)(trap->access.ip - (uint64_t)strings[i].at), what_of(trap),
                        trap->partial);
            wrong++;
        }
    }
    close(event);
    assert_int_equal(wrong, 0);
}

static void test_call(void **state)
{
    (void)state;
    int event = event_open(false);
    if (event < 0)
        skip();
    run(run_called, event);
    close(event);
    enum { CALL_BYTES = 5 };
    assert_int_equal(traps.count, 2); /* the call, the ret */
    assert_int_equal(traps.at[0].kind, LWP_TRAP_ACCESS);
    assert_int_equal(what_of(&traps.at[0].trap), STORE);
    assert_in_range(traps.at[0].trap.access.ip, at_called, at_called + CALL_BYTES - 1);
    assert_int_equal(traps.at[1].kind, LWP_TRAP_ACCESS);
    assert_int_equal(what_of(&traps.at[1].trap), LOAD);
}

static void test_kernel(void **state)
{
    (void)state;
    int event = event_open(true);
    if (event < 0)
        skip(); /* not permitted to see what the kernel does */
    run(run_system_call, event);
    close(event);
    assert_in_range(traps.count, 1, TRAPS_MOST);
    for (unsigned i = 0; i < traps.count; i++)
        assert_int_equal(traps.at[i].kind, LWP_TRAP_KERNEL);
}

/* What a masked access touched is not known here; and some processors stop after one that touched nothing, or after a prefetch. */
static void test_no_access(void **state)
{
    (void)state;
    int event = event_open(false);
    if (event < 0)
        skip();
    static const struct {
        void (*run)(void *, uint64_t);
        unsigned needs;
    } pieces[] = {{run_prefetch, ANY}, {run_masked_off, AVX2}, {run_masked, AVX2}, {run_wide64_masked_off, AVX512}, {run_wide64_masked, AVX512}};
    for (unsigned i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (!processor_has(pieces[i].needs))
            continue;
        run(pieces[i].run, event);
        for (unsigned k = 0; k < traps.count && k < TRAPS_MOST; k++)
            assert_int_equal(traps.at[k].kind, LWP_TRAP_UNKNOWN);
    }
    close(event);
}

/* A stop whose instruction has another operand is not taken for it. */
static void test_contradicted(void **state)
{
    (void)state;
    struct lwp_stop stop = {.cache = traps.cache, .after.known = 0xffff};
    struct lwp_trap trap;
    stop.after.value[RDI] = (uint64_t)watched + BYTES;
    stop.after.value[RSP] = (uint64_t)room;
    stop.location = lwp_code_location_find(traps.cache, (uint64_t)at_store + 3); /* movq's length */
    assert_true(stop.location->decoded);
    assert_int_equal(lwp_trap_find(&stop, (uint64_t)watched, BYTES, &trap), LWP_TRAP_UNKNOWN);
    stop.after.value[RDI] = (uint64_t)watched;
    assert_int_equal(lwp_trap_find(&stop, (uint64_t)watched, BYTES, &trap), LWP_TRAP_ACCESS);
}

static int set_up(void **state)
{
    (void)state;
    static uint8_t stack[65536];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    traps.cache = lwp_code_cache_new(looked_at());
    return !lwp_insn_init() || !traps.cache || sigaltstack(&alternate, NULL) || sigaction(SIGTRAP, &action, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_single),    cmocka_unit_test(test_strings),
                                       cmocka_unit_test(test_call),      cmocka_unit_test(test_kernel),
                                       cmocka_unit_test(test_no_access), cmocka_unit_test(test_contradicted)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
