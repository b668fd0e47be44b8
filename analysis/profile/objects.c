/* The table of data objects and their names.
 * In: allocation paths, addresses of static and stack variables. Out: object ids, names.
 * Two allocations are one object when their call paths without recursion are equal. */
#define _GNU_SOURCE /* strcasestr */
#include "analysis/profile/objects.h"
#include "base/order.h"

#include "analysis/profile/contexts.h"
#include "base/pages.h"
#include "base/path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 1 << 21 };

static uint32_t object_intern(struct lwp_profile *profile, uint64_t key, const struct lwp_object *made)
{
    uint32_t *at = lwp_map_at(profile->object_index, key);
    if (*at == LWP_MAP_NONE) {
        if (profile->object_count >= OBJECTS_MAX && made->kind != LWP_OBJECT_UNKNOWN)
            return lwp_objects_special(profile, LWP_OBJECT_NOT_KNOWN);
        *at = (uint32_t)profile->object_count;
        LWP_PAGES_GROW(&profile->objects, profile->object_count, &profile->object_room);
        struct lwp_object *object = &profile->objects[profile->object_count];
        bool dated = made->kind == LWP_OBJECT_HEAP || made->kind == LWP_OBJECT_MMAP; /* by its blocks (address_map.c) */
        *object = *made;
        object->key = key;
        object->reported = LWP_NONE;
        object->first_ns = UINT64_MAX;
        object->allocated_ns = dated ? UINT64_MAX : 0;
        object->freed_ns = dated ? 0 : UINT64_MAX;
        profile->object_count++;
    }
    return *at;
}

static uint64_t object_allocated_key(enum lwp_object_kind kind, uint32_t path, uint64_t pool_size)
{
    return lwp_hash_mix(lwp_hash_mix(path, pool_size), kind);
}

uint32_t lwp_objects_allocated(struct lwp_profile *profile, enum lwp_object_kind kind, uint32_t context, uint64_t pool_size)
{
    uint32_t path = lwp_contexts_unrecursed(profile, context);
    return object_intern(profile, object_allocated_key(kind, path, pool_size),
                         &(struct lwp_object){.kind = kind, .context = path, .module = LWP_NONE, .pool_size = pool_size});
}

bool lwp_objects_constant(const struct lwp_profile *profile, const struct lwp_object *object)
{
    return object->module != LWP_NONE && lwp_code_data_is_constant(profile->code, object->module, object->lookup_address);
}

/* A large array in a structure is an object of its own: whether the address is in one. What lies around it is looked up one by one. */
static bool object_is_inner(struct lwp_profile *profile, const struct lwp_symbol *symbol, struct lwp_object *object, uint64_t *until)
{
    uint64_t start, bytes, elements;
    const char *name;
    if (symbol->bytes <= LWP_TYPE_ELEMENT_MAX)
        return false;
    if (!lwp_types_array_in_static(profile->code, object->module, object->lookup_address, &start, &bytes, &name)) {
        if (lwp_types_of_static(profile->code, object->module, object->lookup_address, &elements) && elements == 1)
            *until = 0;
        return false;
    }
    object->start = start;
    object->bytes = object->largest = bytes;
    object->label = object->variable = lwp_arena_printf(profile->arena, "%s.%s", symbol->name, name);
    *until = start + bytes;
    return true;
}

uint32_t lwp_objects_static(struct lwp_profile *profile, uint32_t module, uint64_t address, uint64_t *offset, uint64_t *until)
{
    struct lwp_symbol symbol;
    struct lwp_object object = {.kind = LWP_OBJECT_STATIC, .module = module, .lookup_address = address, .allocations = 1};
    if (module == LWP_NONE || !lwp_code_data_symbol(profile->code, module, address, &symbol) || address < symbol.start) {
        /* What has no symbol: variables and constants, one object each per module. */
        *offset = address;
        *until = 0;
        const uint64_t which = UINT64_MAX - lwp_objects_constant(profile, &object);
        return object_intern(profile, lwp_hash_mix(lwp_hash_mix(module, which), LWP_OBJECT_STATIC), &object);
    }
    object.start = symbol.start;
    object.bytes = object.largest = symbol.bytes;
    object.label = object.variable = lwp_objects_own_code(profile, module) /* lwp's allocator, until the real one is known */
                                         ? "blocks allocated before the program began"
                                         : lwp_arena_strdup(profile->arena, symbol.name);
    *until = symbol.until;
    const bool inner = object_is_inner(profile, &symbol, &object, until);
    *offset = address - object.start;
    return object_intern(profile, lwp_hash_mix(lwp_hash_mix(module, 2 * object.start + inner), LWP_OBJECT_STATIC), &object);
}

