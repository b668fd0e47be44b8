#include "patch/sources/change.h"

#include <stdlib.h>
#include <string.h>

/* The finding that the report gives this number, or that has it as id; reports keep the order of the analysis. */
static const json_t *find_finding(const json_t *root, const char *finding)
{
    const json_t *findings = json_object_get(root, "findings");
    char *end;
    unsigned long number = strtoul(finding, &end, 10);
    if (*finding && !*end)
        return number ? json_array_get(findings, number - 1) : NULL;
    size_t i;
    json_t *entry;
    json_array_foreach(findings, i, entry) {
        const char *id = json_string_value(json_object_get(entry, "id"));
        if (id && strcmp(id, finding) == 0)
            return entry;
    }
    return NULL;
}

static void read_group(struct lwp_change *change, struct lwp_arena *arena, const json_t *group, struct lwp_change_group *to)
{
    const json_t *fields = json_object_get(group, "fields"), *offsets = json_object_get(group, "offsets");
    size_t count = json_array_size(offsets);
    long long *places = lwp_arena_alloc(arena, count, sizeof *places);
    to->fields = lwp_arena_alloc(arena, count, sizeof *to->fields);
    to->offsets = places;
    to->count = count;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(fields, i));
        to->fields[i] = name ? name : "";
        places[i] = json_integer_value(json_array_get(offsets, i));
    }
    change->group_count++;
}

static int read_split(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const json_t *split, struct lwp_error *err)
{
    const char *kind = json_string_value(json_object_get(split, "kind"));
    const char *type = json_string_value(json_object_get(split, "type"));
    const json_t *object = json_array_get(json_object_get(root, "objects"), (size_t)json_integer_value(json_object_get(split, "object")));
    const json_t *interval = json_object_get(split, "expected_speedup"), *groups = json_object_get(split, "groups"), *group;
    if (!type)
        return lwp_error_set(err, LWP_ERR_MISSING, "the finding names no type: compile the program with -g, collect again");
    if (json_object_get(split, "container"))
        return lwp_error_set(err, LWP_ERR_MISSING, "lwp patch cannot change what a container of the C++ library keeps yet");
    if (kind && strcmp(kind, "reorder") == 0)
        change->kind = LWP_CHANGE_REORDER;
    else if (kind && strcmp(kind, "split") == 0)
        change->kind = LWP_CHANGE_SPLIT;
    else if (kind && strcmp(kind, "pool") == 0)
        change->kind = LWP_CHANGE_NODES;
    else
        return lwp_error_set(err, LWP_ERR_MISSING, "lwp patch cannot make a change of the kind '%s' yet", kind ? kind : "?");
    change->type = strncmp(type, "struct ", 7) == 0 ? type + 7 : type;
    change->bytes = json_integer_value(json_object_get(split, "element_bytes"));
    change->object = json_string_value(json_object_get(object, "name"));
    change->file = json_string_value(json_object_get(json_object_get(object, "declared"), "file"));
    change->speedup = json_number_value(json_object_get(split, "speedup"));
    change->low = json_number_value(json_array_get(interval, 0));
    change->high = json_number_value(json_array_get(interval, 1));
    change->groups = lwp_arena_alloc(arena, json_array_size(groups), sizeof *change->groups);
    size_t i;
    json_array_foreach(groups, i, group)
        read_group(change, arena, group, &change->groups[i]);
    return LWP_OK;
}

