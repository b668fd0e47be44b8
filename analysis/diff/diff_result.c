/* Reads one result of a comparison.
 *
 * In: any JSON. Out: run, loops and structures in plain C. Nothing in the file is trusted: what has the wrong type
 * counts as missing, numbers are cut to sane ranges, ids outside their arrays are dropped, arrays are read up to a
 * bound (objects and loops come heaviest first, so what is left out weighs little). Limits: lines for each element are
 * worked out again from offsets and strides where the file has no advice, and only for loops that go from element to
 * element; how many lines an element takes is a pure function (lwp_placement_lines), the only thing that reading analysis.json takes
 * from the analysis itself. */
#include "analysis/diff/diff_parts.h"

#include "analysis/advice/placement/lines.h"
#include "analysis/review/names.h"
#include "analysis/tables/engines.h"

#include <math.h>
#include <string.h>

enum { OBJECTS_MAX = 4000, LOOPS_MAX = 8000, FIELDS_MAX = 128, USES_MAX = 128, RUNS_MAX = 10000, LINES_MAX = 4000 };

static const uint64_t usual_line = 64;

struct result_reader {
    struct lwp_diff_result *result;
    struct lwp_arena *arena;
    unsigned lines_left; /* a bound on work for files made to take long */
};

static uint64_t result_count(const json_t *object, const char *key)
{
    double number = lwp_json_amount(object, key);
    return number > 0 ? number < 1e18 ? (uint64_t)number : (uint64_t)1e18 : 0;
}

static double result_share(const json_t *object, const char *key)
{
    return fmin(1, fmax(0, lwp_json_amount(object, key)));
}

static uint32_t result_id(const json_t *value, size_t count)
{
    json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
    return id >= 0 && (size_t)id < count ? (uint32_t)id : LWP_DIFF_NONE;
}

static size_t result_size(const json_t *array, size_t most)
{
    size_t size = json_array_size(array);
    return size < most ? size : most;
}

/* ---- run ---- */

/* Mean and standard error of one number over the runs that were merged. */
static void result_mean(const json_t *runs, const char *key, double *mean, double *error)
{
    double sum = 0, squares = 0;
    size_t n = result_size(runs, RUNS_MAX);
    for (size_t i = 0; i < n; i++) {
        double value = lwp_json_number(json_array_get(runs, i), key);
        if (value < 0)
            return;
        sum += value;
        squares += value * value;
    }
    if (n < 2)
        return;
    *mean = sum / (double)n;
    *error = sqrt(fmax(0, (squares - sum * sum / (double)n) / (double)(n - 1)) / (double)n);
}

static void result_run(struct lwp_diff_result *result)
{
    const json_t *run = result->run, *process, *runs = json_object_get(run, "runs");
    size_t i;
    result->cpu_s = lwp_json_number(run, "cpu_s");
    result->wall_s = lwp_json_number(run, "wall_s");
    result->cpu_error = result->wall_error = -1;
    result->runs = 1;
    if (json_array_size(runs) > 1) {
        result->runs = (unsigned)result_size(runs, RUNS_MAX);
        result_mean(runs, "cpu_s", &result->cpu_s, &result->cpu_error);
        result_mean(runs, "wall_s", &result->wall_s, &result->wall_error);
    }
    result->weight = lwp_json_number(run, "weight");
    result->unit = lwp_json_string_or(run, "weight_unit", "");
    result->engine = lwp_json_string_or(run, "engine", "");
    result->samples = result_count(run, "samples");
    result->line_bytes = result_count(json_object_get(run, "machine"), "line_bytes");
    if (result->line_bytes < 16 || result->line_bytes > 4096)
        result->line_bytes = usual_line;
    json_array_foreach(json_object_get(run, "processes"), i, process) {
        uint64_t threads = result_count(process, "threads");
        result->threads += (unsigned)(threads < 1 << 20 ? threads : 1 << 20);
    }
    result->threads = (result->threads + result->runs - 1) / result->runs;
}