uint32_t lwp_objects_stack(struct lwp_profile *profile, uint32_t module, uint64_t address, int64_t from_cfa, uint64_t *offset)
{
    uint64_t function = lwp_contexts_function(profile, module, address);
    struct lwp_object object = {
        .kind = LWP_OBJECT_STACK, .module = module, .start = function, .lookup_address = address, .lookup_cfa = from_cfa, .allocations = 1};
    const char *variable = NULL;
    int64_t start = 0;
    uint64_t bytes = 0, elements = 0;
    const struct lwp_type *type = NULL;
    if (module != LWP_NONE)
        type = lwp_types_of_stack(profile->code, module, address, from_cfa, &variable, &start, &bytes, &elements);
    if (variable && start <= from_cfa) {
        object.variable = lwp_arena_strdup(profile->arena, variable);
        object.type = type;
        object.type_exact = type != NULL;
        object.spilled = lwp_types_is_spilled(profile->code, module, address, from_cfa);
        object.bytes = object.largest = bytes;
        *offset = (uint64_t)(from_cfa - start);
        /* Variables of several scopes share a place, and perhaps a name. */
        uint64_t key = lwp_hash_mix(lwp_hash_mix(module, function), (uint64_t)start ^ 0x5bd1e995u);
        key = lwp_hash_mix(lwp_hash_mix(key, lwp_hash_text(variable)), bytes);
        uint32_t index = object_intern(profile, lwp_hash_mix(key, lwp_hash_text(type && type->name ? type->name : "")), &object);
        profile->objects[index].spilled &= object.spilled; /* whichever instruction was looked up first */
        return index;
    }
    *offset = (uint64_t)from_cfa;
    return object_intern(profile, lwp_hash_mix(lwp_hash_mix(module, function), LWP_OBJECT_STACK), &object);
}

static uint64_t object_special_key(enum lwp_object_special which)
{
    return which == LWP_OBJECT_OTHER_STACK ? lwp_hash_mix(1, LWP_OBJECT_STACK) : lwp_hash_mix(which, LWP_OBJECT_UNKNOWN);
}

uint32_t lwp_objects_special(struct lwp_profile *profile, enum lwp_object_special which)
{
    static const char *const labels[] = {"stack", "unknown", "memory of no known data object"};
    return object_intern(profile, object_special_key(which),
                         &(struct lwp_object){.kind = which == LWP_OBJECT_OTHER_STACK ? LWP_OBJECT_STACK : LWP_OBJECT_UNKNOWN,
                                              .module = LWP_NONE,
                                              .label = labels[which]});
}

bool lwp_objects_unowned(const struct lwp_object *object)
{
    return object->key == object_special_key(LWP_OBJECT_UNOWNED);
}

void lwp_objects_count(struct lwp_object *object, const struct lwp_object_life *life)
{
    object->allocations += life->allocations;
    LWP_RAISE(object->bytes, life->bytes);
    LWP_RAISE(object->largest, life->largest);
    LWP_LOWER(object->allocated_ns, life->allocated_ns);
    LWP_RAISE(object->freed_ns, life->freed_ns);
}

uint32_t lwp_objects_part(struct lwp_profile *profile, uint32_t index, const struct lwp_type *type)
{
    const struct lwp_object whole = profile->objects[index];
    uint32_t part = object_intern(profile, lwp_hash_mix(whole.key, lwp_hash_text(type->name) ^ type->bytes),
                                  &(struct lwp_object){.kind = whole.kind,
                                                       .context = whole.context,
                                                       .module = whole.module,
                                                       .start = whole.start,
                                                       .lookup_address = whole.lookup_address,
                                                       .pool_size = whole.pool_size,
                                                       .common = whole.common,
                                                       .accessed = true,
                                                       .type = type,
                                                       .type_exact = true});
    struct lwp_object *made = &profile->objects[part];
    made->allocated_ns = whole.allocated_ns;
    made->freed_ns = whole.freed_ns;
    made->first_ns = whole.first_ns;
    made->last_ns = whole.last_ns;
    return part;
}