/* The fields that threads take from each other's caches, by their place in the element. */
static int read_sharing(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const json_t *sharing,
                        struct lwp_error *err)
{
    const json_t *object = json_array_get(json_object_get(root, "objects"), (size_t)json_integer_value(json_object_get(sharing, "object")));
    const json_t *offsets = json_object_get(sharing, "offsets"), *line = json_object_get(sharing, "line_offset");
    const char *type = json_string_value(json_object_get(object, "type")), *kind = json_string_value(json_object_get(sharing, "kind"));
    long long bytes = json_integer_value(json_object_get(object, "element_bytes"));
    if (!kind || strcmp(kind, "false") != 0)
        return lwp_error_set(err, LWP_ERR_MISSING, "the threads use the same bytes: padding does not keep them apart");
    if (!json_is_integer(json_object_get(sharing, "object")) || !type || bytes <= 0 || !json_is_integer(line))
        return lwp_error_set(err, LWP_ERR_MISSING, "the finding names no type, or no place in it");
    change->kind = LWP_CHANGE_PAD;
    change->type = strncmp(type, "struct ", 7) == 0 ? type + 7 : type;
    change->bytes = bytes;
    change->object = json_string_value(json_object_get(object, "name"));
    change->line_bytes = json_integer_value(json_object_get(sharing, "line_bytes"));
    change->line_bytes = change->line_bytes >= 16 && change->line_bytes <= 1024 ? change->line_bytes : 64;
    size_t count = json_array_size(offsets);
    long long *places = lwp_arena_alloc(arena, count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        long long at = (json_integer_value(line) + json_integer_value(json_array_get(offsets, i))) % bytes;
        places[i] = at < 0 ? at + bytes : at;
    }
    change->groups = lwp_arena_alloc(arena, 1, sizeof *change->groups);
    *change->groups = (struct lwp_change_group){.offsets = places, .count = count};
    change->group_count = 1;
    return LWP_OK;
}

/* Two loops: the entry names the inner one. */
static int read_interchange(struct lwp_change *change, const json_t *root, const json_t *finding, const json_t *locality,
                            struct lwp_error *err)
{
    const json_t *loop = json_array_get(json_object_get(root, "loops"), (size_t)json_integer_value(json_object_get(locality, "loop")));
    const json_t *interval = json_object_get(finding, "expected_speedup");
    change->kind = LWP_CHANGE_INTERCHANGE;
    change->type = "the loops";
    change->file = json_string_value(json_object_get(loop, "file"));
    change->first_line = (unsigned)json_integer_value(json_object_get(loop, "first_line"));
    change->last_line = (unsigned)json_integer_value(json_object_get(loop, "last_line"));
    change->speedup = json_number_value(json_object_get(finding, "speedup"));
    change->low = json_number_value(json_array_get(interval, 0));
    change->high = json_number_value(json_array_get(interval, 1));
    if (!json_is_integer(json_object_get(locality, "loop")) || !change->file || !change->last_line)
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "the finding does not know its loop's lines: compile the program with -g, collect again");
    return LWP_OK;
}

/* An array by the number of its object. */
static int read_array(struct lwp_change *change, const json_t *root, const json_t *number, long long move, struct lwp_error *err)
{
    const json_t *object = json_array_get(json_object_get(root, "objects"), (size_t)json_integer_value(number));
    const json_t *site = json_object_get(object, "site");
    struct lwp_change_array *array = &change->arrays[change->array_count++];
    array->name = json_string_value(json_object_get(object, "name"));
    array->file = json_string_value(json_object_get(site, "file"));
    array->line = (unsigned)json_integer_value(json_object_get(site, "line"));
    array->move = move;
    if (json_is_integer(number) && array->name && array->file)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_MISSING,
                         "the finding does not know where all of its arrays are allocated: compile the program with -g, collect again");
}

/* Arrays that are to become one (`list`: numbers of objects), or to begin elsewhere (what each is to be moved by). */
static int read_arrays(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const json_t *advice, const json_t *list,
                       struct lwp_error *err)
{
    const json_t *interval = json_object_get(advice, "expected_speedup");
    change->type = "the arrays";
    change->speedup = json_number_value(json_object_get(advice, "speedup"));
    change->low = json_number_value(json_array_get(interval, 0));
    change->high = json_number_value(json_array_get(interval, 1));
    change->arrays = lwp_arena_alloc(arena, json_array_size(list) + 1, sizeof *change->arrays);
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        bool moves = json_is_object(entry);
        int status = read_array(change, root, moves ? json_object_get(entry, "object") : entry,
                                moves ? json_integer_value(json_object_get(entry, "move")) : 0, err);
        if (status)
            return status;
    }
    return change->array_count > 1 ? LWP_OK : lwp_error_set(err, LWP_ERR_MISSING, "the finding names no arrays");
}

