/* Why a pair is redundant: a cause that the two instructions, their functions and loops, the object, and whether the pair came back to
 * one address or went on to others, all point to. Each rule claims no more than it has seen; where none fits the cause is unknown
 * and the pair is only described. Causes are those of Wen's thesis (redundancy_texts.c).
 *
 * Limits: names are those of the C and C++ libraries; of the program's own functions nothing is guessed by name but constructors,
 * which C++ names after their class. Registers saved around a call are not seen: their place is gone with the function's frame
 * before it can be watched again. */
#include "analysis/advice/redundancy/redundancy_cause.h"
#include "analysis/advice/redundancy/redundancy_counts.h"
#include "analysis/advice/redundancy/redundancy_search.h"
#include "analysis/profile/objects.h"
#include "analysis/program/flow/machine_code.h"

#include <string.h>

enum { PLACES_LEAST = 3, SIBLINGS_MAX = 256 };

/* ---- what is known of an access ---- */

struct access_site {
    const struct lwp_symbolized *place; /* NULL: unknown code */
    const char *function;               /* innermost, inlined or not; "" unknown */
    uint32_t loop;                      /* innermost source loop; LWP_NONE: none */
    struct lwp_memory_operand operand;
    bool by_stack; /* its address is the stack or the frame pointer and a constant */
    bool library;  /* the C library's */
    bool shaped;   /* `shape` is known */
    struct lwp_loop_shape shape;
};

static struct access_site site_of(struct lwp_profile *profile, uint32_t context)
{
    struct access_site site = {.loop = LWP_NONE, .function = ""};
    const struct lwp_context_node *node = &profile->contexts[context];
    if (context == 0 || node->module == LWP_NONE)
        return site;
    site.place = lwp_code_symbolize(profile->code, node->module, node->address);
    site.operand = lwp_code_operand(profile->code, node->module, node->address);
    site.library = lwp_objects_library_code(profile, node->module);
    site.by_stack = lwp_code_by_stack(profile->code, node->module, node->address);
    site.shaped = lwp_loop_shape(profile->code, node->module, node->address, &site.shape);
    if (site.place->loop != LWP_NONE)
        site.loop = lwp_code_source_loop(profile->code, site.place->loop);
    if (site.place->frame_count && site.place->frames[0].function)
        site.function = site.place->frames[0].function;
    return site;
}

/* `names`: NULL after the last. */
static bool site_named(const struct access_site *site, const char *const *names)
{
    while (*names && !strstr(site->function, *names))
        names++;
    return *names != NULL;
}

static bool site_copies(const struct access_site *site)
{
    return site_named(site, (const char *const[]){"memcpy", "memmove", "mempcpy", NULL});
}

/* "ns::Grid<int>::Grid(int)": the last name is that of the class it is in. */
bool lwp_redundancy_constructs(const char *function)
{
    const char *open = strchr(function, '('), *last = NULL, *class = function;
    int depth = 0;
    if (!open)
        return false;
    for (const char *at = function; at + 1 < open; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0 && at[0] == ':' && at[1] == ':') {
            class = last ? last : function;
            last = at + 2;
        }
    }
    size_t length = last ? (size_t)(open - last) : 0;
    return length && strncmp(class, last, length) == 0 && (class[length] == ':' || class[length] == '<');
}

/* A fill of the library's, under whatever name the processor's version has, a constructor, or a loop that stores what it has not
 * computed from anything. Not any name with "fill" in it: the program's own may do more than fill. */
static bool site_initialises(const struct access_site *site)
{
    return site_named(site, (const char *const[]){"memset", "bzero", "calloc", "std::fill", "std::__fill", NULL}) ||
           lwp_redundancy_constructs(site->function) || (site->shaped && site->shape.repeats_value && !site->shape.stays);
}

static bool site_in_frame(const struct access_site *site, const struct lwp_object *object)
{
    return site->place && object && object->kind == LWP_OBJECT_STACK && object->module == site->place->module && site->by_stack;
}

/* To a place of its own function's frame where the compiler spills registers. */
static bool site_is_slot(const struct access_site *site, const struct lwp_object *object)
{
    return site_in_frame(site, object) && (!object->variable || object->spilled) && object->start == site->place->function_low;
}

/* To a variable of its own function that is in no register. */
static bool site_is_own(const struct access_site *site, const struct lwp_object *object)
{
    return site_in_frame(site, object) && object->variable && !object->spilled && object->start == site->place->function_low;
}

/* To another function's frame. */
static bool site_is_argument(const struct access_site *site, const struct lwp_object *object)
{
    return site_in_frame(site, object) && site->place->function_low && object->start != site->place->function_low;
}

