/* From one unwinding the return addresses on the stack are learnt, up to one that is known beyond those that were not. A
 * function that moves its stack pointer by amounts that it computes (alloca) is the last that is known of; so is one of
 * which other distances are seen.
 *
 * Where a function is found again among its callers, it recurses, and what is between is left out: paths are the same
 * but for the rounds of a recursion (format/paths.h). The links beyond the outermost round are looked for from the end
 * of the stack inwards: the outermost return address is always there, and the next one as far below it as its
 * function's frame is large. */
#include "collector/light/heap/chains.h"

#include "collector/light/code/own_program.h"
#include "collector/light/code/unwind.h"
#include "collector/light/own/process.h"

#include <emmintrin.h>
#include <string.h>

enum { DEPTH_LEAST = 4, LEARNS_LONGEST_NS = 200000 /* beyond that the thread had to wait for a processor; its CPU time is a system call */ };

const uint64_t lwp_chain_factor[LWP_CHAIN_LINKS] = {0x97b1165f0971b7c5u, 0xd13c513a42f8eda1u, 0x8a8318174d645fa7u, 0x25abd89bd67e4d93u,
                                                    0x48a7c8252abc5619u, 0x3cbb7daa64c184fbu, 0xf15ce760f3e452f3u, 0xeca9bad1449e78e5u,
                                                    0xcbc16f01162794bfu, 0x76e9c8092966493du, 0xf4d6d23508bd9d97u, 0x29ec148cead50263u,
                                                    0x343a2c9fbed3e91du, 0x959575fe0a734d03u, 0xbdcdc219fe72c33bu, 0x7d791a3ca63cf5f9u,
                                                    0xb79db4df2694e1f7u, 0xcc9ff851b6ab9f1bu, 0x0727d4dad921bf95u, 0x72488b810dfafe39u};

/* ---- what is known of return addresses ---- */

static struct lwp_chain_step *chains_step(struct lwp_chains *chains, uint64_t ra)
{
    uint32_t at = (uint32_t)(ra * 0x9e3779b97f4a7c15u >> 53);
    for (uint32_t probe = 0; probe < 8; probe++, at = (at + 1) & (LWP_CHAIN_STEPS - 1))
        if (chains->step[at].ra == ra || !chains->step[at].ra)
            return &chains->step[at];
    return &chains->step[ra * 0x9e3779b97f4a7c15u >> 53]; /* of another one, which is learnt again */
}

_Static_assert(LWP_CHAIN_STEPS == 1 << 11, "the product's upper 11 bits");

/* Frames of computed size are made by these instructions: sub %r,%rsp in both encodings, and mov %r,%rsp of another
 * register than %rbp. Bytes that only look like one make a path end early, no more. */
enum { REX_W = 0x48, SUB = 0x29, SUB_FROM = 0x2b, MOV = 0x89, MOV_FROM = 0x8b, TO_RSP = 0xc4, FROM_RSP = 0xe0, RBP = 5 };

static bool chains_moves_here(const uint8_t *code)
{
    if ((code[0] & ~5) != REX_W)
        return false;
    unsigned to = code[2] & 0xc7u, from = code[2] & 0xf8u, reg = code[2] >> 3 & 7, rm = code[2] & 7;
    bool stores = to == TO_RSP && !(code[0] & 1), loads = from == FROM_RSP && !(code[0] & 4);
    if ((code[1] == SUB && stores) || (code[1] == SUB_FROM && loads))
        return true;
    return (code[1] == MOV && stores && (reg != RBP || code[0] & 4)) || (code[1] == MOV_FROM && loads && (rm != RBP || code[0] & 1));
}

/* Of 16 bytes those that may be the first of one: a bit for each. What they have in common of the second is 0x09 under 0x5d. */
static unsigned chains_may_move(const uint8_t *code)
{
    __m128i first = _mm_loadu_si128((const __m128i *)code), second = _mm_loadu_si128((const __m128i *)(code + 1));
    __m128i rex = _mm_cmpeq_epi8(_mm_and_si128(first, _mm_set1_epi8(~5)), _mm_set1_epi8(REX_W));
    __m128i opcode = _mm_cmpeq_epi8(_mm_and_si128(second, _mm_set1_epi8(0x5d)), _mm_set1_epi8(0x09));
    return (unsigned)_mm_movemask_epi8(_mm_and_si128(rex, opcode));
}

