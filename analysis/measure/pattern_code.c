/* Writes the machine code of a pattern, with Zydis' encoder: as many rounds one after the other as the loop has, as prefetchers follow the
 * steps of each instruction; more where counting each would take instructions that the loop does not have.
 *
 * A round: each access in turn, through a register for each array; the loaded values go through one register, a chain as long as the
 * loop's own, so that loads are awaited as in the loop; then instructions whose result nobody needs, until there are as many as the loop
 * has. There should not be more: a processor has so many under way, and how many loads are among them decides how many are awaited at
 * one time. So an access is one instruction, and a chain longer than there are instructions is made of products, of three cycles each.
 * What waits for the chain takes room as well, of the integer or of the vector units: so numbers are added in those that the loop uses. */
#include "analysis/measure/pattern.h"

#include "analysis/measure/pattern_place.h"

#include <math.h>
#include <sys/mman.h>

enum {
    FILL_MOST = 1000,
    EITHER_WAY = 4 /* eighths */
};

static const ZydisRegister code_saved[] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                           ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
static void code_step(struct emit_buffer *code, ZydisRegister what, uint64_t by)
{
    emit_add(code, ZYDIS_MNEMONIC_ADD, 2, emit_register(what), emit_number((int64_t)by));
}

/* Whether its elements follow each other. */
static bool code_steps(const struct lwp_pattern_array *array)
{
    return array->walk == LWP_PATTERN_STEPS || array->walk == LWP_PATTERN_NESTED;
}

/* Whether its register moves on. */
static bool code_moves(const struct lwp_pattern_array *array)
{
    return code_steps(array) && array->spacing;
}

/* The rounds that are left of the inner loop's run and of all, whichever are fewer, are done in a loop that counts nothing else. */
static void code_inner(struct emit_buffer *code, size_t head)
{
    enum { JUMP_BYTES = 5 };
    const ZydisEncoderOperand now = emit_register(code_index), left = emit_register(code_order), all = emit_register(code_rounds);
    emit_add(code, ZYDIS_MNEMONIC_MOV, 2, now, all);
    emit_add(code, ZYDIS_MNEMONIC_CMP, 2, left, all);
    emit_add(code, ZYDIS_MNEMONIC_CMOVB, 2, now, left);
    emit_add(code, ZYDIS_MNEMONIC_SUB, 2, left, now);
    emit_add(code, ZYDIS_MNEMONIC_SUB, 2, all, now);
    ZydisEncoderRequest begin = emit_jump(ZYDIS_MNEMONIC_JMP, (int64_t)head - (int64_t)(code->used + JUMP_BYTES));
    emit_encode(code, &begin);
}

static void code_array_steps(struct emit_buffer *code, size_t array, int64_t by)
{
    emit_add(code, ZYDIS_MNEMONIC_ADD, 2, emit_register(code_arrays[array]), emit_number(by));
}

/* The third loop of a nest: after so many runs all arrays go on to the next plane. */
static void code_planes(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    const ZydisEncoderOperand left = emit_memory(code_place, offsetof(struct lwp_pattern_place, runs), 8);
    ZydisEncoderRequest within = emit_jump(ZYDIS_MNEMONIC_JNZ, 0);
    emit_add(code, ZYDIS_MNEMONIC_SUB, 2, left, emit_number(1));
    emit_encode(code, &within);
    const size_t from = code->used;
    emit_add(code, ZYDIS_MNEMONIC_MOV, 2, left, emit_number((int64_t)pattern->runs));
    for (size_t a = 0; a < pattern->array_count; a++)
        code_array_steps(code, a, (int64_t)pattern->arrays[a].plane - (int64_t)(pattern->runs * pattern->arrays[a].outer));
    emit_land(code, from);
}

