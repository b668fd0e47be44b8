/* What the sampler infers from an interrupted thread, against the truth of single steps: a trap handler follows ordinary
 * code (of the C library and below) one instruction at a time, infers at every step as if a timer had fired there, and
 * compares with what ran before and what runs next. The light engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/code/charge.c"
#include "collector/code/execution.c"
#include "collector/code/forward_walk.c"
#include "collector/code/function.c"
#include "collector/code/insn.c"
#include "collector/code/predecessors.c"
#include "collector/code/ran.c"
#include "collector/code/registers.c"
#include "collector/light/code/own_program.c"
#include "collector/light/own/own_memory.c"
#include "collector/light/own/watched_memory.c"
#include "tests/unit/looked_at.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

bool lwp_confinement_came(void)
{
    return false;
}

enum { TRAP_FLAG = 0x100, WALK_EVERY = 7, WALKS_OPEN = 4, STEPS_MOST = 600000 };

struct ran {
    uint64_t ip, address;
    bool accesses, known;
};

/* Else the handler's own frames are taken from the counters that the walked code is about to load (gcc 13 and later). */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0";
}

static struct {
    struct lwp_code_cache *cache;
    bool on;
    struct ran last, before; /* the two instructions that ran last */
    struct open_walk {
        uint64_t wanted, address, until;
    } walk[WALKS_OPEN];
    uint32_t random;
    uint64_t steps, sure, ways, unknown, undone, wrong_undone, again, wrong_again, wrong_before, found, wrong_found, dithered,
        wrong_dithered, apart;
    struct lwp_insn_access next[LWP_WALK_KEEP]; /* foretold with none skipped: they come in this order */
    unsigned next_count, next_at;
    uint64_t next_until;
    struct chosen {
        struct lwp_insn_access access;
        uint64_t until;
    } chosen[2]; /* a store and a load that were chosen, perhaps of another function */
    uint64_t chosen_count, chosen_elsewhere, wrong_chosen;
    char first_wrong[256];
} step;

static void step_wrong(uint64_t *count, const char *what, uint64_t ip, uint64_t said, uint64_t truth)
{
    if (!(*count)++ && !step.first_wrong[0])
        snprintf(step.first_wrong, sizeof step.first_wrong, "%s at %#lx: said %#lx, is %#lx", what, (unsigned long)ip,
                 (unsigned long)said, (unsigned long)truth);
}

/* The access that the time is charged to: of the instruction that ran last, or of the compare fused with it. */
static const struct ran *truth_before(uint64_t high)
{
    static const struct ran none;
    const struct lwp_insn last = *lwp_code_at(step.cache, step.last.ip, high);
    if (lwp_insn_leaves(&last))
        return &none;
    if (step.last.accesses || last.op != LWP_OP_JCC || !step.before.accesses)
        return step.last.accesses ? &step.last : &none;
    const struct lwp_insn *before = lwp_code_at(step.cache, step.before.ip, high);
    return before->ip + before->length == last.ip && insn_fuses(before) ? &step.before : &none;
}

static void check_before(const struct lwp_code_location *location, const struct lwp_registers *registers, uint64_t flags)
{
    const struct lwp_point point = {.location = *location, .registers = *registers, .flags = flags};
    uint64_t access;
    step.ways += location->way_count > 1;
    if (!lwp_point_before(step.cache, &point, &access)) {
        struct lwps_sample sample = {0};
        if (lwp_point_charge(step.cache, &point, &sample) || sample.access_count)
            step_wrong(&step.wrong_before, "not known what ran, but charged", location->ip, sample.access[0].ip, step.last.ip);
        step.unknown++;
        return;
    }
    step.sure++;
    const struct ran *truth = truth_before(location->high);
    if (truth->ip != access) {
        step_wrong(&step.wrong_before, "the instruction before", location->ip, access, step.last.ip);
        return;
    }
    if (!access)
        return;
    struct lwp_insn insn = *lwp_code_at(step.cache, access, location->high);
    uint64_t address;
    if ((insn.base <= 15 && insn.spoils >> insn.base & 1) || (insn.index <= 15 && insn.spoils >> insn.index & 1) ||
        !lwp_insn_address(&insn, registers, &address)) {
        if (!lwp_ran_address(step.cache, location, access, registers, &address))
            return;
        step.again++;
        if (!truth->known || truth->address != address)
            step_wrong(&step.wrong_again, "computed again", access, address, truth->address);
        return;
    }
    step.undone++;
    if (!truth->known || truth->address != address)
        step_wrong(&step.wrong_undone, "undone", access, address, truth->address);
}