static bool chains_moves_stack(uint64_t low, uint64_t high)
{
    const uint8_t *code = (const uint8_t *)low;
    for (; (uint64_t)(code + 18) <= high; code += 16)
        for (unsigned may = chains_may_move(code); may; may &= may - 1)
            if (chains_moves_here(code + __builtin_ctz(may)))
                return true;
    for (; (uint64_t)(code + 3) <= high; code++)
        if (chains_moves_here(code))
            return true;
    return false;
}

/* False: that was known. */
static bool chains_put(struct lwp_chains *chains, uint64_t ra, uint64_t words, bool last)
{
    struct lwp_chain_step *step = chains_step(chains, ra);
    uint64_t low, high;
    if (step->ra == ra && !step->beyond) {
        bool was = step->lost;
        step->lost |= words != step->words;
        return step->lost != was;
    }
    bool known = lwp_function_bounds(ra - 1, &low, &high); /* the call is before it, and may be the function's end */
    *step = (struct lwp_chain_step){.ra = ra, .function = low, .words = (uint32_t)words, .last = last};
    step->lost = !known || (!last && (!words || words > UINT32_MAX || chains_moves_stack(low, high)));
    return true;
}

/* The next one is not among the words that a copy has from there on. */
static bool chains_put_beyond(struct lwp_chains *chains, uint64_t ra, uint64_t at)
{
    struct lwp_chain_step *step = chains_step(chains, ra);
    uint32_t left = (uint32_t)((chains->stack_high - at) / sizeof at);
    if (step->ra == ra && (!step->beyond || step->words >= left))
        return false;
    *step = (struct lwp_chain_step){.ra = ra, .function = lwp_function_start(ra - 1), .words = left, .beyond = true};
    return true;
}

/* `at`: where it was found. */
static bool chains_step_known(const struct lwp_chains *chains, const struct lwp_chain_step *step, uint64_t ra, uint64_t at)
{
    if (step->ra != ra || !ra)
        return false;
    return !step->beyond || (chains->copy && (chains->stack_high - at) / sizeof at <= step->words);
}

struct chains_lesson {
    struct lwp_chains *chains;
    uint64_t from;
    bool new;
};

static bool chains_know(void *of, uint64_t ra, uint64_t at)
{
    struct chains_lesson *lesson = of;
    if (at < lesson->from)
        return false;
    if (chains_step_known(lesson->chains, chains_step(lesson->chains, ra), ra, at))
        return lesson->new;
    lesson->new = true;
    return false;
}

/* Of what is on the stack from `frame` on. False: nothing. */
static bool chains_learn(struct lwp_chains *chains, const uint64_t *frame)
{
    struct lwp_stack_slots slots;
    struct chains_lesson lesson = {.chains = chains, .from = (uint64_t)frame};
    uint64_t begun = lwp_clock(CLOCK_MONOTONIC);
    if (chains->copy)
        lwp_unwind_slots_of(chains->copy, chains->words, &slots, chains_know, &lesson);
    else
        lwp_unwind_slots(&slots, (uint64_t)frame - LWP_CHAIN_ROOM, chains->stack_high, chains_know, &lesson);
    unsigned at = 0;
    bool learnt = false;
    while (at < slots.count && slots.at[at] != (uint64_t)frame)
        at++;
    for (; at < slots.count; at++)
        if (at + 1 < slots.count)
            learnt |= chains_put(chains, slots.ip[at], (slots.at[at + 1] - slots.at[at]) / sizeof *frame, false);
        else if (!slots.whole && chains->copy && chains->copy->words == LWP_STACK_COPIED)
            learnt |= !slots.enough && chains_put_beyond(chains, slots.ip[at], slots.at[at]);
        else if (slots.whole || (!slots.enough && slots.count < LWP_FRAMES_MAX)) /* or there was no room for more */
            learnt |= chains_put(chains, slots.ip[at], 0, slots.whole);
    uint64_t took = lwp_clock(CLOCK_MONOTONIC) - begun;
    chains->learnt_ns += took < LEARNS_LONGEST_NS ? took : LEARNS_LONGEST_NS;
    return learnt;
}

/* ---- from the stack to its frames ---- */

struct chains_walk {
    uint32_t count;
    bool whole;   /* frame[count - 1] is the outermost */
    bool cut;     /* more could be learnt */
};