/* Where the inner loop has ended: at the end of its run all arrays go on to the next one. `enters`: the jump that leads to the first. */
static void code_outer(struct emit_buffer *code, const struct lwp_pattern *pattern, size_t enters, size_t head)
{
    const ZydisEncoderOperand left = emit_register(code_order), all = emit_register(code_rounds);
    ZydisEncoderRequest within = emit_jump(ZYDIS_MNEMONIC_JNZ, 0), ends = emit_jump(ZYDIS_MNEMONIC_JZ, 0);
    emit_add(code, ZYDIS_MNEMONIC_TEST, 2, left, left);
    emit_encode(code, &within);
    const size_t from = code->used;
    emit_move(code, code_order, emit_number((int64_t)(pattern->inner / code->unrolled)));
    for (size_t a = 0; a < pattern->array_count; a++)
        code_array_steps(code, a, (int64_t)pattern->arrays[a].outer - (int64_t)(pattern->inner * pattern->arrays[a].spacing));
    if (pattern->runs)
        code_planes(code, pattern);
    emit_land(code, from);
    emit_land(code, enters);
    emit_add(code, ZYDIS_MNEMONIC_TEST, 2, all, all);
    emit_encode(code, &ends);
    const size_t end = code->used;
    code_inner(code, head);
    emit_land(code, end);
}

static void code_search(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    if (pattern->heads) {
        struct emit_place head = {.base = code_first, .index = code_index, .scale = (uint8_t)sizeof(void *)};
        if (pattern->heads != sizeof(void *)) {
            emit_multiply(code, code_address, code_index, pattern->heads);
            head = (struct emit_place){.base = code_first, .index = code_address, .scale = 1};
        }
        emit_move(code, code_arrays[0], emit_at(head, 0, sizeof(void *)));
        return;
    }
    ZydisEncoderOperand at = emit_at((struct emit_place){.base = code_first, .index = code_address, .scale = 1}, 0, 8);
    emit_multiply(code, code_address, code_index, pattern->arrays[0].spacing);
    emit_add(code, ZYDIS_MNEMONIC_LEA, 2, emit_register(code_arrays[0]), at);
}

/* Over one instruction, or not. */
static void code_skip(struct emit_buffer *code, ZydisMnemonic when)
{
    ZydisEncoderRequest over = emit_jump(when, 0);
    emit_encode(code, &over);
    const size_t from = code->used;
    values_fill_plainly(code);
    emit_land(code, from);
}

static bool code_draws_jumps(const struct lwp_pattern *pattern)
{
    return pattern->guesses || code_descends(pattern) || (code_searches(pattern) && pattern->endings);
}

/* Jumps by bits of what was drawn, which wait for the number at a place: what is drawn again and again processors learn. One that is
 * taken but for one time in two, four or eight is guessed wrong as often: of so many eighths of all those of it are there that add up. */
static void code_draw(struct emit_buffer *code, ZydisRegister drawn, ZydisEncoderOperand place, unsigned eighths)
{
    enum { FIRST_BIT = 24, LONGEST = 3 };
    const ZydisEncoderOperand value = emit_register(emit_low(code_value, 4));
    emit_multiply(code, drawn, drawn, CODE_MULTIPLIER);
    emit_move(code, code_value, emit_register(drawn));
    emit_add(code, ZYDIS_MNEMONIC_XOR, 2, value, place);
    for (unsigned bits = 1, from = FIRST_BIT; bits <= LONGEST; from += bits++) {
        if (!(eighths & 1u << (LONGEST - bits)))
            continue;
        emit_add(code, ZYDIS_MNEMONIC_TEST, 2, value, emit_number(((1 << bits) - 1) << from));
        code_skip(code, ZYDIS_MNEMONIC_JNZ);
    }
}

size_t lwp_pattern_leader(const struct lwp_pattern *pattern)
{
    size_t a = 0;
    while (a < pattern->array_count && !pattern->arrays[a].leads)
        a++;
    return a;
}

/* Whether the access is to the number that says where the next visit goes. */
static bool code_is_lead(const struct lwp_pattern *pattern, const struct lwp_pattern_access *access)
{
    const struct lwp_pattern_array *array = &pattern->arrays[access->array];
    return array->leads && access->offset < array->link + 4 && array->link < access->offset + access->bytes;
}