/* What earlier steps foretold about the instruction that runs now. */
static void check_foretold(const struct ran *now)
{
    for (unsigned i = 0; i < WALKS_OPEN; i++) {
        struct open_walk *walk = &step.walk[i];
        if (!walk->wanted)
            continue;
        if (walk->wanted == now->ip) {
            if (!now->known || walk->address != now->address)
                step_wrong(&step.wrong_found, "walked to", now->ip, walk->address, now->address);
            walk->wanted = 0;
        } else if (step.steps > walk->until) {
            step_wrong(&step.wrong_found, "never came", walk->wanted, walk->address, 0);
            walk->wanted = 0;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        struct chosen *chosen = &step.chosen[i];
        if (chosen->until && now->ip == chosen->access.ip && now->known && now->address == chosen->access.address) {
            chosen->until = 0;
        } else if (chosen->until && step.steps > chosen->until) {
            step_wrong(&step.wrong_chosen, "chosen", chosen->access.ip, chosen->access.address, 0);
            chosen->until = 0;
        }
    }
    if (step.next_at == step.next_count)
        return;
    const struct lwp_insn_access *next = &step.next[step.next_at];
    if (now->ip == next->ip && now->known && now->address == next->address)
        step.next_at++;
    else if (step.steps > step.next_until) {
        step_wrong(&step.wrong_dithered, "foretold", next->ip, next->address, 0);
        step.next_at = step.next_count;
    }
}

static void foretell(const struct lwp_code_location *location, const struct lwp_registers *registers, uint64_t flags)
{
    struct open_walk *slot = &step.walk[step.steps / WALK_EVERY % WALKS_OPEN];
    struct lwp_forward_walk walk = {.wanted = slot->wanted || !step.last.accesses ? 0 : step.last.ip};
    uint64_t wanted = walk.wanted;
    bool follow = step.next_at == step.next_count;
    walk.skip = follow ? 0 : 1000;
    walk.store.from = step.chosen[0].until ? 0 : LWP_WALK_LOOKED;
    walk.load.from = step.chosen[1].until ? 0 : LWP_WALK_LOOKED;
    lwp_walk_forward(step.cache, location, registers, flags, &walk, &step.random);
    if (wanted && walk.found) {
        step.found++;
        *slot = (struct open_walk){wanted, walk.found_address, step.steps + WALK_STEPS};
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct lwp_walk_choice *choice = i ? &walk.load : &walk.store;
        if (!choice->seen)
            continue;
        step.chosen[i] = (struct chosen){choice->access, step.steps + WALK_STEPS};
        step.chosen_count++;
        step.chosen_elsewhere += choice->path > 0;
    }
    if (follow) {
        step.dithered += walk.kept_count;
        for (unsigned i = 0; i < walk.kept_count; i++)
            step.apart += walk.kept[i].apart;
        memcpy(step.next, walk.kept, sizeof step.next);
        step.next_count = walk.kept_count;
        step.next_at = 0;
        step.next_until = step.steps + WALK_STEPS;
    }
}

static void step_trap(int signal, siginfo_t *info, void *given)
{
    (void)signal;
    (void)info;
    ucontext_t *context = given;
    greg_t *saved = context->uc_mcontext.gregs;
    if (!step.on || ++step.steps > STEPS_MOST) {
        saved[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        return;
    }
    struct lwp_registers registers;
    lwp_registers_take(&registers, context);
    uint64_t flags = (uint64_t)saved[REG_EFL];
    struct ran now = {.ip = (uint64_t)saved[REG_RIP]};
    const struct lwp_code_location *location = lwp_code_location_find(step.cache, now.ip);
    bool repeats = false;
    if (location->decoded) {
        const struct lwp_insn *insn = lwp_code_at(step.cache, now.ip, location->high);
        now.accesses = lwp_insn_accesses(insn);
        now.known = now.accesses && lwp_insn_address(insn, &registers, &now.address);
        repeats = insn->rep_string;
    }
    if (location->decoded && !repeats) {
        if (step.last.ip) /* the first has none before */
            check_before(location, &registers, flags);
        if (step.steps % WALK_EVERY == 0)
            foretell(location, &registers, flags);
    }
    check_foretold(&now); /* a walk begins with the instruction at ip */
    step.before = step.last;
    step.last = now;
}

/* ---- what is stepped through ---- */

static int compare_numbers(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

struct item {
    struct item *left, *right;
    int key, count;
    double weight;
};

static __attribute__((noinline)) struct item *tree_insert(struct item *root, struct item *item)
{
    struct item **at = &root;
    while (*at)
        at = item->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = item;
    return root;
}

static __attribute__((noinline)) double tree_sum(const struct item *item)
{
    return item ? item->weight * item->count + tree_sum(item->left) + tree_sum(item->right) : 0;
}

static __attribute__((noinline)) long interpret(const unsigned char *program, long *memory, int steps)
{
    long accumulator = 1;
    for (int at = 0; steps-- > 0; at = (at + 1) & 63) {
        switch (program[at]) {
        case 0: accumulator += memory[at & 7]; break;
        case 1: memory[at & 7] ^= accumulator; /* fall through */
        case 2: accumulator ^= memory[(at + 3) & 7] << 1; break;
        case 3: accumulator -= 3; /* fall through */
        case 4: memory[(unsigned long)accumulator & 7] += at; break;
        case 5: at = (at + memory[0]) & 63; break;
        case 6: accumulator = memory[(unsigned long)accumulator % 5] * 7 + 1; break;
        default: accumulator = accumulator > 9 ? accumulator / 3 : accumulator + 8; break;
        }
    }
    return accumulator;
}

/* What is loaded takes the register of the index, which a division or a multiplication has made; the program goes on by a floating-point
 * number, which no walk computes. */
static __attribute__((noinline)) void look_up(const long *table, uint64_t size)
{
    static double sums[2];
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 300; i++) {
        random = random * 25214903917u + 11;
        uint64_t low = random >> 16, signed_low = random, narrow = random >> 40, product = size;
        uint64_t unsigned_64, signed_64, unsigned_32, high;
        __asm__ volatile("xor %%edx, %%edx\n\tdiv %2\n\tmov (%3,%%rdx,8), %%rdx" : "=&d"(unsigned_64), "+a"(low) : "r"(size), "r"(table));
        __asm__ volatile("cqo\n\tidiv %2\n\tmov (%3,%%rdx,8), %%rdx"
                         : "=&d"(signed_64), "+a"(signed_low)
                         : "r"(size), "r"(table + size));
        __asm__ volatile("cdq\n\tdivl %k2\n\tmov (%3,%%rdx,8), %%rdx"
                         : "=&d"(unsigned_32), "+a"(narrow)
                         : "r"(size), "r"(table + size));
        __asm__ volatile("mul %2\n\tmov (%3,%%rdx,8), %%rdx" : "=&d"(high), "+a"(product) : "r"(random), "r"(table));
        sums[sums[0] > sums[1]] += (double)(unsigned_64 + signed_64 + unsigned_32 + high);
    }
}

/* As virtual functions are called: by a table that the object leads to. */
struct shape {
    const struct shape_calls *calls;
    double size;
};

struct shape_calls {
    double (*area)(const struct shape *shape);
    void (*grow)(struct shape *shape, double by);
};

static double square_area(const struct shape *shape)
{
    return shape->size * shape->size;
}
static double circle_area(const struct shape *shape)
{
    return shape->size * shape->size * 3.14;
}
static void any_grow(struct shape *shape, double by)
{
    shape->size += by;
}

static __attribute__((noinline)) double shapes_sum(struct shape *const *shapes, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        shapes[i]->calls->grow(shapes[i], 0.5);
        sum += shapes[i]->calls->area(shapes[i]);
    }
    return sum;
}

static double shapes(void)
{
    enum { SHAPES = 100 };
    static const struct shape_calls square = {square_area, any_grow}, circle = {circle_area, any_grow};
    static struct shape all[SHAPES];
    struct shape *order[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        all[i] = (struct shape){i % 3 ? &square : &circle, i};
        order[i] = &all[i * 37 % SHAPES];
    }
    return shapes_sum(order, SHAPES);
}

/* Ways by floating-point numbers, which meet again: in the caller, behind two jumps, behind a store on one of them. */
struct body {
    double x, y, charge;
    long kind;
};

static __attribute__((noinline)) double body_energy(const struct body *body)
{
    if (body->x * body->x + body->y > 50)
        return body->charge * 2;
    return body->charge - body->x;
}

static __attribute__((noinline)) double bodies_sum(struct body *bodies, size_t count, long *kinds)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        struct body *body = &bodies[i];
        sum += body_energy(body);
        most = body->x > most ? body->x : most;
        if (body->y == body->x)
            body->kind++;
        if (body->x > 1 && body->y < 5)
            kinds[i % 4] += body->kind;
        kinds[4] += body->kind;
    }
    return sum + most;
}