double lwp_diff_seconds(const struct lwp_diff_result *result, double share)
{
    return lwp_unit_named(result->unit)->seconds && result->cpu_s >= 0 ? share * result->cpu_s : -1;
}

/* ---- loops ---- */

static void result_loops(const struct result_reader *reader)
{
    struct lwp_diff_result *result = reader->result;
    const json_t *loops = json_object_get(result->root, "loops");
    size_t count = result_size(loops, LOOPS_MAX);
    result->loops = lwp_arena_alloc(reader->arena, count + 1, sizeof *result->loops);
    result->loop_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *from = json_array_get(loops, i), *up = from;
        struct lwp_diff_loop *loop = &result->loops[i];
        loop->function = lwp_json_string(from, "function");
        loop->file = lwp_json_string(from, "file");
        loop->first_line = (uint32_t)(result_count(from, "first_line") & INT32_MAX);
        loop->last_line = (uint32_t)(result_count(from, "last_line") & INT32_MAX);
        loop->share = result_share(from, "share");
        loop->samples = result_count(from, "samples");
        loop->match = LWP_DIFF_NONE;
        if (lwp_json_is(from, "kind", "function")) /* code outside of loops matches nothing but its like */
            loop->depth = 1000;
        for (int depth = 0; depth < 64; depth++) {
            uint32_t parent = result_id(json_object_get(up, "parent"), count);
            if (parent == LWP_DIFF_NONE)
                break;
            up = json_array_get(loops, parent);
            loop->depth++;
        }
    }
}

/* ---- structures ---- */

static const char *result_tag(const char *type, const char *name)
{
    static const char *const words[] = {"struct ", "class ", "union ", "const "};
    if (!type)
        return name;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(type, words[i], strlen(words[i])) == 0)
            return result_tag(type + strlen(words[i]), name);
    return type;
}

/* Spread of the sum of independent shares. */
static void result_join(struct lwp_diff_structure *into, const struct lwp_diff_structure *from)
{
    double down = hypot(into->share - into->low, from->share - from->low);
    double up = hypot(into->high - into->share, from->high - from->share);
    into->share = fmin(1, into->share + from->share);
    into->low = fmax(0, into->share - down);
    into->high = fmin(1, into->share + up);
    into->time_share = fmin(1, into->time_share + from->time_share);
    into->samples += from->samples;
    into->elements += from->elements;
    into->about |= from->about;
    into->bytes += from->bytes;
}

static void result_fields(const struct result_reader *reader, const json_t *object, struct lwp_diff_structure *structure)
{
    const json_t *fields = json_object_get(object, "fields");
    size_t count = result_size(fields, FIELDS_MAX);
    structure->fields = lwp_arena_alloc(reader->arena, count + 1, sizeof *structure->fields);
    structure->offsets_only = true;
    for (size_t i = 0; i < count; i++) {
        const json_t *field = json_array_get(fields, i);
        struct lwp_diff_field *to = &structure->fields[structure->field_count];
        to->name = lwp_json_string(field, "name");
        to->offset = result_count(field, "offset");
        to->bytes = result_count(field, "bytes");
        if (!to->name || !to->bytes || to->offset > 1 << 30 || to->bytes > 1 << 30)
            continue;
        if (strncmp(to->name, "field_", 6) != 0 && strncmp(to->name, "unseen_", 7) != 0)
            structure->offsets_only = false;
        structure->field_count++;
    }
}

