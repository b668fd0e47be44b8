/* A few hundred instructions to come are executed, as far as they can be (execution.h). The walk ends at the first jump that depends on
 * something unknown. So an address it reports is the one that the program will use, unless another thread changes memory first.
 *
 * Which way a jump goes after a comparison of floating-point numbers is never known. Both ways are gone then, up to where they meet, be it
 * in the caller: what both leave alike is known there, and accesses on either way are passed by. */
#include "collector/code/forward_walk.h"

#include "base/random.h"
#include "collector/code/execution.h"

#include <string.h>

enum { WALK_STEPS = 400, WALK_SEEN = 16, WAY_STEPS = 32, WAYS_DEEP = 2, DIVIDING = 8 /* one of so many walks goes on behind divisions */ };

struct walker {
    struct lwp_code_cache *cache;
    struct lwp_execution execution;
    struct lwp_walk_path path;
    uint64_t ip, low, high; /* the next instruction, in the code of its function */
    uint64_t back;          /* where the interrupted function returns to; 0: unknown */
    unsigned steps;
    bool divides;
    bool flags_of_vector;                   /* an instruction with vector registers wrote them last */
    bool joined, apart;                     /* two ways have met; ... with accesses on them, since an access was kept */
    uint8_t path_number;                    /* in the walk's `paths` */
    unsigned passed;                        /* accesses */
    struct lwp_insn_access seen[WALK_SEEN]; /* the first of them, should the walk end before any is kept */
};

static void walk_count(struct lwp_walk_choice *choice, uint64_t ip, uint8_t path)
{
    unsigned i = 0;
    while (i < choice->sites && (choice->site[i].ip != ip || choice->site[i].path != path))
        i++;
    if (i == choice->sites)
        choice->site[choice->sites++] = (struct lwp_walk_site){.ip = ip, .path = path};
    choice->site[i].count++;
}

/* Not the one at a chosen location, since then the first of two neighbours would nearly always be it. */
static void walk_choose(struct lwp_walk_choice *choice, const struct lwp_insn *insn, uint64_t address, uint8_t path, uint32_t *random)
{
    if (choice->seen >= choice->from || !insn->bytes)
        return;
    walk_count(choice, insn->ip, path);
    if (lwp_random_below(random, ++choice->seen) == 0) {
        choice->access = lwp_insn_access(insn, address);
        choice->path = path;
    }
}

/* An access on the way: the wanted one, some to keep, and some to choose from. */
static void walk_pass(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk, uint32_t *random)
{
    uint64_t address;
    bool known = lwp_insn_address(insn, &walker->execution.registers, &address);
    if (walk->wanted == insn->ip && !walk->found) {
        walk->found = known;
        walk->found_address = known ? address : 0;
        walk->wanted = 0; /* only its very next execution */
    }
    if (!known)
        return;
    if (walker->path_number == 0) {
        if (walker->passed >= walk->skip && walk->kept_count < LWP_WALK_KEEP) {
            walk->kept[walk->kept_count] = lwp_insn_access(insn, address);
            walk->kept[walk->kept_count++].apart = walker->apart;
            walker->apart = false;
        }
        if (walker->passed < WALK_SEEN)
            walker->seen[walker->passed] = lwp_insn_access(insn, address);
        walker->passed++;
    }
    if (!walker->joined) /* else those on either way would be chosen too seldom */
        walk_choose(insn->store ? &walk->store : &walk->load, insn, address, walker->path_number, random);
}

static bool walk_is_done(const struct lwp_forward_walk *walk)
{
    return walk->kept_count == LWP_WALK_KEEP && !walk->wanted && walk->store.seen >= walk->store.from && walk->load.seen >= walk->load.from;
}

/* A hash by a division leads to memory that is far from all that was read: behind one a walk takes twice as long (a sample of a hash
 * table's search 205 us instead of 115), and shows nothing of the visit that was interrupted. Some walks go on, which tell how far the next
 * visit is. */
static void walk_execute(struct walker *walker, const struct lwp_insn *insn)
{
    struct lwp_execution *execution = &walker->execution;
    if (insn->writes_flags)
        walker->flags_of_vector = insn->vector;
    if (!walker->divides && (insn->op == LWP_OP_MUL || insn->op == LWP_OP_DIV || insn->op == LWP_OP_IDIV))
        lwp_execution_spoil(execution, insn);
    else
        lwp_execution_execute(execution, insn);
}

/* ---- from one function to another ---- */

/* Whether it may go on with another stack, a coroutine's: what the walk returns to there is none of the thread's callers. */
static bool insn_switches_stack(const struct lwp_insn *insn)
{
    if (!(insn->spoils >> LWP_STACK_POINTER & 1))
        return false;
    switch (insn->op) {
    case LWP_OP_PUSH:
    case LWP_OP_LEAVE:
    case LWP_OP_CALL:
    case LWP_OP_CALL_BY:
    case LWP_OP_RET:
    case LWP_OP_ADD:
    case LWP_OP_SUB:
    case LWP_OP_AND:
        return false;
    case LWP_OP_POP:
        return insn->operand[0].reg == LWP_STACK_POINTER;
    case LWP_OP_MOV:
        return insn->operand[1].kind != LWP_OPERAND_REG || insn->operand[1].reg != LWP_FRAME_POINTER;
    case LWP_OP_LEA:
        return insn->base != LWP_FRAME_POINTER && insn->base != LWP_STACK_POINTER;
    default:
        return true;
    }
}