static double bodies(void)
{
    enum { BODIES = 100 };
    static struct body all[BODIES];
    static long kinds[5];
    for (int i = 0; i < BODIES; i++)
        all[i] = (struct body){i * 37 % 11, i * 17 % 7, i, i % 3};
    return bodies_sum(all, BODIES, kinds) + (double)kinds[4];
}

static double work(void)
{
    enum { NUMBERS = 200, ITEMS = 60 };
    static int numbers[NUMBERS];
    static struct item items[ITEMS];
    static long memory[8] = {3, 1, 4, 1, 5, 9, 2, 6}, table[NUMBERS * 2];
    static char text[2048];
    unsigned char program[64];
    double sum = 0;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (i * 7919) % 1000 - 500;
    qsort(numbers, NUMBERS, sizeof numbers[0], compare_numbers);
    struct item *root = NULL;
    for (int i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.key = (i * 37) % 101, .count = i, .weight = i * 0.5};
        root = tree_insert(root, &items[i]);
    }
    sum += tree_sum(root);
    for (int i = 0; i < 64; i++)
        program[i] = (unsigned char)((i * 11 + i / 3) % 8);
    sum += (double)interpret(program, memory, 3000);
    look_up(table, NUMBERS);
    sum += shapes() + bodies();
    int length = 0;
    for (int i = 0; i < 12; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%d:%s:%g:%lx;", numbers[i], "abcdef" + i % 6,
                           numbers[i] / 7.0, (unsigned long)memory[i % 8]);
    for (const char *at = text; (at = strchr(at, ':')); at++)
        sum += strtod(at + 1, NULL) + (double)strtol(at + 1, NULL, 16) + (double)strlen(at);
    char copy[2048];
    memmove(copy, text, sizeof copy);
    sum += strstr(copy, "f:") != NULL;
    sum += bsearch(&numbers[17], numbers, NUMBERS, sizeof numbers[0], compare_numbers) != NULL;
    struct tm calendar;
    time_t when = 1000000000;
    gmtime_r(&when, &calendar);
    sum += (double)strftime(copy, sizeof copy, "%Y-%m-%d %H:%M:%S", &calendar);
    return sum;
}