static bool site_in_libm(const struct lwp_profile *profile, const struct access_site *site)
{
    const struct lwp_module *module = site->place ? lwp_code_module_info(profile->code, site->place->module) : NULL;
    return module && module->path &&
           (strstr(module->path, "/libm.so") || strstr(module->path, "/libm-") || strstr(module->path, "/libmvec.so"));
}

/* ---- what is known of a pair ---- */

struct evidence {
    struct lwp_profile *profile;
    struct access_site first, second;
    uint32_t context;     /* of the first */
    bool same_call;       /* both in the same calling context */
    bool same, same_loop; /* instruction; loop, in one call */
    bool copies;          /* one instruction, or copies of it in an unrolled loop */
    bool stays, moves;    /* time and again at one address; at many */
    bool argument, slot;  /* of a function on the stack; where registers are spilled */
    bool close;           /* values are only about the same */
    bool literal;         /* of strings and tables that the compiler keeps without a name */
    bool constant;        /* the compiler's own, such as the number that code divides by */
};

static bool loops_same(const struct evidence *e)
{
    return e->first.loop != LWP_NONE && e->first.loop == e->second.loop;
}

/* Whether each pass of their loop makes both accesses to the same bytes. */
static bool same_pass(const struct evidence *e)
{
    struct lwp_sibling siblings[SIBLINGS_MAX];
    const struct lwp_symbolized *first = e->first.place, *second = e->second.place;
    if (!first || !second || first->module != second->module)
        return false;
    size_t count = lwp_code_siblings(e->profile->code, first->module, first->address, siblings, SIBLINGS_MAX);
    for (size_t i = 0; i < count && i < SIBLINGS_MAX; i++)
        if (siblings[i].address == second->address)
            return siblings[i].delta < e->first.operand.bytes && siblings[i].delta + siblings[i].bytes > 0;
    return false;
}

/* The call of the first access's function, or of the first one outside of the C library, if it is in a loop; otherwise NULL. */
static const struct lwp_context_node *call_in_loop(const struct evidence *e)
{
    const uint32_t at = lwp_access_call(e->profile, e->context);
    const struct lwp_context_node *call = &e->profile->contexts[at];
    const bool known = at && call->module != LWP_NONE;
    return known && lwp_code_symbolize(e->profile->code, call->module, call->address)->loop != LWP_NONE ? call : NULL;
}

static bool same_expression(const struct evidence *e)
{
    const struct lwp_symbolized *first = e->first.place, *second = e->second.place;
    const struct lwp_memory_operand *x = &e->first.operand, *y = &e->second.operand;
    return first->module == second->module && x->load == y->load && x->store == y->store && x->bytes == y->bytes &&
           lwp_code_same_expression(e->profile->code, first->module, first->address, second->address);
}

static struct evidence evidence_of(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const struct lwp_watchpoint_pair *pair = item->pair;
    const struct lwp_object *object = pair->object == LWP_NONE ? NULL : &profile->objects[pair->object];
    struct evidence e = {.profile = profile, .context = pair->first, .close = item->approximate};
    e.first = site_of(profile, pair->first);
    e.second = site_of(profile, pair->second);
    e.same_call = profile->contexts[pair->first].parent == profile->contexts[pair->second].parent;
    e.same = e.first.place && e.first.place == e.second.place;
    e.same_loop = e.same_call && loops_same(&e);
    e.copies = e.same || (e.same_loop && same_expression(&e));
    e.stays = item->again >= PLACES_LEAST && item->again > 10 * item->moved;
    e.moves = item->moved >= PLACES_LEAST && item->moved > item->again;
    e.argument = site_is_argument(&e.first, object) || site_is_argument(&e.second, object);
    e.literal = object && object->kind == LWP_OBJECT_STATIC && !object->variable;
    e.constant = e.literal && e.first.operand.base < 0 && e.first.operand.index < 0;
    e.slot = site_is_slot(&e.first, object) && site_is_slot(&e.second, object);
    return e;
}

/* ---- accesses to memory ---- */

static enum lwp_cause memory_dead(const struct evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (site_copies(&e->first))
        return LWP_CAUSE_UNREAD_COPY;
    if (e->argument)
        return LWP_CAUSE_MISSED_INLINING;
    if (e->slot)
        return LWP_CAUSE_SPILL;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return e->copies || !same_pass(e) ? LWP_CAUSE_KEPT_IN_MEMORY : LWP_CAUSE_STORED_TWICE;
    if (e->same_loop && !e->copies && e->first.place->address < e->second.place->address && same_pass(e))
        return LWP_CAUSE_STORED_TWICE;
    if (site_initialises(&e->first))
        return site_initialises(&e->second) ? LWP_CAUSE_REPEATED_FILL : LWP_CAUSE_USELESS_INITIALISATION;
    if (loops_same(e) && ((e->first.shaped && shape->steps) || e->moves))
        return LWP_CAUSE_OVERWRITTEN_WHOLE;
    return e->same_loop && e->same && e->stays ? LWP_CAUSE_KEPT_IN_MEMORY : LWP_CAUSE_UNKNOWN;
}