static bool paths_equal(const struct lwp_walk_path *a, const struct lwp_walk_path *b)
{
    return a->returned == b->returned && a->calls == b->calls && !memcmp(a->call, b->call, a->calls * sizeof *a->call);
}

/* The number of the walker's path. False: there are too many. */
static bool walk_name_path(struct walker *walker, struct lwp_forward_walk *walk)
{
    for (unsigned i = 0; i < walk->path_count; i++)
        if (paths_equal(&walk->paths[i], &walker->path)) {
            walker->path_number = (uint8_t)i;
            return true;
        }
    if (walk->path_count == LWP_WALK_PATHS)
        return false;
    walker->path_number = (uint8_t)walk->path_count;
    walk->paths[walk->path_count++] = walker->path;
    return true;
}

/* Called again from where it was interrupted's caller, a function is where the walk began: *path says so by having returned once
 * less. 0: it is not known where it goes on, or that is too far away. */
static uint64_t walk_leave(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk)
{
    struct lwp_walk_path *path = &walker->path;
    uint64_t next = insn->ip + insn->length;
    if (insn->op != LWP_OP_RET) {
        const struct lwp_computed to =
            insn->op == LWP_OP_CALL ? (struct lwp_computed){insn->target, true} : lwp_execution_get(&walker->execution, insn, 0);
        if (!to.known)
            return 0;
        lwp_execution_push(&walker->execution, (struct lwp_computed){next, true});
        if (path->calls == 0 && path->returned == 1 && walker->back == next) {
            path->returned = 0;
        } else {
            if (path->calls == LWP_WALK_CALLS)
                return 0;
            path->call[path->calls++] = next;
        }
        next = to.bits;
    } else {
        struct lwp_computed to = lwp_execution_pop(&walker->execution);
        next = to.known ? to.bits : 0;
        if (path->calls) {
            path->calls--;
        } else {
            if (path->returned == 0)
                walker->back = next;
            path->returned++;
        }
    }
    return path->returned <= LWP_WALK_CALLS && walk_name_path(walker, walk) ? next : 0;
}

/* The next instruction; NULL: the walk ends here. */
static const struct lwp_insn *walker_insn(struct walker *walker)
{
    if (walker->steps == WALK_STEPS || walker->ip < walker->low || walker->ip >= walker->high)
        return NULL;
    walker->steps++;
    const struct lwp_insn *insn = lwp_code_at(walker->cache, walker->ip, walker->high);
    return insn->invalid || insn->op == LWP_OP_STOP || insn_switches_stack(insn) ? NULL : insn;
}

/* Goes on behind the instruction. False: it is not known where. */
static bool walker_go(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk)
{
    const struct lwp_program *program = walker->execution.program;
    if (lwp_insn_leaves(insn)) {
        walker->ip = walk_leave(walker, insn, walk);
        return walker->ip && program->bounds(program, walker->ip, &walker->low, &walker->high);
    }
    walker->ip = lwp_execution_next(&walker->execution, insn);
    if (!walker->ip)
        return false;
    walk_execute(walker, insn);
    return true;
}

/* ---- two ways ---- */

struct way_place {
    struct lwp_registers registers;
    uint64_t flags, ip, low, high, back;
    unsigned flags_known, stores;
    struct lwp_walk_path path;
    uint8_t path_number;
    bool flags_of_vector;
};

struct way {
    uint64_t ip[WAY_STEPS];
    int8_t depth[WAY_STEPS]; /* calls, less returns */
    unsigned count;
    bool accesses, wanted; /* some were on it; the one that is looked for */
};

static int8_t way_depth(const struct walker *walker)
{
    return (int8_t)(walker->path.calls - walker->path.returned);
}

static struct way_place way_save(const struct walker *walker)
{
    const struct lwp_execution *execution = &walker->execution;
    return (struct way_place){execution->registers,   execution->flags,       walker->ip,        walker->low,  walker->high,
                              walker->back,           execution->flags_known, execution->stores, walker->path, walker->path_number,
                              walker->flags_of_vector};
}

/* But for what was stored since. */
static void way_restore(struct walker *walker, const struct way_place *place)
{
    struct lwp_execution *execution = &walker->execution;
    execution->registers = place->registers;
    execution->flags = place->flags;
    execution->flags_known = place->flags_known;
    walker->flags_of_vector = place->flags_of_vector;
    walker->ip = place->ip;
    walker->low = place->low;
    walker->high = place->high;
    walker->back = place->back;
    walker->path = place->path;
    walker->path_number = place->path_number;
}

/* Whether a store was made is not known. */
static void way_forget(struct walker *walker, unsigned since)
{
    for (unsigned i = since; i < walker->execution.stores && i < LWP_EXECUTION_STORES; i++)
        walker->execution.stored[i].value.known = false;
}

