/* Watches without a program: which candidates get a register, when a value is the same, what is forgotten. The light
 * engine's file is included, as it is no part of lwp; what it asks of others is answered here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/watched_memory.c"
#include "collector/light/watch/candidates.c"
#include "collector/light/watch/watch.c"
#include "collector/record/value.c"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

bool lwp_debug_arm(struct lwp_debug_registers *registers, unsigned which, enum lwp_debug_kind kind, uint64_t address,
                   unsigned bytes)
{
    (void)kind, (void)address, (void)bytes;
    registers->at[which].armed = true;
    return true;
}

void lwp_debug_disarm(struct lwp_debug_registers *registers, unsigned which)
{
    registers->at[which].armed = false;
}

bool lwp_system_calls_hide(uint64_t ip)
{
    (void)ip;
    return false;
}

void lwp_frames_take(struct lwp_frames *frames, void *ucontext, bool unwind)
{
    (void)frames, (void)ucontext, (void)unwind;
}

uint32_t lwp_frames_context(struct lwp_thread *self, const struct lwp_frames *frames)
{
    (void)self, (void)frames;
    return 1;
}

void lwp_home_find(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t address,
                   enum lwps_source source, struct lwps_access *access)
{
    (void)self, (void)frames, (void)source;
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
}

struct lwps_access lwp_access_record(const struct lwp_insn_access *access)
{
    return (struct lwps_access){.ip = access->ip,
                                .bytes = access->bytes,
                                .flags = (uint8_t)((access->load ? LWPS_ACCESS_LOAD : 0) | (access->store ? LWPS_ACCESS_STORE : 0))};
}

void lwp_stop_look(struct lwp_stop *stop)
{
    (void)stop;
}

static struct lwp_trap next_trap; /* ip 0: none that is certain */

enum lwp_trap_kind lwp_trap_find(const struct lwp_stop *stop, uint64_t address, unsigned bytes, struct lwp_trap *trap)
{
    (void)stop, (void)address, (void)bytes;
    *trap = next_trap;
    return next_trap.access.ip ? LWP_TRAP_ACCESS : LWP_TRAP_UNKNOWN;
}

/* ---- the reservoir (4.4.1) ---- */

static void survivors(uint8_t verdicts, unsigned registers)
{
    enum { CANDIDATES = 12, ROUNDS = 40000 };
    static struct lwp_watches watches;
    static struct lwp_debug_registers armed;
    static struct lwp_thread self;
    unsigned kept[CANDIDATES] = {0};
    self.random = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        lwp_watches_start(&watches, &armed, verdicts);
        for (uint64_t i = 0; i < CANDIDATES; i++) {
            const struct lwp_watch_candidate chosen = {
                .time = i, .access = {.ip = 1, .address = 0x10000 + 8 * i, .bytes = 8, .flags = LWPS_ACCESS_STORE}};
            lwp_watches_offer(&watches, &self, &chosen, &(struct lwp_walk_choice){0}, true);
        }
        unsigned held = 0;
        for (unsigned i = 0; i < LWP_WATCHES; i++)
            if (watches.at[i].state != LWP_WATCH_FREE) {
                kept[watches.at[i].record.time]++;
                held++;
            }
        assert_int_equal(held, registers);
        lwp_watches_finish(&watches, &self);
    }
    for (int i = 0; i < CANDIDATES; i++) {
        double share = (double)kept[i] / ROUNDS, expected = (double)registers / CANDIDATES;
        if (share < expected - 0.012 || share > expected + 0.012) /* five standard errors */
            fail_msg("candidate %d of %d survives with %.3f instead of %.3f", i, CANDIDATES, share, expected);
    }
    for (unsigned i = 0; i < LWP_WATCHED_PAGES; i++)
        assert_int_equal(lwp_watched_pages[i], 0); /* nothing is left behind */
}

static void test_reservoir(void **state)
{
    (void)state;
    survivors(LWPS_VERDICT_DEAD_STORE, 3);
    survivors(LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_LOAD, 2); /* one is the loads' */
}

static void test_pieces(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (uint64_t address = 0x1000; address < 0x1010; address++)
        for (unsigned bytes = 1; bytes <= 64; bytes++) {
            struct lwp_watch watch;
            watch_piece(&watch, &random, address, bytes);
            assert_true(watch.bytes == 1 || watch.bytes == 2 || watch.bytes == 4 || watch.bytes == 8);
            assert_int_equal(watch.address % watch.bytes, 0);
            assert_true(watch.address >= address && watch.address + watch.bytes <= address + bytes);
        }
}

