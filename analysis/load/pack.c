#include "analysis/load/pack.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"

#include <stdlib.h>
#include <string.h>

void lwp_pack_begin(struct lwp_pack *parcel, struct lwp_profile *profile)
{
    *parcel = (struct lwp_pack){.profile = profile};
}

void lwp_unpack_begin(struct lwp_pack *parcel, struct lwp_profile *profile, const void *bytes, size_t size)
{
    *parcel = (struct lwp_pack){.profile = profile, .taking = true, .bytes = (uint8_t *)(uintptr_t)bytes, .size = size};
}

void lwp_pack_end(struct lwp_pack *parcel)
{
    for (size_t i = 0; i < LWP_PACK_KINDS; i++)
        free(parcel->numbers[i]);
}

/* ---- pieces ---- */

static void parcel_take(struct lwp_pack *parcel, void *value, size_t size)
{
    parcel->bad |= size > parcel->size - parcel->at;
    if (parcel->bad) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, parcel->bytes + parcel->at, size);
    parcel->at += size;
}

static void parcel_give(struct lwp_pack *parcel, const void *value, size_t size)
{
    while (size > parcel->room - parcel->size)
        parcel->bytes = lwp_grow(parcel->bytes, parcel->room, &parcel->room, 1);
    memcpy(parcel->bytes + parcel->size, value, size);
    parcel->size += size;
}

void lwp_pack_bytes(struct lwp_pack *parcel, void *value, size_t size)
{
    if (!size)
        return;
    if (parcel->taking)
        parcel_take(parcel, value, size);
    else
        parcel_give(parcel, value, size);
}

void lwp_pack_text(struct lwp_pack *parcel, const char **text)
{
    size_t length = parcel->taking ? 0 : strlen(*text); // NOLINT(clang-analyzer-core.NonNullParamChecker): texts given are there
    LWP_PACK(parcel, length);
    if (!parcel->taking) {
        parcel_give(parcel, *text, length);
        return;
    }
    parcel->bad |= length > parcel->size - parcel->at;
    *text = parcel->bad ? "" : lwp_arena_strndup(parcel->profile->arena, (const char *)parcel->bytes + parcel->at, length);
    parcel->at += parcel->bad ? 0 : length;
}

/* How many are to follow, each of at least `size` bytes. */
static size_t parcel_count(struct lwp_pack *parcel, size_t count, size_t size)
{
    LWP_PACK(parcel, count);
    if (parcel->taking && count > (parcel->size - parcel->at) / size) {
        parcel->bad = true;
        count = 0;
    }
    return count;
}

void *lwp_pack_array(struct lwp_pack *parcel, void *items, size_t *count, size_t *room, size_t size)
{
    *count = parcel_count(parcel, *count, size);
    if (parcel->taking) {
        items = lwp_zeroed(*count, size);
        *room = *count;
    }
    lwp_pack_bytes(parcel, items, *count * size);
    return items;
}

void lwp_pack_number(struct lwp_pack *parcel, enum lwp_pack_kind kind, uint32_t *number)
{
    if (!parcel->taking || *number == LWP_NONE)
        return;
    parcel->bad |= *number >= parcel->counts[kind];
    *number = parcel->bad ? LWP_NONE : parcel->numbers[kind][*number];
}

/* ---- tables ---- */

/* Of `count` things of a kind, each of at least `size` bytes; taken, none has a number yet. */
static size_t parcel_table(struct lwp_pack *parcel, enum lwp_pack_kind kind, size_t count, size_t size)
{
    count = parcel_count(parcel, count, size);
    if (!parcel->taking)
        return count;
    parcel->numbers[kind] = lwp_zeroed(count, sizeof **parcel->numbers);
    parcel->counts[kind] = count;
    for (size_t i = 0; i < count; i++)
        parcel->numbers[kind][i] = LWP_NONE;
    return count;
}