static void result_lines(struct result_reader *reader, const struct lwp_diff_structure *structure, const json_t *row, double *lines)
{
    struct lwp_placement placement = {.groups = 1};
    uint64_t element = structure->element_bytes, line = reader->result->line_bytes;
    size_t count = structure->field_count, i;
    const json_t *used = json_object_get(row, "offsets"), *offset;
    bool uses[FIELDS_MAX] = {0};
    lines[0] = lines[1] = -1;
    if (!element || element > 1 << 30 || !reader->lines_left)
        return;
    reader->lines_left--;
    for (size_t f = 0; f < count; f++) {
        placement.offsets[f] = structure->fields[f].offset;
        placement.bytes[f] = structure->fields[f].bytes;
        json_array_foreach(used, i, offset) {
            if (i >= FIELDS_MAX)
                break;
            uses[f] |= json_is_integer(offset) && json_integer_value(offset) == (json_int_t)placement.offsets[f];
        }
    }
    if (!count) { /* plain numbers, or no fields known: each element is used whole */
        count = 1;
        placement.bytes[0] = element;
        uses[0] = true;
    }
    placement.field_count = count;
    placement.of[0].spacing = structure->single ? lwp_placement_chunk(element) : element;
    placement.of[0].alignment = structure->single ? LWP_PLACEMENT_MALLOC : 0;
    placement.of[0].start = !structure->single && strcmp(structure->kind, "heap") == 0 ? LWP_PLACEMENT_MALLOC : 0;
    for (int random = 0; random < 2; random++)
        lines[random] = lwp_placement_lines(&placement, uses, line, random);
}

static void result_uses(struct result_reader *reader, const json_t *object, struct lwp_diff_structure *structure)
{
    struct lwp_diff_result *result = reader->result;
    const json_t *loops = json_object_get(object, "loops");
    size_t count = result_size(loops, USES_MAX);
    structure->uses = lwp_arena_alloc(reader->arena, count + 1, sizeof *structure->uses);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(loops, i);
        uint32_t loop = result_id(json_object_get(row, "loop"), result->loop_count);
        if (loop == LWP_DIFF_NONE)
            continue;
        double share = result_share(row, "share");
        result->loops[loop].stalled += share;
        struct lwp_diff_use *use = &structure->uses[structure->use_count++];
        *use = (struct lwp_diff_use){.loop = loop, .share = share};
        result_lines(reader, structure, row, use->lines);
    }
}

static bool result_same(const struct lwp_diff_structure *a, const struct lwp_diff_structure *b)
{
    return a->composite && b->composite && a->type && b->type && strcmp(a->type, b->type) == 0 && a->element_bytes == b->element_bytes &&
           strcmp(a->kind, b->kind) == 0;
}

static void result_uses_join(const struct result_reader *reader, struct lwp_diff_structure *into, const struct lwp_diff_structure *from)
{
    struct lwp_diff_use *all = lwp_arena_alloc(reader->arena, into->use_count + from->use_count + 1, sizeof *all);
    if (into->use_count)
        memcpy(all, into->uses, into->use_count * sizeof *all);
    into->uses = all;
    for (size_t i = 0; i < from->use_count; i++) {
        size_t at = 0;
        while (at < into->use_count && all[at].loop != from->uses[i].loop)
            at++;
        if (at == into->use_count)
            all[into->use_count++] = from->uses[i];
        else
            all[at].share += from->uses[i].share;
    }
}

static void result_structure(struct result_reader *reader, const json_t *object, struct lwp_diff_structure *made)
{
    *made = (struct lwp_diff_structure){.kind = lwp_json_string_or(object, "kind", "unknown"), .row = LWP_DIFF_NONE};
    made->name = lwp_stable_name(reader->arena, lwp_json_string_or(object, "name", "unknown"));
    made->type = lwp_json_string(object, "type");
    made->site = lwp_json_string(json_object_get(object, "site"), "function");
    made->tag = result_tag(made->type, made->name);
    made->share = result_share(object, "share");
    made->low = fmin(made->share, fmax(0, lwp_json_end(object, "share_ci", 0)));
    made->high = fmin(1, fmax(made->share, lwp_json_end(object, "share_ci", 1)));
    made->time_share = result_share(object, "time_share");
    made->samples = result_count(object, "samples");
    made->element_bytes = result_count(object, "element_bytes");
    made->elements = result_count(object, "elements");
    made->about = result_count(object, "used_bytes") > 0;
    made->bytes = result_count(object, "bytes");
    made->single = json_is_true(json_object_get(object, "single"));
    result_fields(reader, object, made);
    made->composite = made->field_count > 0 || (made->type && made->tag != made->type && !strchr(made->type, '*'));
    result_uses(reader, object, made);
}