static void test_single_steps(void **state)
{
    (void)state;
    assert_true(lwp_insn_init());
    step.cache = lwp_code_cache_new(looked_at());
    assert_non_null(step.cache);
    struct sigaction action = {.sa_sigaction = step_trap, .sa_flags = SA_SIGINFO}, old;
    sigaction(SIGTRAP, &action, &old);
    double plain = work(); /* also resolves the functions */
    step.on = true;
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    double stepped = work();
    step.on = false;
    sigaction(SIGTRAP, &old, NULL);
    print_message("%lu steps: %lu certain predecessors (%lu wrong), %lu unknown, of %lu with several ways, %lu undone (%lu wrong), %lu "
                  "computed again (%lu wrong), %lu walked to "
                  "(%lu wrong), %lu foretold (%lu wrong; %lu behind ways that are not known), %lu chosen, %lu of them in other functions "
                  "(%lu wrong)\n",
                  (unsigned long)step.steps, (unsigned long)step.sure, (unsigned long)step.wrong_before, (unsigned long)step.unknown,
                  (unsigned long)step.ways, (unsigned long)step.undone, (unsigned long)step.wrong_undone, (unsigned long)step.again,
                  (unsigned long)step.wrong_again, (unsigned long)step.found, (unsigned long)step.wrong_found, (unsigned long)step.dithered,
                  (unsigned long)step.wrong_dithered, (unsigned long)step.apart, (unsigned long)step.chosen_count,
                  (unsigned long)step.chosen_elsewhere, (unsigned long)step.wrong_chosen);
    if (step.first_wrong[0])
        print_error("%s\n", step.first_wrong);
    (void)plain;
    (void)stepped;
    assert_true(step.steps > 20000);
    /* Where the code lies decides about 1,500 of 18,000: a switch adds up the place that it jumps to, and leaves that sum's flags. */
    assert_true(step.unknown < step.ways / 5);
    assert_true(step.sure > 2000 && step.undone > 1000 && step.found > 1000 && step.dithered > 300); /* found: 500 without virtual calls */
    assert_int_equal(step.wrong_before, 0);
    assert_int_equal(step.wrong_undone, 0);
    assert_true(step.again > 2000);
    assert_int_equal(step.wrong_again, 0);
    assert_int_equal(step.wrong_found, 0);
    assert_int_equal(step.wrong_dithered, 0);
    assert_true(step.apart > 20);
    assert_true(step.chosen_count > 500 && step.chosen_elsewhere > 50);
    assert_int_equal(step.wrong_chosen, 0);
    lwp_code_cache_free(step.cache);
}