/* Whether what it stores would be taken for an address where the chain goes on, or where an array is linked to. */
static bool code_breaks_link(const struct lwp_pattern *pattern, const struct lwp_pattern_access *access)
{
    if (access->store && code_is_lead(pattern, access))
        return true;
    for (size_t a = 0; a < pattern->array_count && access->store; a++) {
        const struct lwp_pattern_array *array = &pattern->arrays[a];
        if ((array->walk == LWP_PATTERN_CHAINED || array->walk == LWP_PATTERN_LINKED) && access->array == array->from &&
            access->offset < array->link + 8 && array->link < access->offset + access->bytes)
            return true;
    }
    return false;
}

/* Whether it is the load by which the chain goes on, which is made last. */
static bool code_is_link(const struct lwp_pattern *pattern, const struct lwp_pattern_access *access)
{
    const uint64_t link = pattern->arrays[0].link;
    return access->array == 0 && pattern->arrays[0].walk == LWP_PATTERN_CHAINED &&
           (access->offset == link || (pattern->tree && access->offset == link + 8)) && access->bytes == 8 && !access->store;
}

/* The next index: from the upper bits of a chain that gets nothing of what is loaded, and is as long as the loop's. What the loop counts is
 * counted between, as compilers do: a chain waits for what is begun before it. */
static void code_index_drawn(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    enum { SUMMAND = 1 << 20, HALF = 32 }; /* too large to be added before the instruction is begun, as some processors do */
    const uint64_t elements = lwp_pattern_whole(pattern->elements);
    const bool power = !(elements & (elements - 1));
    double cycles = fmax(PRODUCT_CYCLES, fmin(pattern->apart, CHAIN_MOST));
    const double products = floor(cycles / PRODUCT_CYCLES), index = power ? 2 : 4,
                 needed =
                     products + (cycles - PRODUCT_CYCLES * products) + index + (double)(pattern->array_count + pattern->access_count) + 1;
    for (; cycles >= PRODUCT_CYCLES; cycles -= PRODUCT_CYCLES)
        emit_multiply(code, code_order, code_order, CODE_MULTIPLIER);
    if (pattern->instructions >= needed + 1)
        values_fill(code, pattern, 1);
    for (; cycles >= 1; cycles--)
        code_step(code, code_order, SUMMAND);
    emit_move(code, code_index, emit_register(code_order));
    emit_add(code, ZYDIS_MNEMONIC_SHR, 2, emit_register(code_index), emit_number(power ? 64 - __builtin_ctzll(elements) : HALF));
    if (!power) {
        emit_multiply(code, code_index, code_index, elements);
        emit_add(code, ZYDIS_MNEMONIC_SHR, 2, emit_register(code_index), emit_number(HALF));
    }
}

/* The accesses to one array; those to be made `late`: what is stored is worked out from what all arrays have, and where that needs no other
 * instruction it is stored behind all loads. */
static void code_array(struct emit_buffer *code, const struct lwp_pattern *pattern, size_t a, bool late, unsigned ahead, uint64_t *spacing,
                       struct values_round *round)
{
    const bool steps = code_steps(&pattern->arrays[a]), ends = code_searches(pattern) && (ahead + 1) % pattern->search == 0;
    const uint64_t on = steps ? ahead * pattern->arrays[a].spacing : 0;
    struct emit_place place = {0};
    for (size_t i = 0; i < pattern->access_count; i++) {
        struct lwp_pattern_access access = pattern->accesses[i];
        if (access.array != a || access.found || (!ends && code_is_link(pattern, &access))) /* that is loaded last, */
            continue;
        access.store &= !code_breaks_link(pattern, &access); /* it is loaded instead */
        if (code_is_lead(pattern, &access) && !access.store) /* ... as is that */
            continue;
        if (late != (steps && access.store))
            continue;
        if (place.base == ZYDIS_REGISTER_NONE)
            place = code_element(code, pattern, a, ahead, spacing);
        round->stays = steps && !pattern->arrays[a].spacing;
        const struct emit_place indexed = {.base = code_arrays[a], .index = code_index, .scale = 1};
        values_access(code, &access, access.by_index && code_by_index(pattern) ? indexed : place, on, round);
        if (pattern->guesses && i == 0 && !code_descends(pattern))
            code_draw(code, code_drawn(pattern), emit_at(place, (int64_t)(access.offset + on), 4), EITHER_WAY);
    }
}