/* Objects of one type are one structure. */
static void result_structures(struct result_reader *reader)
{
    struct lwp_diff_result *result = reader->result;
    const json_t *objects = json_object_get(result->root, "objects");
    size_t count = result_size(objects, OBJECTS_MAX);
    result->structures = lwp_arena_alloc(reader->arena, count + 1, sizeof *result->structures);
    result->of_object = lwp_arena_alloc(reader->arena, count + 1, sizeof(struct lwp_diff_structure *));
    result->object_count = count;
    result->left_out = json_array_size(objects) - count;
    for (size_t i = 0; i < count; i++) {
        struct lwp_diff_structure *made = &result->structures[result->structure_count], *same = result->structures;
        result_structure(reader, json_array_get(objects, i), made);
        while (same < made && !result_same(same, made))
            same++;
        result->of_object[i] = same;
        if (same == made) {
            result->structure_count++;
        } else {
            result_uses_join(reader, same, made);
            result_join(same, made);
        }
    }
}

/* ---- advice ---- */

static void result_advice(const struct result_reader *reader)
{
    static const char *const arrays[] = {"splits", "regroups"}, *const keys[] = {"split", "regroup"};
    struct lwp_diff_result *result = reader->result;
    const json_t *finding, *findings = json_object_get(result->root, "findings"), *id;
    size_t i, k;
    for (int regroup = 0; regroup < 2; regroup++) {
        const json_t *all = json_object_get(result->root, arrays[regroup]);
        json_array_foreach(findings, i, finding) {
            if (i >= OBJECTS_MAX)
                break;
            uint32_t at = result_id(json_object_get(json_object_get(finding, "refs"), keys[regroup]), json_array_size(all));
            const json_t *advice = at == LWP_DIFF_NONE ? NULL : json_array_get(all, at);
            json_array_foreach(json_object_get(advice, "objects"), k, id) {
                uint32_t object = result_id(id, result->object_count);
                struct lwp_diff_structure *structure = object == LWP_DIFF_NONE ? NULL : result->of_object[object];
                if (k >= OBJECTS_MAX)
                    break;
                if (!structure || structure->advice)
                    continue;
                structure->advice = advice;
                structure->finding = finding;
                structure->advice_is_regroup = regroup;
            }
        }
    }
}

int lwp_diff_result_read(struct lwp_diff_result *result, const json_t *root, const char *label, struct lwp_arena *arena,
                         struct lwp_error *err)
{
    struct result_reader reader = {result, arena, LINES_MAX};
    const char *version = lwp_json_string_or(root, "version", "");
    *result = (struct lwp_diff_result){.root = root, .label = label, .run = json_object_get(root, "run")};
    if (!lwp_json_is(root, "schema", "lwp-analysis"))
        return lwp_error_set(err, LWP_ERR_FORMAT, "'%s' is no analysis that lwp has written", label);
    if (strncmp(version, "1.", 2) != 0)
        return lwp_error_set(err, LWP_ERR_NEWER, "'%s' was written by another version of lwp; run 'lwp analyze' on its folder again",
                             label);
    if (!json_is_object(result->run) || !json_is_array(json_object_get(root, "objects")))
        return lwp_error_set(err, LWP_ERR_FORMAT, "'%s' is incomplete; run 'lwp analyze --force' on its folder", label);
    result_run(result);
    result_loops(&reader);
    result_structures(&reader);
    result_advice(&reader);
    for (size_t i = 0; i < result->structure_count; i++) {
        struct lwp_diff_structure *structure = &result->structures[i];
        for (size_t j = 0; j < i; j++) {
            const struct lwp_diff_structure *other = &result->structures[j];
            structure->order += structure->composite == other->composite && strcmp(structure->name, other->name) == 0 &&
                                strcmp(structure->site ? structure->site : "", other->site ? other->site : "") == 0;
        }
    }
    return LWP_OK;
}