static bool site_keeps_extreme(const struct lwp_profile *profile, const struct access_site *site)
{
    return site->place &&
           lwp_code_keeps_extreme(profile->code, site->place->module, site->place->address, site->shaped && site->shape.stays);
}

static enum lwp_cause memory_silent_store(const struct evidence *e)
{
    const struct access_site *second = &e->second;
    if (e->close)
        return LWP_CAUSE_CONVERGED;
    if (e->argument)
        return LWP_CAUSE_MISSED_INLINING;
    if (e->slot)
        return LWP_CAUSE_SPILL;
    if (e->same_loop && e->same && second->shaped && second->shape.stays && second->shape.repeats_value)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (site_initialises(second))
        return LWP_CAUSE_REPEATED_FILL;
    if (site_keeps_extreme(e->profile, second))
        return LWP_CAUSE_KEPT_EXTREME;
    if (site_copies(second) || second->shape.copies_value) /* as it was by chance, or all of it: nothing is computed */
        return LWP_CAUSE_UNKNOWN;
    return second->operand.load || (second->shaped && !second->shape.repeats_value) ? LWP_CAUSE_REDUNDANT_COMPUTATION : LWP_CAUSE_UNKNOWN;
}

static enum lwp_cause memory_search(enum lwp_loop_search search)
{
    switch (search) {
    case LWP_LOOP_SEARCH_SCAN:
    case LWP_LOOP_SEARCH_LIST:
        return LWP_CAUSE_LINEAR_SEARCH;
    case LWP_LOOP_SEARCH_SCAN_ALL:
        return LWP_CAUSE_FULL_SEARCH;
    case LWP_LOOP_SEARCH_TREE:
        return LWP_CAUSE_TREE_SEARCH;
    case LWP_LOOP_SEARCH_BISECTION:
        return LWP_CAUSE_BISECTION;
    default:
        return LWP_CAUSE_UNKNOWN;
    }
}

/* A loop that was seen at many places of data that does not change. */
static enum lwp_cause memory_traversal(const struct lwp_loop_shape *shape)
{
    if (shape->search != LWP_LOOP_SEARCH_NONE)
        return memory_search(shape->search);
    return shape->chained ? LWP_CAUSE_POINTER_CHAIN : shape->steps ? LWP_CAUSE_REPEATED_TRAVERSAL : LWP_CAUSE_UNKNOWN;
}

/* The C library's functions look for the end of a text, or a character in it. */
static enum lwp_cause library_traversal(const struct access_site *site)
{
    return site_named(site, (const char *const[]){"strlen", "strnlen", "wcslen", NULL}) ? LWP_CAUSE_COUNTED_LENGTH
                                                                                        : LWP_CAUSE_REPEATED_TRAVERSAL;
}

static enum lwp_cause memory_silent_load(const struct evidence *e)
{
    const struct lwp_loop_shape *shape = &e->first.shape;
    if (e->argument)
        return LWP_CAUSE_MISSED_INLINING;
    if (e->slot)
        return LWP_CAUSE_SPILL;
    if (e->constant)
        return LWP_CAUSE_UNKNOWN;
    if (e->same_loop && e->first.shaped && shape->stays && e->second.shape.stays)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (e->same && e->first.shaped && e->moves)
        return e->first.library ? library_traversal(&e->first) : memory_traversal(shape);
    if (e->same_loop && !e->same && same_pass(e))
        return LWP_CAUSE_KEPT_IN_MEMORY;
    const struct lwp_context_node *call = e->same && e->first.loop == LWP_NONE ? call_in_loop(e) : NULL;
    if (e->same && e->first.loop == LWP_NONE && e->moves && !e->literal) { /* that is what is looked for */
        const struct lwp_context_node *search = &e->profile->contexts[lwp_redundancy_search_place(e->profile, e->context)];
        if (search->module != LWP_NONE)
            return memory_search(lwp_loop_search_by_call(e->profile->code, search->module, search->address));
    }
    return call && e->stays ? LWP_CAUSE_MISSED_INLINING : LWP_CAUSE_UNKNOWN;
}

/* ---- values computed, in registers, and beside each other ---- */