/* Whether what it loads is summed up in a general register before the chain gets it: until all of it is there, that waits. */
static bool code_adds(const struct lwp_pattern *pattern)
{
    bool adds = false;
    for (size_t i = 0; i < pattern->access_count; i++)
        adds |= pattern->accesses[i].adds;
    return adds;
}

/* Whether several loaded numbers become one before a chain of one sum gets it, as that of products of two arrays does: all are awaited
 * then, and so is what is stored of it. */
static bool code_joins(const struct lwp_pattern *pattern)
{
    size_t loads = 0;
    for (size_t i = 0; i < pattern->access_count; i++) {
        const struct lwp_pattern_access *access = &pattern->accesses[i];
        loads += !access->store && !access->found && access->bytes >= 4 && access->bytes <= 8;
    }
    return pattern->floating && pattern->chain >= SUM_CYCLES && pattern->chain < 2 * SUM_CYCLES && pattern->depth >= 2 * SUM_CYCLES &&
           loads > 1;
}

/* `ahead`: rounds since the registers were moved on. */
static void code_visit(struct emit_buffer *code, const struct lwp_pattern *pattern, unsigned ahead, bool indexed)
{
    struct values_round round = {.cycles = fmin(pattern->chain, CHAIN_MOST),
                                 .floating = pattern->floating,
                                 .joins = code_joins(pattern),
                                 .adds = code_adds(pattern),
                                 .depth = pattern->depth,
                                 .sums = pattern->sums * (ahead + 1),
                                 .products = pattern->products * (ahead + 1)};
    uint64_t spacing = 0;
    const bool searches = code_searches(pattern), begins = searches && ahead % pattern->search == 0;
    const size_t leader = lwp_pattern_leader(pattern);
    const bool ends = searches && (ahead + 1) % pattern->search == 0;
    if (pattern->bisects)
        code_middle(code);
    else if (indexed && pattern->draws)
        code_index_drawn(code, pattern);
    else if ((indexed && leader == pattern->array_count) || begins)
        emit_move(code, emit_low(code_index, 4), emit_memory(code_order, 4 * (int64_t)ahead, 4));
    if (begins)
        code_search(code, pattern);
    for (size_t a = 0; a < pattern->array_count; a++)
        code_array(code, pattern, a, false, ahead, &spacing, &round);
    values_deepen(code, &round);
    for (size_t a = 0; a < pattern->array_count; a++)
        code_array(code, pattern, a, true, ahead, &spacing, &round);
    if (round.added && !round.floating && round.cycles >= 1) {
        emit_add(code, ZYDIS_MNEMONIC_XOR, 2, emit_register(code_chain), emit_register(code_value));
        round.cycles -= 1;
    }
    values_wait_scaled(code, pattern);
    values_wait(code, pattern, round.cycles, pattern->instructions * (ahead + 1) - code->instructions);
    if (!pattern->draws)
        values_wait_apart(code, pattern->apart, pattern->instructions * (ahead + 1) - code->instructions);
    if (pattern->through_memory)
        values_through_memory(code, pattern);
    if (leader < pattern->array_count)
        emit_move(code, emit_low(code_index, 4),
                  emit_at(code_element(code, pattern, leader, 0, &spacing), (int64_t)pattern->arrays[leader].link, 4));
    if (pattern->bisects)
        code_halve(code, pattern, &spacing);
    if (pattern->tree)
        code_descend(code, pattern);
    else if (ends && pattern->endings)
        code_draw(code, code_drawn(pattern), emit_memory(code_arrays[0], (int64_t)pattern->arrays[0].link, 4), pattern->endings);
    else if (!ends && pattern->arrays[0].walk == LWP_PATTERN_CHAINED)
        emit_move(code, code_arrays[0], emit_memory(code_arrays[0], (int64_t)pattern->arrays[0].link, 8));
}