/* ---- stops ---- */

enum { STORE_IP = 1, OTHER_IP = 2, LOAD_IP = 3 };

static struct subject {
    struct lwp_watches watches;
    struct lwp_debug_registers registers;
    struct lwp_thread self;
    struct lwp_frames frames;
} subject;
static uint64_t cell[4] __attribute__((aligned(32)));

static void offer(uint64_t *address, bool store)
{
    const uint64_t ip = store ? STORE_IP : LOAD_IP;
    const struct lwp_watch_candidate chosen = {
        .time = 1,
        .weight = 10,
        .access = {.ip = ip, .address = (uint64_t)address, .bytes = 8, .flags = store ? LWPS_ACCESS_STORE : LWPS_ACCESS_LOAD}};
    const struct lwp_walk_choice looked = {.seen = 5, .site = {{OTHER_IP, 3}, {ip, 2}}, .sites = 2};
    lwp_watches_offer(&subject.watches, &subject.self, &chosen, &looked, true);
    lwp_watches_end_sample(&subject.watches, &subject.self);
}

static void stop(unsigned which, uint64_t ip, const void *address, unsigned bytes)
{
    ucontext_t context = {0};
    next_trap.access = (struct lwp_insn_access){.ip = ip, .address = (uint64_t)address, .bytes = (uint16_t)bytes,
                                                .load = ip == LOAD_IP, .store = ip != LOAD_IP};
    struct lwp_stop at = {.frames = &subject.frames, .ucontext = &context};
    lwp_watches_trap(&subject.watches, &subject.self, which, &at);
}

static unsigned state(unsigned which)
{
    return subject.watches.at[which].state;
}

static void subject_start(uint8_t verdicts)
{
    subject = (struct subject){0};
    lwp_watches_start(&subject.watches, &subject.registers, verdicts);
}

static uint64_t counted(uint64_t ip)
{
    uint64_t weight = 0;
    for (unsigned i = 0; i < LWP_CANDIDATE_SETS; i++)
        for (unsigned way = 0; way < LWP_CANDIDATE_WAYS; way++)
            if (subject.watches.candidates.at[i][way].ip == ip)
                weight += subject.watches.candidates.at[i][way].weight;
    return weight;
}

