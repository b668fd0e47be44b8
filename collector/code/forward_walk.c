/* A few hundred instructions to come are executed, as far as they can be (execution.h). The walk ends at the first jump that depends on
 * something unknown. So an address it reports is the one that the program will use, unless another thread changes memory first. */
#include "collector/code/forward_walk.h"

#include "base/random.h"
#include "collector/code/execution.h"

#include <string.h>

enum { WALK_STEPS = 400, WALK_SEEN = 16 };

struct walker {
    struct lwp_execution execution;
    struct lwp_walk_path path;
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
        if (walker->passed >= walk->skip && walk->kept_count < LWP_WALK_KEEP)
            walk->kept[walk->kept_count++] = lwp_insn_access(insn, address);
        if (walker->passed < WALK_SEEN)
            walker->seen[walker->passed] = lwp_insn_access(insn, address);
        walker->passed++;
    }
    walk_choose(insn->store ? &walk->store : &walk->load, insn, address, walker->path_number, random);
}

static bool walk_is_done(const struct lwp_forward_walk *walk)
{
    return walk->kept_count == LWP_WALK_KEEP && !walk->wanted && walk->store.seen >= walk->store.from && walk->load.seen >= walk->load.from;
}

/* A hash by a division leads to memory that is far from all that was read: behind one a walk takes twice as long (a sample of a hash
 * table's search 205 us instead of 115), and shows nothing of the visit that was interrupted. */
static void walk_execute(struct lwp_execution *execution, const struct lwp_insn *insn)
{
    if (insn->op == LWP_OP_MUL || insn->op == LWP_OP_DIV || insn->op == LWP_OP_IDIV)
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
 * less. 0: it is not known where it goes on, or that is too far away. `back`: where the interrupted function returns to, 0: unknown. */
static uint64_t walk_leave(struct walker *walker, const struct lwp_insn *insn, struct lwp_forward_walk *walk, uint64_t *back)
{
    struct lwp_walk_path *path = &walker->path;
    uint64_t next = insn->ip + insn->length;
    if (insn->op != LWP_OP_RET) {
        const struct lwp_computed to =
            insn->op == LWP_OP_CALL ? (struct lwp_computed){insn->target, true} : lwp_execution_get(&walker->execution, insn, 0);
        if (!to.known)
            return 0;
        lwp_execution_push(&walker->execution, (struct lwp_computed){next, true});
        if (path->calls == 0 && path->returned == 1 && *back == next) {
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
                *back = next;
            path->returned++;
        }
    }
    return path->returned <= LWP_WALK_CALLS && walk_name_path(walker, walk) ? next : 0;
}

void lwp_walk_forward(struct lwp_code_cache *cache, const struct lwp_code_location *location, const struct lwp_registers *start,
                      uint64_t flags, struct lwp_forward_walk *walk, uint32_t *random)
{
    struct walker walker; /* its chunks and what it has seen stay unset */
    lwp_execution_begin(&walker.execution, cache, start, flags, LWP_READ_ALONE);
    walker.passed = 0;
    walker.path = (struct lwp_walk_path){0};
    walker.path_number = 0;
    walk->found = false;
    walk->kept_count = 0;
    walk->short_of_skip = false;
    walk->paths[0] = walker.path;
    walk->path_count = 1;
    walk->store.seen = walk->store.sites = walk->load.seen = walk->load.sites = 0;
    uint64_t ip = location->ip, low = location->low, high = location->high, back = 0;
    for (unsigned step = 0; step < WALK_STEPS && ip >= low && ip < high; step++) {
        const struct lwp_insn *insn = lwp_code_at(cache, ip, high);
        if (insn->invalid || insn->op == LWP_OP_STOP || insn_switches_stack(insn))
            break;
        if (lwp_insn_accesses(insn) && insn->op != LWP_OP_CALL_BY) /* a table of functions is no data */
            walk_pass(&walker, insn, walk, random);
        if (walk_is_done(walk))
            break;
        if (lwp_insn_leaves(insn)) {
            ip = walk_leave(&walker, insn, walk, &back);
            if (!ip || !walker.execution.program->bounds(walker.execution.program, ip, &low, &high))
                break;
            continue;
        }
        ip = lwp_execution_next(&walker.execution, insn);
        if (!ip)
            break;
        walk_execute(&walker.execution, insn);
    }
    if (!walk->kept_count && walker.passed) {
        walk->short_of_skip = true;
        walk->kept[0] = walker.seen[lwp_random_below(random, walker.passed < WALK_SEEN ? walker.passed : WALK_SEEN)];
        walk->kept_count = 1;
    }
}