static uint32_t object_like(struct lwp_profile *profile, const struct lwp_object *other)
{
    uint64_t offset, until;
    switch (other->kind) {
    case LWP_OBJECT_HEAP:
    case LWP_OBJECT_MMAP:
        return lwp_objects_allocated(profile, other->kind, other->context, other->pool_size);
    case LWP_OBJECT_STATIC:
        return lwp_objects_static(profile, other->module, other->lookup_address, &offset, &until);
    case LWP_OBJECT_STACK:
        return other->key == object_special_key(LWP_OBJECT_OTHER_STACK)
                   ? lwp_objects_special(profile, LWP_OBJECT_OTHER_STACK)
                   : lwp_objects_stack(profile, other->module, other->lookup_address, other->lookup_cfa, &offset);
    case LWP_OBJECT_UNKNOWN:
        break;
    }
    return lwp_objects_special(profile, other->key == object_special_key(LWP_OBJECT_UNOWNED) ? LWP_OBJECT_UNOWNED : LWP_OBJECT_NOT_KNOWN);
}

uint32_t lwp_objects_adopt(struct lwp_profile *profile, const struct lwp_object *other)
{
    uint32_t index = object_like(profile, other);
    struct lwp_object *object = &profile->objects[index];
    if (other->kind == LWP_OBJECT_HEAP || other->kind == LWP_OBJECT_MMAP)
        lwp_objects_count(object, &(struct lwp_object_life){.allocations = other->allocations,
                                                            .bytes = other->bytes,
                                                            .largest = other->largest,
                                                            .allocated_ns = other->allocated_ns,
                                                            .freed_ns = other->freed_ns});
    object->spilled &= other->spilled;
    return index;
}

/* The sort keys of an object: small, since there are many. */
struct object_order {
    enum lwp_object_kind kind;
    uint32_t module, context, old;
    uint64_t start, pool_size, key;
};

static int object_compare(const void *a, const void *b)
{
    const struct object_order *x = a, *y = b;
    return LWP_COMPARE(x->kind, y->kind) ?: LWP_COMPARE(x->module, y->module) ?: LWP_COMPARE(x->start, y->start)
           ?: LWP_COMPARE(x->context, y->context) ?: LWP_COMPARE(x->pool_size, y->pool_size)
           ?: LWP_COMPARE(x->key, y->key); /* of the variable */
}

/* Permutes in place, cycle by cycle: objects are large, and touching the fresh pages of a second array costs more than moving
 * them. */
static void object_arrange(struct lwp_object *objects, struct object_order *order, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct lwp_object first = objects[i];
        uint32_t at = i;
        for (uint32_t from; (from = order[at].old) != i; at = from) {
            objects[at] = objects[from];
            order[at].old = at;
        }
        objects[at] = first;
        order[at].old = at;
    }
}

void lwp_objects_sort(struct lwp_profile *profile, uint32_t *numbers)
{
    size_t count = profile->object_count;
    struct object_order *order = lwp_zeroed(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        order[i] = (struct object_order){.kind = object->kind,
                                         .module = object->module,
                                         .context = object->context,
                                         .old = (uint32_t)i,
                                         .start = object->start,
                                         .pool_size = object->pool_size,
                                         .key = object->key};
    }
    qsort(order, count, sizeof *order, object_compare);
    for (size_t i = 0; i < count; i++)
        numbers[order[i].old] = (uint32_t)i;
    object_arrange(profile->objects, order, count);
    free(order);
    for (size_t i = 0; i < count; i++) {
        struct lwp_object *object = &profile->objects[i];
        if (object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_MMAP)
            object->key = object_allocated_key(object->kind, object->context, object->pool_size);
    }
}