static bool code_is_indexed(const struct lwp_pattern *pattern)
{
    bool indexed = false;
    for (size_t a = 0; a < pattern->array_count; a++)
        indexed |= pattern->arrays[a].walk == LWP_PATTERN_INDEXED;
    return indexed;
}

static void code_rounds_of(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    const bool indexed = code_is_indexed(pattern);
    double closing = 1; /* instructions behind all rounds: a comparison is one with its jump */
    for (size_t a = 0; a < pattern->array_count; a++)
        closing += code_moves(&pattern->arrays[a]);
    closing += code_by_index(pattern);
    const bool listed = (indexed && !pattern->draws && !pattern->bisects && lwp_pattern_leader(pattern) == pattern->array_count) || code_searches(pattern);
    closing += listed;
    for (unsigned ahead = 0; ahead < code->unrolled; ahead++) {
        code_visit(code, pattern, ahead, indexed);
        const double fill = (fmin(pattern->instructions, FILL_MOST) - closing / code->unrolled) * (ahead + 1) - code->instructions;
        for (double filled = 0; filled + 1 <= fill; filled++)
            values_fill(code, pattern, ahead + 1);
    }
    if (listed)
        code_step(code, code_order, 4ull * code->unrolled);
    for (size_t a = 0; a < pattern->array_count; a++)
        if (code_moves(&pattern->arrays[a]))
            code_step(code, code_cursor(pattern, a), code->unrolled * pattern->arrays[a].spacing);
    if (code_by_index(pattern))
        code_step(code, code_index, code->unrolled * pattern->arrays[0].spacing);
}

static void code_enter(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    for (size_t i = 0; i < sizeof code_saved / sizeof *code_saved; i++)
        emit_add(code, ZYDIS_MNEMONIC_PUSH, 1, emit_register(code_saved[i]), (ZydisEncoderOperand){0});
    for (size_t a = 0; a < pattern->array_count; a++)
        emit_move(code, code_arrays[a], emit_memory(code_place, (int64_t)(offsetof(struct lwp_pattern_place, at) + 8 * a), 8));
    if (code_begins(pattern))
        emit_move(code, code_first, emit_memory(code_place, offsetof(struct lwp_pattern_place, first), 8));
    if (code_draws_jumps(pattern))
        emit_move(code, code_drawn(pattern), emit_memory(code_place, offsetof(struct lwp_pattern_place, drawn), 8));
    for (size_t a = 0; a < pattern->array_count && code_by_index(pattern); a++)
        emit_move(code, code_cursor(pattern, a), emit_register(code_arrays[a]));
    if (code_by_index(pattern))
        emit_add(code, ZYDIS_MNEMONIC_XOR, 2, emit_register(code_index), emit_register(code_index));
    else
        emit_move(code, code_index, emit_memory(code_place, offsetof(struct lwp_pattern_place, index), 8));
    emit_move(code, code_order, emit_memory(code_place, offsetof(struct lwp_pattern_place, next), 8));
    emit_move(code, code_rounds, emit_memory(code_place, offsetof(struct lwp_pattern_place, rounds), 8));
    emit_add(code, ZYDIS_MNEMONIC_SHR, 2, emit_register(code_rounds), emit_number(__builtin_ctz(code->unrolled)));
    emit_add(code, ZYDIS_MNEMONIC_XOR, 2, emit_register(code_chain), emit_register(code_chain));
    for (ZydisRegister vector = ZYDIS_REGISTER_XMM0; vector <= code_idle_result; vector++)
        emit_add(code, ZYDIS_MNEMONIC_XORPS, 2, emit_register(vector), emit_register(vector));
}