static size_t parcel_unhex(const char *text, uint8_t *bytes, size_t room)
{
    size_t count = 0;
    for (; count < room && text[2 * count] && text[2 * count + 1]; count++) {
        char pair[] = {text[2 * count], text[2 * count + 1], '\0'};
        bytes[count] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return count;
}

static void parcel_modules(struct lwp_pack *parcel)
{
    struct lwp_code *code = parcel->profile->code;
    size_t count = parcel_table(parcel, LWP_PACK_MODULE, lwp_code_module_count(code), 2 * sizeof(size_t));
    for (uint32_t i = 0; i < count && !parcel->bad; i++) {
        const struct lwp_module *module = parcel->taking ? NULL : lwp_code_module_info(code, i);
        const char *path = module ? module->path : NULL, *build_id = module ? module->build_id : NULL;
        uint8_t bytes[64];
        lwp_pack_text(parcel, &path);
        lwp_pack_text(parcel, &build_id);
        if (!parcel->taking)
            continue;
        size_t size = parcel_unhex(build_id, bytes, sizeof bytes);
        parcel->numbers[LWP_PACK_MODULE][i] = lwp_code_module(code, path, size ? bytes : NULL, size);
    }
}

static void parcel_spots(struct lwp_pack *parcel)
{
    struct lwp_profile *profile = parcel->profile;
    struct {
        uint64_t address;
        uint32_t module, part;
    } spot = {0};
    size_t parts = parcel_table(parcel, LWP_PACK_PART, lwp_locations_part_count(profile), 1);
    size_t count = parcel_table(parcel, LWP_PACK_SPOT, lwp_locations_count(profile), sizeof spot);
    for (uint32_t i = 0; i < count && !parcel->bad; i++) {
        if (!parcel->taking) {
            lwp_locations_address(profile, i, &spot.module, &spot.address);
            spot.part = lwp_locations_at(profile, spot.module, spot.address)->part;
        }
        LWP_PACK(parcel, spot);
        lwp_pack_number(parcel, LWP_PACK_MODULE, &spot.module);
        if (!parcel->taking)
            continue;
        const struct lwp_location *own = lwp_locations_at(profile, spot.module, spot.address);
        parcel->numbers[LWP_PACK_SPOT][i] = own->id;
        if (spot.part < parts)
            parcel->numbers[LWP_PACK_PART][spot.part] = own->part;
    }
}

static void parcel_contexts(struct lwp_pack *parcel)
{
    struct lwp_profile *profile = parcel->profile;
    struct lwp_context_node node;
    bool refused = profile->contexts_refused;
    LWP_PACK(parcel, refused);
    profile->contexts_refused |= refused;
    size_t count = parcel_table(parcel, LWP_PACK_CONTEXT, profile->context_count, sizeof node);
    for (size_t i = 0; i < count && !parcel->bad; i++) {
        if (!parcel->taking)
            node = profile->contexts[i];
        LWP_PACK(parcel, node);
        if (!parcel->taking)
            continue;
        lwp_pack_number(parcel, LWP_PACK_MODULE, &node.module);
        if (i) /* the root is its own parent */
            lwp_pack_number(parcel, LWP_PACK_CONTEXT, &node.parent);
        parcel->numbers[LWP_PACK_CONTEXT][i] =
            i && !parcel->bad ? lwp_contexts_child(profile, node.parent, node.module, node.address, node.is_function) : 0;
    }
}

static void parcel_objects(struct lwp_pack *parcel)
{
    struct lwp_profile *profile = parcel->profile;
    struct lwp_object object;
    size_t count = parcel_table(parcel, LWP_PACK_OBJECT, profile->object_count, sizeof object);
    for (size_t i = 0; i < count && !parcel->bad; i++) {
        if (!parcel->taking)
            object = profile->objects[i];
        LWP_PACK(parcel, object);
        lwp_pack_number(parcel, LWP_PACK_MODULE, &object.module);
        lwp_pack_number(parcel, LWP_PACK_CONTEXT, &object.context);
        if (parcel->taking && !parcel->bad)
            parcel->numbers[LWP_PACK_OBJECT][i] = lwp_objects_adopt(profile, &object);
    }
}

void lwp_pack_tables(struct lwp_pack *parcel)
{
    parcel_modules(parcel);
    parcel_spots(parcel);
    parcel_contexts(parcel);
    parcel_objects(parcel);
}