static uint64_t chains_word(const struct lwp_chains *chains, const uint64_t *at)
{
    return chains->copy ? lwp_stack_word(chains->words, (uint64_t)at) : *at;
}

static void chains_walk(struct lwp_chains *chains, const uint64_t *frame, struct chains_walk *walk, bool *unknown)
{
    const uint64_t *at = frame;
    *unknown = false;
    for (*walk = (struct chains_walk){.count = 0}; walk->count < LWP_CHAIN_WALK && (uint64_t)at < chains->stack_high;) {
        uint64_t ra = chains_word(chains, at);
        const struct lwp_chain_step *step = chains_step(chains, ra);
        if (!chains_step_known(chains, step, ra, (uint64_t)at)) {
            *unknown = true;
            return;
        }
        chains->frame[walk->count++] = (struct lwp_chain_frame){ra, step->function, (uint32_t)(at - frame)};
        if (step->last || step->lost || step->beyond) {
            walk->whole = step->last && !step->lost;
            return;
        }
        at += step->words;
    }
}

static void chains_frames(struct lwp_chains *chains, const uint64_t *frame, bool learns, struct chains_walk *walk)
{
    bool unknown;
    chains_walk(chains, frame, walk, &unknown);
    for (int tries = 0; unknown && tries < LWP_FRAMES_MAX; tries++) { /* what is learnt may be that a distance is not always the same */
        if (!learns) {
            walk->cut = true;
            return;
        }
        if (!chains_learn(chains, frame))
            return;
        chains_walk(chains, frame, walk, &unknown);
    }
}

/* ---- from frames to links ---- */

/* Whether the function was among those given before. */
static bool chains_again(struct lwp_chains *chains, uint32_t number)
{
    uint64_t function = chains->frame[number].function;
    uint32_t mask = 2 * LWP_CHAIN_WALK - 1, at = (uint32_t)(function * 0x9e3779b97f4a7c15u >> 40) & mask;
    for (; chains->seen[at]; at = (at + 1) & mask)
        if (chains->frame[chains->seen[at] - 1].function == function)
            return true;
    chains->seen[at] = (uint16_t)(number + 1);
    return false;
}

/* A chain being made. */
struct chain_new {
    struct lwp_chain chain;
    struct lwp_chain_path path;
};

static void chain_add(struct chain_new *new, uint64_t ra, uint32_t words)
{
    struct lwp_chain *chain = &new->chain;
    chain->sum += ra * lwp_chain_factor[chain->count];
    new->path.ra[chain->count] = ra;
    chain->words[chain->count++] = words;
}

/* The outermost round of the recursion and what is beyond it, if there is room for all. */
static bool chain_add_outer(const struct lwp_chains *chains, const struct chains_walk *walk, const uint64_t *frame, uint32_t outermost,
                            struct chain_new *new)
{
    struct lwp_chain *chain = &new->chain;
    if (!walk->whole || chain->count + walk->count - outermost > LWP_CHAIN_LINKS)
        return false;
    uint32_t high = (uint32_t)((const uint64_t *)chains->stack_high - frame);
    for (uint32_t i = outermost; i < walk->count; i++)
        if (i >= chain->near)
            chain_add(new, chains->frame[i].ra, high - chains->frame[i].words);
    return true;
}

static void chain_make(struct lwp_chains *chains, const struct chains_walk *walk, const uint64_t *frame, struct chain_new *new)
{
    struct lwp_chain *chain = &new->chain;
    uint32_t first = 0, outermost = 0;
    memset(chains->seen, 0, sizeof chains->seen);
    for (uint32_t i = 0; i < walk->count; i++)
        if (chains_again(chains, i)) {
            outermost = i;
            first = first ? first : i;
        }
    uint32_t most = first && first < chains->depth ? first + 1 : chains->depth;
    for (uint32_t i = 0; i < walk->count && i < most; i++)
        chain_add(new, chains->frame[i].ra, chains->frame[i].words);
    chain->near = chain->count;
    if (first && first < most)
        chain->whole = chain_add_outer(chains, walk, frame, outermost, new);
    else
        chain->whole = walk->whole && chain->count == walk->count;
}

/* ---- the table of chains ---- */

static uint32_t chain_hash(const struct chain_new *new)
{
    const struct lwp_chain *chain = &new->chain;
    uint64_t hash = chain->near + 2 * chain->count;
    for (uint32_t i = 0; i < chain->count; i++)
        hash = (hash ^ new->path.ra[i] ^ (uint64_t)chain->words[i] << 48) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return (uint32_t)(hash >> 32);
}