/* rax % rsi of a table of numbers. */
long divided(const long *table, uint64_t size);
__asm__(".text\n.globl divided\n.type divided, @function\ndivided:\n\t.cfi_startproc\n\txor %edx, %edx\n\tdiv %rsi\n\t"
        "mov (%rdi,%rdx,8), %rax\n\tret\n\t.cfi_endproc\n.size divided, .-divided");

/* What is behind a division is a visit that few walks go to. */
static void test_divisions(void **state)
{
    (void)state;
    enum { WALKS = 1600, INDEX = 7, SIZE = 10 };
    static const long table[SIZE];
    struct lwp_registers registers = {.known = 0xffff};
    uint32_t random = 1;
    unsigned went = 0;
    assert_true(lwp_insn_init());
    struct lwp_code_cache *cache = lwp_code_cache_new(looked_at());
    assert_non_null(cache);
    registers.value[LWP_RAX] = 3 * SIZE + INDEX;
    registers.value[RSI] = SIZE;
    registers.value[RDI] = (uint64_t)(uintptr_t)table;
    for (unsigned i = 0; i < WALKS; i++) {
        struct lwp_forward_walk walk = {.wanted = 0};
        lwp_walk_forward(cache, lwp_code_location_find(cache, (uint64_t)(uintptr_t)divided), &registers, 0, &walk, &random);
        if (walk.kept_count)
            assert_int_equal(walk.kept[0].address, (uint64_t)(uintptr_t)&table[INDEX]);
        went += walk.kept_count;
    }
    assert_in_range(went, WALKS / 16, WALKS / 5);
    lwp_code_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_single_steps), cmocka_unit_test(test_divisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