static int read_conflict(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const json_t *conflict,
                         struct lwp_error *err)
{
    const char *remedy = json_string_value(json_object_get(conflict, "remedy"));
    if (!remedy || strcmp(remedy, "apart") != 0)
        return lwp_error_set(err, LWP_ERR_MISSING, "lwp patch moves arrays apart; it cannot make rows longer yet");
    change->kind = LWP_CHANGE_APART;
    return read_arrays(change, arena, root, conflict, json_object_get(conflict, "arrays"), err);
}

/* Why there is no patch for findings that are no matter of where data lie, and what they ask for. */
static int no_patch(const json_t *entry, const char *finding, struct lwp_error *err)
{
    static const struct {
        const char *begin, *why; /* of the finding's kind or id */
    } others[] = {
        {"redundancy", "it is about what is computed and stored, not about where data lie: which of it the program can do without is not "
                       "written in its sources"},
        {"communication", "it is about which threads do which work, and that is the program's to decide"},
        {"sharing", "its data or their order are not known well enough"},
        {"pages-", "memory is asked for in another way; no data move"},
        {"touch-", "another thread is to write the data first; no data move"},
        {"padding-", "rows are not made longer by lwp patch"},
        {"fission-", "loops are not taken apart by lwp patch, only interchanged"},
        {"fusion-", "loops are not joined by lwp patch, only interchanged"},
        {"blocking-", "loops are not blocked by lwp patch, only interchanged"},
    };
    const char *kind = json_string_value(json_object_get(entry, "kind")), *id = json_string_value(json_object_get(entry, "id"));
    const char *title = json_string_value(json_object_get(entry, "title"));
    const char *why = "lwp patch reorders fields, splits and pads structures, pools nodes, regroups arrays or moves them apart, and "
                      "interchanges loops";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((kind && strcmp(kind, others[i].begin) == 0) || (id && strncmp(id, others[i].begin, strlen(others[i].begin)) == 0))
            why = others[i].why;
    return lwp_error_set(err, LWP_ERR_MISSING, "finding %s (%s) has no patch: %s. 'lwp report' has what to do: %s", finding, id ? id : "?", why,
                         title ? title : "?");
}

int lwp_change_read(struct lwp_change *change, struct lwp_arena *arena, const json_t *root, const char *finding, struct lwp_error *err)
{
    const json_t *entry = find_finding(root, finding);
    const size_t count = json_array_size(json_object_get(root, "findings"));
    if (!count)
        return lwp_error_set(err, LWP_ERR_MISSING, "there is nothing to patch: the result has no findings; 'lwp report' says why");
    if (!entry)
        return lwp_error_set(err, LWP_ERR_MISSING, "there is no finding '%s'; 'lwp report' lists the %zu there are", finding, count);
    const json_t *split = json_object_get(json_object_get(entry, "refs"), "split"),
                 *sharing = json_object_get(json_object_get(entry, "refs"), "sharing"),
                 *regroup = json_object_get(json_object_get(entry, "refs"), "regroup"),
                 *conflict = json_object_get(json_object_get(entry, "refs"), "conflict"),
                 *locality = json_object_get(json_object_get(entry, "refs"), "locality");
    change->finding = json_string_value(json_object_get(entry, "id"));
    change->title = json_string_value(json_object_get(entry, "title"));
    if (json_is_integer(split))
        return read_split(change, arena, root, json_array_get(json_object_get(root, "splits"), (size_t)json_integer_value(split)), err);
    if (json_is_integer(sharing))
        return read_sharing(change, arena, root, json_array_get(json_object_get(root, "sharing"), (size_t)json_integer_value(sharing)),
                            err);
    if (json_is_integer(regroup)) {
        const json_t *advice = json_array_get(json_object_get(root, "regroups"), (size_t)json_integer_value(regroup));
        change->kind = LWP_CHANGE_REGROUP;
        return read_arrays(change, arena, root, advice, json_object_get(advice, "objects"), err);
    }
    if (json_is_integer(conflict))
        return read_conflict(change, arena, root, json_array_get(json_object_get(root, "conflicts"), (size_t)json_integer_value(conflict)),
                             err);
    if (json_is_integer(locality) && change->finding && strncmp(change->finding, "interchange-", strlen("interchange-")) == 0)
        return read_interchange(change, root, entry,
                                json_array_get(json_object_get(root, "locality"), (size_t)json_integer_value(locality)), err);
    return no_patch(entry, finding, err);
}