static uint32_t chain_fork(const struct lwp_chain *a, const struct lwp_chain_path *a_path, const struct lwp_chain *b,
                           const struct lwp_chain_path *b_path)
{
    uint32_t at = 0, count = a->count < b->count ? a->count : b->count;
    while (at < count && a_path->ra[at] == b_path->ra[at] && a->words[at] == b->words[at] && (at < a->near) == (at < b->near))
        at++;
    return at;
}

uint32_t lwp_chains_fork(const struct lwp_chains *chains, uint32_t a, uint32_t b)
{
    return chain_fork(&chains->chain[a], &chains->path[a], &chains->chain[b], &chains->path[b]);
}

static bool chain_same(const struct lwp_chains *chains, uint32_t number, const struct chain_new *new)
{
    const struct lwp_chain *a = &chains->chain[number], *b = &new->chain;
    return a->hash == b->hash && a->count == b->count && a->near == b->near && a->whole == b->whole &&
           chain_fork(a, &chains->path[number], b, &new->path) == a->count;
}

static uint32_t chains_intern(struct lwp_chains *chains, struct chain_new *new)
{
    uint32_t mask = 2 * LWP_CHAINS - 1, at = (new->chain.hash = chain_hash(new)) & mask;
    for (; chains->index[at]; at = (at + 1) & mask)
        if (chain_same(chains, chains->index[at], new))
            return chains->index[at];
    if (chains->count + 1 >= LWP_CHAINS)
        return 0;
    chains->chain[++chains->count] = new->chain;
    chains->path[chains->count] = new->path;
    chains->index[at] = (uint16_t)chains->count;
    return chains->count;
}

uint32_t lwp_chains_find(struct lwp_chains *chains, const uint64_t *frame, bool learns, bool *cut)
{
    struct chain_new new = {.chain = {.count = 0}};
    struct chains_walk walk = {.count = 0};
    if (!chains->depth)
        chains->depth = LWP_CHAIN_LINKS;
    if (lwp_chains_own(chains, frame))
        chains_frames(chains, frame, learns, &walk);
    *cut = walk.cut;
    if (walk.count)
        chain_make(chains, &walk, frame, &new);
    else { /* of another stack, or nothing is known of it */
        chain_add(&new, chains_word(chains, frame), 0);
        new.chain.near = 1;
    }
    return chains_intern(chains, &new);
}

void lwp_chains_forget(struct lwp_chains *chains, bool shorter)
{
    chains->count = 0;
    if (shorter)
        chains->depth = chains->depth / 2 > DEPTH_LEAST ? chains->depth / 2 : DEPTH_LEAST;
    memset(chains->index, 0, sizeof chains->index);
}

/* Whether the first call beyond what is left out leads to a function that is within, and to no other that is left out. */
static bool chain_calls_near(const struct lwp_chain *chain, const struct lwp_chain_path *path)
{
    enum { CALL = 0xe8, CALL_BYTES = 5 };
    const uint8_t *call = (const uint8_t *)path->ra[chain->near] - CALL_BYTES;
    int32_t distance;
    memcpy(&distance, call + 1, sizeof distance);
    uint64_t target = path->ra[chain->near] + (uint64_t)(int64_t)distance;
    for (uint32_t i = 0; *call == CALL && i < chain->near; i++)
        if (lwp_function_start(path->ra[i] - 1) == target)
            return true;
    return false;
}

uint32_t lwp_chains_context(struct lwp_chains *chains, uint32_t number, uint32_t skip)
{
    struct lwp_chain *chain = &chains->chain[number];
    const struct lwp_chain_path *path = &chains->path[number];
    uint64_t ips[LWP_CHAIN_LINKS + 1];
    if (chain->context)
        return chain->context;
    for (uint32_t i = 0; i < chain->count; i++)
        ips[i] = path->ra[i] - 1;
    ips[chain->count] = 0; /* various */
    if (chain->near < chain->count && !chain_calls_near(chain, path))
        ips[chain->near] = lwp_function_start(path->ra[chain->near] - 1);
    chain->context = lwps_paths_intern(&lwp_process.contexts, ips + skip, chain->count + !chain->whole - skip);
    return chain->context;
}