static bool value_same_function(const struct evidence *e)
{
    return e->first.place && e->second.place && e->first.place->module == e->second.place->module &&
           e->first.place->function_low == e->second.place->function_low;
}

/* One instruction on one call path, of a function with no loop around it but that of a caller. */
static bool value_of_calls(const struct evidence *e)
{
    return e->same && e->same_call && e->first.loop == LWP_NONE && call_in_loop(e);
}

static enum lwp_cause value_computation(const struct evidence *e)
{
    if (!e->first.place || !e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (value_same_function(e) && site_in_libm(e->profile, &e->first))
        return LWP_CAUSE_SAME_ARGUMENTS;
    if (e->copies && e->same_loop)
        return LWP_CAUSE_LOOP_INVARIANT;
    if (value_of_calls(e))
        return LWP_CAUSE_MISSED_INLINING;
    if (!e->same && (e->same_loop || (e->same_call && value_same_function(e))))
        return LWP_CAUSE_COMMON_EXPRESSION;
    return value_same_function(e) ? LWP_CAUSE_UNKNOWN : LWP_CAUSE_COMPUTED_ELSEWHERE;
}

static enum lwp_cause value_register(const struct evidence *e)
{
    const struct lwp_memory_operand *operand = &e->second.operand;
    if (!e->first.place || !e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (value_same_function(e) && site_in_libm(e->profile, &e->second))
        return LWP_CAUSE_SAME_ARGUMENTS;
    if (operand->load && e->second.by_stack)
        return LWP_CAUSE_SPILL;
    if (e->same && e->same_loop && operand->load && e->second.shaped && e->second.shape.stays)
        return LWP_CAUSE_KEPT_IN_MEMORY;
    if (value_of_calls(e))
        return LWP_CAUSE_MISSED_INLINING;
    if (e->close)
        return LWP_CAUSE_CONVERGED;
    return e->same && e->same_loop && !operand->load ? LWP_CAUSE_REDUNDANT_COMPUTATION : LWP_CAUSE_UNKNOWN;
}

/* Why two threads store to the same bytes, code does not show. */
static enum lwp_cause memory_overwritten(const struct evidence *e)
{
    (void)e;
    return LWP_CAUSE_UNKNOWN;
}

static enum lwp_cause value_spatial(const struct evidence *e)
{
    if (!e->second.place)
        return LWP_CAUSE_UNKNOWN;
    if (site_initialises(&e->second))
        return LWP_CAUSE_UNIFORM_FILL;
    if (e->close)
        return LWP_CAUSE_CONVERGED;
    return e->second.shaped && e->second.operand.store && !site_copies(&e->second) ? LWP_CAUSE_REDUNDANT_COMPUTATION : LWP_CAUSE_UNKNOWN;
}

static bool is_volatile(struct lwp_code *code, const struct lwp_object *object)
{
    if (!object->variable || object->module == LWP_NONE)
        return false;
    if (object->kind == LWP_OBJECT_STACK)
        return lwp_types_stack_is_volatile(code, object->module, object->lookup_address, object->lookup_cfa);
    return object->kind == LWP_OBJECT_STATIC && lwp_types_static_is_volatile(code, object->module, object->start);
}

bool lwp_redundancy_is_own_variable(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    const struct lwp_watchpoint_pair *pair = item->pair;
    const struct lwp_object *object = pair->object == LWP_NONE ? NULL : &profile->objects[pair->object];
    const struct access_site first = site_of(profile, pair->first), second = site_of(profile, pair->second);
    return site_is_own(&first, object) && site_is_own(&second, object);
}

enum lwp_cause lwp_redundancy_cause(struct lwp_profile *profile, const struct lwp_redundancy *item)
{
    static enum lwp_cause (*const rules[LWP_WATCHPOINT_KINDS])(const struct evidence *) = {
        [LWP_WATCHPOINT_DEAD_STORE] = memory_dead,         [LWP_WATCHPOINT_SILENT_STORE] = memory_silent_store,
        [LWP_WATCHPOINT_SILENT_LOAD] = memory_silent_load, [LWP_WATCHPOINT_COMPUTATION] = value_computation,
        [LWP_WATCHPOINT_REGISTER] = value_register,        [LWP_WATCHPOINT_SPATIAL] = value_spatial,
        [LWP_WATCHPOINT_OVERWRITTEN] = memory_overwritten};
    if (item->kind <= LWP_WATCHPOINT_SILENT_LOAD && item->pair->object != LWP_NONE &&
        is_volatile(profile->code, &profile->objects[item->pair->object]))
        return LWP_CAUSE_VOLATILE;
    const struct evidence e = evidence_of(profile, item);
    return rules[item->kind](&e);
}
