#include "analysis/load/pack.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/locations.h"
#include "analysis/profile/objects.h"

#include <stdlib.h>
#include <string.h>

void lwp_pack_begin(struct lwp_pack *pack, struct lwp_profile *profile)
{
    *pack = (struct lwp_pack){.profile = profile};
}

void lwp_unpack_begin(struct lwp_pack *pack, struct lwp_profile *profile, const void *bytes, size_t size)
{
    *pack = (struct lwp_pack){.profile = profile, .unpacking = true, .bytes = (uint8_t *)(uintptr_t)bytes, .size = size};
}

void lwp_pack_end(struct lwp_pack *pack)
{
    for (size_t i = 0; i < LWP_PACK_KINDS; i++)
        free(pack->numbers[i]);
}

/* ---- pieces ---- */

static void pack_get(struct lwp_pack *pack, void *value, size_t size)
{
    pack->bad |= size > pack->size - pack->at;
    if (pack->bad) {
        memset(value, 0, size);
        return;
    }
    memcpy(value, pack->bytes + pack->at, size);
    pack->at += size;
}

static void pack_put(struct lwp_pack *pack, const void *value, size_t size)
{
    while (size > pack->room - pack->size)
        pack->bytes = lwp_grow(pack->bytes, pack->room, &pack->room, 1);
    memcpy(pack->bytes + pack->size, value, size);
    pack->size += size;
}

void lwp_pack_bytes(struct lwp_pack *pack, void *value, size_t size)
{
    if (!size)
        return;
    if (pack->unpacking)
        pack_get(pack, value, size);
    else
        pack_put(pack, value, size);
}

void lwp_pack_text(struct lwp_pack *pack, const char **text)
{
    size_t length = pack->unpacking ? 0 : strlen(*text); // NOLINT(clang-analyzer-core.NonNullParamChecker): texts given are there
    LWP_PACK(pack, length);
    if (!pack->unpacking) {
        pack_put(pack, *text, length);
        return;
    }
    pack->bad |= length > pack->size - pack->at;
    *text = pack->bad ? "" : lwp_arena_strndup(pack->profile->arena, (const char *)pack->bytes + pack->at, length);
    pack->at += pack->bad ? 0 : length;
}

/* How many follow, each of at least `size` bytes. */
static size_t pack_count(struct lwp_pack *pack, size_t count, size_t size)
{
    LWP_PACK(pack, count);
    if (pack->unpacking && count > (pack->size - pack->at) / size) {
        pack->bad = true;
        count = 0;
    }
    return count;
}

void *lwp_pack_array(struct lwp_pack *pack, void *items, size_t *count, size_t *room, size_t size)
{
    *count = pack_count(pack, *count, size);
    if (pack->unpacking) {
        items = lwp_zeroed(*count, size);
        *room = *count;
    }
    lwp_pack_bytes(pack, items, *count * size);
    return items;
}

void lwp_pack_number(struct lwp_pack *pack, enum lwp_pack_kind kind, uint32_t *number)
{
    if (!pack->unpacking || *number == LWP_NONE)
        return;
    pack->bad |= *number >= pack->counts[kind];
    *number = pack->bad ? LWP_NONE : pack->numbers[kind][*number];
}

/* ---- tables ---- */

/* `count` of a kind, each of at least `size` bytes; when unpacking, none has a number yet. */
static size_t pack_table(struct lwp_pack *pack, enum lwp_pack_kind kind, size_t count, size_t size)
{
    count = pack_count(pack, count, size);
    if (!pack->unpacking)
        return count;
    pack->numbers[kind] = lwp_zeroed(count, sizeof **pack->numbers);
    pack->counts[kind] = count;
    for (size_t i = 0; i < count; i++)
        pack->numbers[kind][i] = LWP_NONE;
    return count;
}