/* The loop with what comes before it; false: it has more instructions a round than the program's. */
static bool code_loop(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    enum { JUMP_BYTES = 6 };
    ZydisEncoderRequest enter = emit_jump(ZYDIS_MNEMONIC_JMP, 0);
    code_enter(code, pattern);
    if (pattern->inner)
        emit_encode(code, &enter);
    const size_t enters = code->used;
    while (code->used % 64 && !code->failed)
        code->bytes[code->used++] = 0x90; /* nop: the loop begins a line of code */
    const size_t head = code->used;
    code->instructions = code->flags = code->sums = code->products = 0;
    code_rounds_of(code, pattern);
    emit_add(code, ZYDIS_MNEMONIC_SUB, 2, emit_register(pattern->inner ? code_index : code_rounds), emit_number(1));
    const bool fits = code->instructions <= ceil(pattern->instructions * code->unrolled);
    ZydisEncoderRequest jump = emit_jump(ZYDIS_MNEMONIC_JNZ, (int64_t)head - (int64_t)(code->used + JUMP_BYTES));
    emit_encode(code, &jump);
    if (pattern->inner)
        code_outer(code, pattern, enters, head);
    return fits;
}

/* Rounds one after the other at least: as the loop has it, and a whole search. */
static unsigned code_unrolled(const struct lwp_pattern *pattern)
{
    const unsigned wanted = code_searches(pattern) && pattern->search > pattern->unrolled ? pattern->search : pattern->unrolled;
    unsigned unrolled = 1;
    while (2 * unrolled <= wanted && unrolled < LWP_PATTERN_UNROLLED)
        unrolled *= 2;
    return unrolled;
}

static void code_leave(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    for (size_t a = 0; a < pattern->array_count; a++)
        emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_memory(code_place, (int64_t)(offsetof(struct lwp_pattern_place, at) + 8 * a), 8),
                 emit_register(code_cursor(pattern, a)));
    emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_memory(code_place, offsetof(struct lwp_pattern_place, next), 8), emit_register(code_order));
    if (pattern->bisects)
        emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_memory(code_place, offsetof(struct lwp_pattern_place, first), 8),
                 emit_register(code_first));
    if (code_draws_jumps(pattern))
        emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_memory(code_place, offsetof(struct lwp_pattern_place, drawn), 8),
                 emit_register(code_drawn(pattern)));
    emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_memory(code_place, offsetof(struct lwp_pattern_place, index), 8), emit_register(code_index));
    for (size_t i = sizeof code_saved / sizeof *code_saved; i-- > 0;)
        emit_add(code, ZYDIS_MNEMONIC_POP, 1, emit_register(code_saved[i]), (ZydisEncoderOperand){0});
    emit_add(code, ZYDIS_MNEMONIC_RET, 0, (ZydisEncoderOperand){0}, (ZydisEncoderOperand){0});
}

int lwp_pattern_code_make(const struct lwp_pattern *pattern, struct lwp_pattern_code *made, struct lwp_error *err)
{
    const bool begins = code_begins(pattern);
    struct emit_buffer code = {.failed = (code_searches(pattern) && pattern->guesses) || (pattern->tree && code_is_indexed(pattern)) ||
                                         (code_descends(pattern) && !pattern->access_count) ||
                                         pattern->array_count + begins + code_draws_jumps(pattern) > LWP_PATTERN_ARRAYS};
    *made = (struct lwp_pattern_code){.bytes = EMIT_BYTES};
    code.bytes = mmap(NULL, EMIT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code.bytes == MAP_FAILED)
        return lwp_error_errno(err, "no memory for the code of a pattern");
    made->memory = code.bytes;
    for (code.unrolled = code_unrolled(pattern); !code_loop(&code, pattern) && code.unrolled < LWP_PATTERN_UNROLLED; code.unrolled *= 2)
        code.used = 0;
    code_leave(&code, pattern);
    made->unrolled = code.unrolled;
    if (code.failed || mprotect(code.bytes, EMIT_BYTES, PROT_READ | PROT_EXEC)) {
        lwp_pattern_code_free(made);
        return lwp_error_set(err, LWP_ERR_USAGE, "they are too many, or too far apart, to be run");
    }
    made->run = (void (*)(struct lwp_pattern_place *))(void *)code.bytes;
    return LWP_OK;
}

void lwp_pattern_code_free(struct lwp_pattern_code *code)
{
    if (code->memory)
        munmap(code->memory, code->bytes);
    *code = (struct lwp_pattern_code){0};
}