/* A sample's weight is dealt out to all that it looked at. */
static void test_parts_of_weight(void **unused)
{
    (void)unused;
    subject_start(LWPS_VERDICT_DEAD_STORE);
    for (unsigned i = 0; i <= LWP_WATCHES; i++) {
        offer(&cell[i], true);
        assert_int_equal(counted(OTHER_IP), (i + 1) * 6);
        assert_int_equal(counted(STORE_IP), i < LWP_WATCHES ? 0 : 4); /* one was not taken, or another evicted */
    }
    for (unsigned i = 0; i < LWP_WATCHES; i++)
        assert_int_equal(subject.watches.at[i].record.weight, 4);
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* The one frame register goes to stores and loads on the stack alike, although the store of a sample comes first. */
static void test_frame(void **unused)
{
    (void)unused;
    enum { ROUNDS = 20000, SAMPLES = 5 };
    unsigned stores = 0, loads = 0;
    subject_start(LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_LOAD);
    for (int round = 0; round < ROUNDS; round++) {
        for (int sample = 0; sample < SAMPLES; sample++) {
            for (int load = 0; load < 2; load++) {
                const struct lwp_watch_candidate chosen = {.access = {.address = (uint64_t)&cell[load], .bytes = 8,
                                                                .flags = load ? LWPS_ACCESS_LOAD : LWPS_ACCESS_STORE,
                                                                .home = LWPS_HOME_STACK, .home_id = 1, .home_base = 64}};
                lwp_watches_offer(&subject.watches, &subject.self, &chosen, &(struct lwp_walk_choice){0}, true);
            }
            lwp_watches_end_sample(&subject.watches, &subject.self);
            unsigned held = 0;
            for (unsigned i = 0; i < LWP_WATCHES; i++)
                held += state(i) != LWP_WATCH_FREE;
            assert_int_equal(held, 1);
        }
        bool load = subject.watches.at[subject.watches.framed].record.verdicts & LWPS_VERDICT_SILENT_LOAD;
        stores += !load;
        loads += load;
        lwp_watches_end_frame(&subject.watches, &subject.self, LWPS_WATCH_FRAME_DIED);
    }
    double share = (double)loads / (stores + loads);
    if (share < 0.48 || share > 0.52)
        fail_msg("loads have the frame %.3f of the time", share);
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* One instruction sets off two registers, the kernel tells of one. */
static void test_two_at_once(void **unused)
{
    (void)unused;
    subject_start(LWPS_VERDICT_DEAD_STORE);
    offer(&cell[0], true);
    offer(&cell[0], true);
    offer(&cell[1], true);
    stop(1, STORE_IP, &cell[0], 8);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    assert_int_equal(state(1), LWP_WATCH_OPEN);
    assert_int_equal(state(2), LWP_WATCH_PREDICTED);
    stop(2, STORE_IP, &cell[1], 8);
    stop(0, OTHER_IP, &cell[0], 16); /* wide enough for all three */
    for (unsigned i = 0; i < LWP_WATCHES; i++)
        assert_int_equal(state(i), LWP_WATCH_FREE);
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* What overwrites a store may come in parts; a load of the parts that are no longer its own is no use of it. */
static void test_parts(void **unused)
{
    (void)unused;
    char *bytes = (char *)&cell[0];
    subject_start(LWPS_VERDICT_DEAD_STORE);
    offer(&cell[0], true);
    stop(0, STORE_IP, bytes, 8);
    stop(0, OTHER_IP, bytes, 4);
    stop(0, LOAD_IP, bytes + 2, 2);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    stop(0, OTHER_IP, bytes + 4, 4);
    assert_int_equal(state(0), LWP_WATCH_FREE); /* dead */
    offer(&cell[0], true);
    stop(0, STORE_IP, bytes, 8);
    stop(0, OTHER_IP, bytes + 4, 8); /* reaches into it */
    stop(0, OTHER_IP, bytes, 4);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    stop(0, LOAD_IP, bytes + 4, 1);
    assert_int_equal(state(0), LWP_WATCH_FREE); /* of use */
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* What is kept of the time between two accesses is without the collector's own: from where the program goes on. */
static void test_time_between(void **unused)
{
    (void)unused;
    enum { NS = 5000000 };
    subject_start(LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_STORE);
    offer(&cell[0], true); /* at time 1 */
    const uint64_t before = lwp_clock(CLOCK_MONOTONIC);
    stop(0, STORE_IP, &cell[0], 8);
    struct lwp_watch *watch = &subject.watches.at[0];
    assert_true(watch->opened >= before && watch->opened <= lwp_clock(CLOCK_MONOTONIC));
    watch->opened -= NS;
    const uint64_t most = lwp_clock(CLOCK_MONOTONIC) - watch->opened;
    stop(0, LOAD_IP, &cell[0], 8); /* decides one of the two */
    assert_int_equal(watch->record.verdicts, LWPS_VERDICT_SILENT_STORE);
    assert_true(watch->record.watched_ns >= NS && watch->record.watched_ns >= most);
    assert_true(watch->record.watched_ns <= lwp_clock(CLOCK_MONOTONIC) - watch->opened);
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* A store to what the program has loaded is silent or not at once; one to what nobody was seen to load waits for the next. */
static void test_compared_with_memory(void **unused)
{
    (void)unused;
    subject_start(LWPS_VERDICT_SILENT_STORE);
    offer(&cell[0], true);
    stop(0, STORE_IP, &cell[0], 8);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    lwp_watches_give_up(&subject.watches, &subject.self);
    offer(&cell[0], true);
    stop(0, LOAD_IP, &cell[0], 4); /* half of it */
    stop(0, STORE_IP, &cell[0], 8);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    lwp_watches_give_up(&subject.watches, &subject.self);
    offer(&cell[0], true);
    stop(0, LOAD_IP, &cell[0], 8);
    stop(0, STORE_IP, &cell[0], 8);
    assert_int_equal(state(0), LWP_WATCH_FREE);

    subject_start(LWPS_VERDICT_SILENT_STORE | LWPS_VERDICT_DEAD_STORE); /* whether it is dead is still open */
    cell[0] = 5;
    offer(&cell[0], true);
    stop(0, LOAD_IP, &cell[0], 8);
    cell[0] = 6;
    stop(0, OTHER_IP, &cell[0], 8);
    cell[0] = 7;
    stop(0, STORE_IP, &cell[0], 8);
    assert_int_equal(state(0), LWP_WATCH_OPEN);
    assert_int_equal(subject.watches.at[0].record.verdicts, LWPS_VERDICT_DEAD_STORE);
    assert_true(subject.watches.at[0].before == 6 && subject.watches.at[0].old == 7);
    lwp_watches_finish(&subject.watches, &subject.self);
}

/* ---- memory that goes away ---- */

static void test_forget(void **state)
{
    (void)state;
    int slot = lwp_watched_enter(0x7f0000001238), other = lwp_watched_enter(0x7f0000009000);
    assert_true(slot >= 0 && other >= 0);
    lwp_watched_forget((void *)0x7f0000001240, 64, LWPS_WATCH_FREED); /* beside it */
    lwp_watched_forget((void *)0x7f0000001000, 0x230, LWPS_WATCH_FREED);
    assert_int_equal(lwp_watched_lost(slot), 0);
    lwp_watched_forget((void *)0x7f0000001200, 64, LWPS_WATCH_FREED);
    assert_int_equal(lwp_watched_lost(slot), LWPS_WATCH_FREED);
    assert_int_equal(lwp_watched_lost(other), 0);
    lwp_watched_forget((void *)0x7f0000000000, 1 << 20, LWPS_WATCH_KERNEL);
    assert_int_equal(lwp_watched_lost(other), LWPS_WATCH_KERNEL);
    lwp_watched_leave(slot);
    lwp_watched_leave(other);
    slot = lwp_watched_enter(0x7f0000001238);
    assert_int_equal(lwp_watched_lost(slot), 0); /* a new watch, a new chance */
    lwp_watched_leave(slot);

    lwp_shared_add(0x100000, 0x1000);
    assert_true(lwp_shared_has(0x100000) && lwp_shared_has(0x100fff) && !lwp_shared_has(0x101000));
    lwp_shared_remove(0x100000, 0x1000);
    assert_false(lwp_shared_has(0x100000));
}

static void test_shared_parts(void **state)
{
    (void)state;
    for (int again = 0; again < 1000; again++) { /* nothing is left over */
        lwp_shared_add(0x100000, 0x8000);
        assert_int_equal(lwp_shared_from(0x100000), 0x8000);
        lwp_shared_remove(0x102000, 0x1000); /* a hole */
        assert_true(lwp_shared_has(0x101fff) && !lwp_shared_has(0x102000) && !lwp_shared_has(0x102fff));
        assert_true(lwp_shared_has(0x103000) && lwp_shared_has(0x107fff));
        lwp_shared_remove(0xff000, 0x2000); /* the start, and what is before it */
        assert_true(!lwp_shared_has(0x100fff) && lwp_shared_has(0x101000));
        lwp_shared_remove(0x107000, 0x1000); /* the end */
        assert_true(lwp_shared_has(0x106fff) && !lwp_shared_has(0x107000));
        lwp_shared_remove(0x200000, 0x1000); /* something else */
        assert_true(lwp_shared_has(0x101000) && lwp_shared_has(0x103000));
        lwp_shared_remove(0x100000, 0x8000);
        assert_false(lwp_shared_has(0x101000) || lwp_shared_has(0x103000) || lwp_shared_has(0x106fff));
    }
    assert_false(lwp_shared_has(0x900000)); /* as it would be were there too many */
}

/* ---- values ---- */

static uint64_t of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t of_floats(float low, float high)
{
    const float both[2] = {low, high};
    uint64_t bits;
    memcpy(&bits, both, sizeof bits);
    return bits;
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(lwp_value_compare(5, 5, 8, 0), LWPS_VALUE_SAME);
    assert_int_equal(lwp_value_compare(0x105, 0x205, 1, 0), LWPS_VALUE_SAME); /* only the low byte is compared */
    assert_int_equal(lwp_value_compare(0x105, 0x205, 2, 0), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(100, 101, 8, 0), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(of_double(100), of_double(100.9), 8, 8), LWPS_VALUE_CLOSE);
    assert_int_equal(lwp_value_compare(of_double(100), of_double(101.1), 8, 8), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(of_double(-100), of_double(-99.5), 8, 8), LWPS_VALUE_CLOSE);
    assert_int_equal(lwp_value_compare(of_double(100), of_double(-100), 8, 8), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(of_double(0), of_double(1e-300), 8, 8), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(of_double(NAN), of_double(NAN), 8, 8), LWPS_VALUE_SAME); /* the same bits */
    assert_int_equal(lwp_value_compare(of_floats(1, 2), of_floats(1.005f, 2), 8, 4), LWPS_VALUE_CLOSE);
    assert_int_equal(lwp_value_compare(of_floats(1, 2), of_floats(1.005f, 2.1f), 8, 4), LWPS_VALUE_OTHER);
    assert_int_equal(lwp_value_compare(1000, 1001, 4, 4), LWPS_VALUE_OTHER); /* whole numbers are no normal floats */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reservoir),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_parts_of_weight),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_time_between), cmocka_unit_test(test_compared_with_memory),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_shared_parts),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