void lwp_objects_index(struct lwp_profile *profile)
{
    lwp_map_free(profile->object_index);
    profile->object_index = lwp_map_new();
    lwp_map_reserve(profile->object_index, profile->object_count);
    for (size_t i = 0; i < profile->object_count; i++)
        *lwp_map_at(profile->object_index, profile->objects[i].key) = (uint32_t)i;
}

bool lwp_objects_own_code(const struct lwp_profile *profile, uint32_t module)
{
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    return info && info->path && strstr(info->path, "/liblwp-");
}

bool lwp_objects_library_code(const struct lwp_profile *profile, uint32_t module)
{
    static const char *const libraries[] = {"/libc.so", "/libc-", "/libstdc++.so", "/libc++.so", "/ld-linux"};
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    for (size_t i = 0; info && info->path && i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(info->path, libraries[i]))
            return true;
    return lwp_objects_own_code(profile, module);
}

bool lwp_objects_system_library(const struct lwp_profile *profile, uint32_t module)
{
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    return lwp_objects_library_code(profile, module) || (info && info->path && lwp_path_is_system_library(info->path));
}

/* Allocation wrappers: the allocation site is their caller. */
static bool object_is_wrapper(const struct lwp_frame *frame)
{
    static const char *const functions[] = {"malloc",   "calloc",       "realloc",        "xmalloc",        "xcalloc",
                                            "xrealloc", "xzalloc",      "g_malloc",       "g_realloc",      "emalloc",
                                            "ecalloc",  "erealloc",     "safe_malloc",    "checked_malloc", "strdup",
                                            "xstrdup",  "reallocarray", "posix_memalign", "aligned_alloc"};
    for (size_t i = 0; frame->function && i < sizeof functions / sizeof *functions; i++)
        if (strncmp(frame->function, functions[i], strlen(functions[i])) == 0)
            return true;
    /* my_alloc(), AllocateNode(), ... */
    return frame->function && (lwp_types_is_library(frame->function) || strcasestr(frame->function, "alloc"));
}

bool lwp_objects_site(struct lwp_profile *profile, uint32_t context, struct lwp_frame *frame, uint32_t *at)
{
    bool any = false, passed = true; /* as a result, from one to the next */
    for (uint32_t node = context; node; node = profile->contexts[node].parent) {
        const struct lwp_context_node *call = &profile->contexts[node];
        uint32_t module = call->module;
        if (module == LWP_NONE)
            continue;
        const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, module, call->address);
        bool library = lwp_objects_library_code(profile, module);
        for (uint32_t i = call->is_function && place ? place->frame_count - 1 : 0; place && i < place->frame_count; i++) {
            bool wrapper = library || object_is_wrapper(&place->frames[i]);
            if (!library && passed) {
                passed = !call->is_function && lwp_types_wraps(profile->code, module, call->address, i);
                wrapper |= passed;
            }
            if (wrapper && any)
                continue;
            *frame = place->frames[i];
            if (call->is_function)
                frame->line = 0;
            *at = node;
            any = true;
            if (!wrapper)
                return true;
        }
    }
    return any;
}

/* "main()"; of a C++ signature only the name: "make_node(tree_code)" -> "make_node()". Go has "interp.(*interp).execute". */
static const char *object_function(struct lwp_profile *profile, const char *function)
{
    const char *open = strchr(function, '(');
    while (open && (strncmp(open, "(anonymous", 10) == 0 || (open > function && open[-1] == '.') ||
                    (open - function >= 8 && strncmp(open - 8, "operator", 8) == 0)))
        open = strchr(open + 1, '(');
    return lwp_arena_printf(profile->arena, "%.*s()", (int)(open ? open - function : (long)strlen(function)), function);
}

static const char *object_module_name(struct lwp_profile *profile, uint32_t module)
{
    const struct lwp_module *info = module == LWP_NONE ? NULL : lwp_code_module_info(profile->code, module);
    return info && info->path ? lwp_path_last(info->path) : "unknown code";
}