/* What both ways leave alike. */
static void way_merge(struct walker *walker, const struct way_place *other)
{
    struct lwp_execution *execution = &walker->execution;
    for (unsigned reg = 0; reg < 16; reg++)
        if (execution->registers.value[reg] != other->registers.value[reg])
            execution->registers.known = (uint16_t)(execution->registers.known & ~(1u << reg));
    execution->registers.known &= other->registers.known;
    execution->flags_known &= other->flags_known & ~(unsigned)(execution->flags ^ other->flags);
}

static bool walker_join(struct walker *walker, const struct lwp_insn *jump, struct lwp_forward_walk *walk, unsigned deep);

/* Goes one way, at most so many steps, until where the `other` one was. The number of that step of it; WAY_STEPS: they do not meet. */
static unsigned walker_way(struct walker *walker, struct lwp_forward_walk *walk, struct way *way, const struct way *other, unsigned most,
                           unsigned deep)
{
    for (way->count = 0; way->count < most; way->count++) {
        for (unsigned i = 0; other && i < other->count; i++)
            if (other->ip[i] == walker->ip && other->depth[i] == way_depth(walker))
                return i;
        const struct lwp_insn *insn = walker_insn(walker);
        if (!insn || insn->op == LWP_OP_CALL || insn->op == LWP_OP_CALL_BY)
            break;
        way->ip[way->count] = walker->ip;
        way->depth[way->count] = way_depth(walker);
        way->accesses |= lwp_insn_accesses(insn);
        way->wanted |= walk->wanted == insn->ip;
        if (!walker_go(walker, insn, walk) && !walker_join(walker, insn, walk, deep + 1)) {
            way->count++;
            break;
        }
    }
    return WAY_STEPS;
}

/* Goes on where both ways of the jump meet. False: the jump is another one, or they do not meet soon. */
static bool walker_join(struct walker *walker, const struct lwp_insn *jump, struct lwp_forward_walk *walk, unsigned deep)
{
    if (jump->op != LWP_OP_JCC || !walker->flags_of_vector || deep == WAYS_DEEP)
        return false;
    struct way ways[2];
    struct way_place begun = way_save(walker);
    const uint64_t target = jump->target; /* what is decoded meanwhile may take its room */
    memset(ways, 0, sizeof ways);
    begun.ip = jump->ip + jump->length;
    way_restore(walker, &begun);
    walker_way(walker, walk, &ways[0], NULL, WAY_STEPS, deep);
    way_restore(walker, &begun);
    if (walker->execution.stores <= LWP_EXECUTION_STORES)
        walker->execution.stores = begun.stores;
    walker->ip = target;
    const unsigned met = walker_way(walker, walk, &ways[1], &ways[0], WAY_STEPS, deep);
    if (met == WAY_STEPS)
        return false;
    const struct way_place other = way_save(walker);
    way_forget(walker, begun.stores);
    way_restore(walker, &begun);
    ways[0].accesses = ways[0].wanted = false;
    walker_way(walker, walk, &ways[0], NULL, met, deep);
    if (walker->ip != other.ip)
        return false;
    way_forget(walker, begun.stores);
    way_merge(walker, &other);
    walker->joined = true;
    walker->apart |= ways[0].accesses || ways[1].accesses;
    if (ways[0].wanted || ways[1].wanted)
        walk->wanted = 0;
    return true;
}

void lwp_walk_forward(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_registers *start,
                      uint64_t flags, struct lwp_forward_walk *walk, uint32_t *random)
{
    struct walker walker; /* its chunks and what it has seen stay unset */
    lwp_execution_begin(&walker.execution, cache, start, flags, LWP_READ_ALONE);
    walker.cache = cache;
    walker.passed = walker.steps = 0;
    walker.path = (struct lwp_walk_path){0};
    walker.path_number = 0;
    walker.divides = lwp_random_below(random, DIVIDING) == 0;
    walker.joined = walker.apart = walker.flags_of_vector = false;
    walker.ip = location->ip;
    walker.low = location->low;
    walker.high = location->high;
    walker.back = 0;
    walk->found = false;
    walk->kept_count = 0;
    walk->short_of_skip = false;
    walk->paths[0] = walker.path;
    walk->path_count = 1;
    walk->store.seen = walk->store.sites = walk->load.seen = walk->load.sites = 0;
    for (const struct lwp_insn *insn; (insn = walker_insn(&walker)) != NULL;) {
        if (lwp_insn_accesses(insn) && insn->op != LWP_OP_CALL_BY) /* a table of functions is no data */
            walk_pass(&walker, insn, walk, random);
        if (walk_is_done(walk) || (!walker_go(&walker, insn, walk) && !walker_join(&walker, insn, walk, 0)))
            break;
    }
    if (!walk->kept_count && walker.passed) {
        walk->short_of_skip = true;
        walk->kept[0] = walker.seen[lwp_random_below(random, walker.passed < WALK_SEEN ? walker.passed : WALK_SEEN)];
        walk->kept_count = 1;
    }
}