static size_t pack_unhex(const char *text, uint8_t *bytes, size_t room)
{
    size_t count = 0;
    for (; count < room && text[2 * count] && text[2 * count + 1]; count++) {
        char pair[] = {text[2 * count], text[2 * count + 1], '\0'};
        bytes[count] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return count;
}

static void pack_modules(struct lwp_pack *pack)
{
    struct lwp_code *code = pack->profile->code;
    size_t count = pack_table(pack, LWP_PACK_MODULE, lwp_code_module_count(code), 2 * sizeof(size_t));
    for (uint32_t i = 0; i < count && !pack->bad; i++) {
        const struct lwp_module *module = pack->unpacking ? NULL : lwp_code_module_info(code, i);
        const char *path = module ? module->path : NULL, *build_id = module ? module->build_id : NULL;
        uint8_t bytes[64];
        lwp_pack_text(pack, &path);
        lwp_pack_text(pack, &build_id);
        if (!pack->unpacking)
            continue;
        size_t size = pack_unhex(build_id, bytes, sizeof bytes);
        pack->numbers[LWP_PACK_MODULE][i] = lwp_code_module(code, path, size ? bytes : NULL, size);
    }
}

static void pack_locations(struct lwp_pack *pack)
{
    struct lwp_profile *profile = pack->profile;
    struct {
        uint64_t address;
        uint32_t module, part;
    } location = {0};
    size_t parts = pack_table(pack, LWP_PACK_PART, lwp_locations_part_count(profile), 1);
    size_t count = pack_table(pack, LWP_PACK_LOCATION, lwp_locations_count(profile), sizeof location);
    for (uint32_t i = 0; i < count && !pack->bad; i++) {
        if (!pack->unpacking) {
            lwp_locations_address(profile, i, &location.module, &location.address);
            location.part = lwp_locations_at(profile, location.module, location.address)->part;
        }
        LWP_PACK(pack, location);
        lwp_pack_number(pack, LWP_PACK_MODULE, &location.module);
        if (!pack->unpacking)
            continue;
        const struct lwp_location *own = lwp_locations_at(profile, location.module, location.address);
        pack->numbers[LWP_PACK_LOCATION][i] = own->id;
        if (location.part < parts)
            pack->numbers[LWP_PACK_PART][location.part] = own->part;
    }
}

static void pack_contexts(struct lwp_pack *pack)
{
    struct lwp_profile *profile = pack->profile;
    struct lwp_context_node node;
    bool refused = profile->contexts_refused;
    LWP_PACK(pack, refused);
    profile->contexts_refused |= refused;
    size_t count = pack_table(pack, LWP_PACK_CONTEXT, profile->context_count, sizeof node);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        if (!pack->unpacking)
            node = profile->contexts[i];
        LWP_PACK(pack, node);
        if (!pack->unpacking)
            continue;
        lwp_pack_number(pack, LWP_PACK_MODULE, &node.module);
        if (i) /* the root is its own parent */
            lwp_pack_number(pack, LWP_PACK_CONTEXT, &node.parent);
        pack->numbers[LWP_PACK_CONTEXT][i] =
            i && !pack->bad ? lwp_contexts_child(profile, node.parent, node.module, node.address, node.is_function) : 0;
    }
}

static void pack_objects(struct lwp_pack *pack)
{
    struct lwp_profile *profile = pack->profile;
    struct lwp_object object;
    size_t count = pack_table(pack, LWP_PACK_OBJECT, profile->object_count, sizeof object);
    for (size_t i = 0; i < count && !pack->bad; i++) {
        if (!pack->unpacking)
            object = profile->objects[i];
        LWP_PACK(pack, object);
        lwp_pack_number(pack, LWP_PACK_MODULE, &object.module);
        lwp_pack_number(pack, LWP_PACK_CONTEXT, &object.context);
        if (pack->unpacking && !pack->bad)
            pack->numbers[LWP_PACK_OBJECT][i] = lwp_objects_adopt(profile, &object);
    }
}

void lwp_pack_tables(struct lwp_pack *pack)
{
    pack_modules(pack);
    pack_locations(pack);
    pack_contexts(pack);
    pack_objects(pack);
}