static const char *object_allocated_name(struct lwp_profile *profile, const struct lwp_object *object)
{
    struct lwp_frame frame;
    uint32_t node;
    const char *what = object->kind == LWP_OBJECT_MMAP ? "mapping made" : object->single ? "blocks allocated" : "block allocated";
    if (!lwp_objects_site(profile, object->context, &frame, &node)) {
        uint32_t module = profile->contexts[object->context].module;
        return lwp_arena_printf(profile->arena, "%s in %s", what, object_module_name(profile, module));
    }
    if (!frame.function)
        return lwp_arena_printf(profile->arena, "%s in %s+0x%llx", what, object_module_name(profile, profile->contexts[node].module),
                                (unsigned long long)profile->contexts[node].address);
    if (frame.file && frame.line)
        return lwp_arena_printf(profile->arena, "%s in %s at %s:%u", what, object_function(profile, frame.function),
                                lwp_path_last(frame.file), frame.line);
    return lwp_arena_printf(profile->arena, "%s in %s", what, object_function(profile, frame.function));
}

static const char *object_stack_name(struct lwp_profile *profile, const struct lwp_object *object)
{
    const struct lwp_symbolized *place =
        object->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, object->module, object->start);
    const char *function = place && place->frame_count ? place->frames[place->frame_count - 1].function : NULL;
    function = function ? object_function(profile, function) : "unknown function";
    return object->variable ? lwp_arena_printf(profile->arena, "%s in %s", object->variable, function)
                            : lwp_arena_printf(profile->arena, "stack of %s", function);
}

int lwp_objects_heavier(const void *a, const void *b, void *objects)
{
    const struct lwp_object *x = (struct lwp_object *)objects + *(const uint32_t *)a;
    const struct lwp_object *y = (struct lwp_object *)objects + *(const uint32_t *)b;
    return LWP_COMPARE(y->weight.weight, x->weight.weight) ?: LWP_COMPARE(x->key, y->key);
}

/* Names like __p and _Node are reserved for the language's library, `this` is what a constructor calls what others keep, and "find()"
 * returns what others keep: none is the program's name for the object. */
static bool object_has_own_name(const struct lwp_object *object)
{
    const char *name = object->variable;
    bool reserved = name && name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
    return name && *name && !reserved && strcmp(name, "this") != 0 && name[strlen(name) - 1] != ')';
}

/* Whether an array of pointers, and not one alone, has the name of the nodes that it leads to. */
static bool object_is_led_to(const struct lwp_profile *profile, const struct lwp_object *object)
{
    for (size_t i = 0; object->single && i < profile->object_count; i++) {
        const struct lwp_object *array = &profile->objects[i];
        const char *type = array->type && !array->single ? array->type->name : NULL;
        if (type && *type && type[strlen(type) - 1] == '*' && array->largest > sizeof(void *) && array->variable &&
            strcmp(array->variable, object->variable) == 0)
            return true;
    }
    return false;
}

/* By what keeps it, else by its type, else by where it was allocated. */
static const char *object_block_name(struct lwp_profile *profile, const struct lwp_object *object)
{
    if (object_has_own_name(object))
        return object_is_led_to(profile, object) ? lwp_arena_printf(profile->arena, "*%s[]", object->variable) : object->variable;
    bool type = object->variable && object->type && object->type->kind == LWP_TYPE_STRUCT && object->type->name && *object->type->name;
    return type ? object->type->name : object_allocated_name(profile, object);
}

static const char *object_label(struct lwp_profile *profile, const struct lwp_object *object)
{
    switch (object->kind) {
    case LWP_OBJECT_HEAP:
    case LWP_OBJECT_MMAP:
        return object_block_name(profile, object);
    case LWP_OBJECT_STATIC:
        return lwp_arena_printf(
            profile->arena, lwp_objects_constant(profile, object) ? "literals and constants of %s" : "static data of %s without a symbol",
            object_module_name(profile, object->module));
    case LWP_OBJECT_STACK:
        return object_stack_name(profile, object);
    case LWP_OBJECT_UNKNOWN:
        break;
    }
    return "unknown";
}

const char *lwp_objects_name(struct lwp_profile *profile, uint32_t index)
{
    struct lwp_object *object = &profile->objects[index];
    if (!object->label && object->accessed)
        object->label = object_label(profile, object);
    return object->label;
}
