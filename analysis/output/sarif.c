/* One run, all rules, one result for each finding. Paths are relative to SRCROOT where they can be. Fingerprints are made
 * of names, so that a finding stays the same one when lines move; GitHub follows only the one it calls
 * primaryLocationLineHash, and refuses results without a place: the program stands in where no source is known. */
#include "analysis/output/formats.h"

#include "analysis/output/diff_edits.h"
#include "analysis/review/names.h"
#include "analysis/review/review_parts.h"
#include "analysis/tables/severity.h"
#include "base/path.h"
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { RELATED_SHOWN = 10 };

static const char source_root[] = "SRCROOT";

/* SARIF's messages have markup of their own: {0} is replaced, [text](target) is a link (3.11.5, 3.11.6). */
static json_t *sarif_message(const char *text)
{
    char *escaped = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&escaped, &length);
    bool links = strstr(text, "](") != NULL;
    for (const char *c = text; out && *c; c++) {
        if (*c == '{' || *c == '}')
            putc(*c, out);
        if (links && strchr("\\[]", *c))
            putc('\\', out);
        putc(*c, out);
    }
    json_t *message = out && fclose(out) == 0 ? json_pack("{s:s}", "text", escaped) : NULL;
    free(escaped);
    return message;
}

/* RFC 3986: all but unreserved characters and the slash in %XX. */
static const char *sarif_uri(struct lwp_arena *arena, const char *path)
{
    char *uri = lwp_arena_alloc(arena, 3 * strlen(path) + 8, 1), *to = uri;
    if (*path == '/')
        to = stpcpy(to, "file://");
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("/-._~", *path))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*path);
    *to = '\0';
    return uri;
}

static json_t *sarif_artifact(const struct lwp_review *review, const char *file)
{
    json_t *artifact = json_pack("{s:s}", "uri", sarif_uri(review->arena, file));
    if (*file != '/')
        json_object_set_new(artifact, "uriBaseId", json_string(source_root));
    return artifact;
}

static json_t *sarif_location(const struct lwp_review *review, const struct lwp_review_location *at)
{
    json_t *physical = json_pack("{s:o}", "artifactLocation", sarif_artifact(review, at->file));
    if (at->first)
        json_object_set_new(physical, "region", json_pack("{s:i,s:i}", "startLine", (int)at->first, "endLine", (int)at->last));
    json_t *location = json_pack("{s:o}", "physicalLocation", physical);
    if (at->function)
        json_object_set_new(location, "logicalLocations", json_pack("[{s:s,s:s}]", "fullyQualifiedName", at->function, "kind", "function"));
    return location;
}

static json_t *sarif_program(const struct lwp_review *review)
{
    const char *program = json_string_value(json_array_get(json_object_get(json_object_get(review->root, "run"), "command"), 0));
    const char *name = lwp_path_last(program);
    return json_pack("{s:{s:o}}", "physicalLocation", "artifactLocation", sarif_artifact(review, name && *name ? name : "program"));
}

static json_t *sarif_related(const struct lwp_review *review, const struct lwp_review_item *item, size_t index)
{
    const struct lwp_review_location *at = &item->locations[index];
    const char *function = at->function ? lwp_arena_printf(review->arena, ": %s", at->function) : "";
    json_t *location = sarif_location(review, at);
    json_object_set_new(location, "id", json_integer((json_int_t)index));
    json_object_set_new(location, "message", sarif_message(lwp_arena_printf(review->arena, "%s%s", at->role, function)));
    return location;
}

static json_t *sarif_properties(const struct lwp_review *review, const struct lwp_review_item *item)
{
    json_t *properties = json_pack("{s:s,s:s,s:f,s:s,s:s}", "id", item->id, "severity", item->severity, "share", item->share, "shareOf",
                                   item->share_of, "engine", lwp_json_string_or(json_object_get(review->root, "run"), "engine", "unknown"));
    if (item->share_high > 0)
        json_object_set_new(properties, "shareInterval", json_pack("[f,f]", item->share_low, item->share_high));
    if (item->low > 0)
        json_object_set_new(properties, "expectedSpeedup", json_pack("[f,f]", item->low, item->high));
    if (item->tried)
        json_object_set_new(properties, "tried", json_string(item->tried));
    if (item->confidence)
        json_object_set_new(properties, "confidence", json_string(item->confidence));
    if (item->declaration)
        json_object_set_new(properties, "declaration", json_string(item->declaration));
    return properties;
}

static const struct lwp_judged_line *sarif_line(const struct lwp_judgement *judgement, const struct lwp_review_item *item)
{
    for (size_t i = 0; judgement && i < judgement->count; i++)
        if (judgement->lines[i].item == item)
            return &judgement->lines[i];
    return NULL;
}

/* Lines of a file that go, up to the start of the one after them, and what comes there (3.57). */
static json_t *sarif_replacement(const json_t *edit)
{
    json_int_t line = json_integer_value(json_object_get(edit, "line")), lines = json_integer_value(json_object_get(edit, "lines"));
    return json_pack("{s:{s:I,s:i,s:I,s:i},s:{s:O}}", "deletedRegion", "startLine", line, "startColumn", 1, "endLine", line + lines,
                     "endColumn", 1, "insertedContent", "text", json_object_get(edit, "text"));
}

/* The patch of lwp patch, unless it adds a file, which a fix cannot. */
static json_t *sarif_fixes(const struct lwp_review *review, const struct lwp_review_item *item)
{
    json_t *files = item->patch ? lwp_diff_edits(item->patch) : NULL, *changes = json_array(), *file;
    size_t i;
    json_array_foreach(files, i, file) {
        const json_t *edits = json_object_get(file, "edits");
        const char *path = lwp_arena_printf(review->arena, "%s/%s", item->patch_root, lwp_json_string_or(file, "file", ""));
        json_array_append_new(changes, json_pack("{s:o,s:o}", "artifactLocation",
                                                 sarif_artifact(review, lwp_source_relative(review->arena, review->source_root, path)),
                                                 "replacements",
                                                 LWP_JSON_LIST(k, json_array_size(edits), sarif_replacement(json_array_get(edits, k)))));
    }
    json_decref(files);
    if (json_array_size(changes))
        return json_pack("[{s:{s:s},s:o}]", "description", "text", "The patch that lwp patch made", "artifactChanges", changes);
    json_decref(changes);
    return NULL;
}

static json_t *sarif_result(const struct lwp_review *review, const struct lwp_review_item *item, const struct lwp_judged_line *line)
{
    const char *fingerprint = lwp_arena_printf(review->arena, "%s:%u", item->fingerprint, item->ordinal);
    const char *gain =
        item->low > 0 ? lwp_arena_printf(review->arena, " Predicted gain: %s for %s.", lwp_review_gain(review, item), item->gain_of) : "";
    const char *level = line && line->result == LWP_JUDGED_FAILS                 ? "error"
                        : lwp_severity_level(item->severity) == LWP_SEVERITY_LOW ? "note"
                                                                                 : "warning";
    json_t *result = json_pack(
        "{s:s,s:i,s:s,s:o}", "ruleId", item->rule, "ruleIndex", (int)(lwp_review_rule(item->rule) - lwp_review_rules), "level", level,
        "message",
        sarif_message(lwp_arena_printf(review->arena, "%s. %s%s %s", item->title, item->next_step, gain, lwp_review_why(review, item))));
    json_object_set_new(result, "locations",
                        json_pack("[o]", item->location_count ? sarif_location(review, &item->locations[0]) : sarif_program(review)));
    size_t related = item->location_count > RELATED_SHOWN ? RELATED_SHOWN : item->location_count ? item->location_count - 1 : 0;
    if (related)
        json_object_set_new(result, "relatedLocations", LWP_JSON_LIST(i, related, sarif_related(review, item, i + 1)));
    json_object_set_new(result, "partialFingerprints",
                        json_pack("{s:s,s:s}", "lwpFinding/v1", fingerprint, "primaryLocationLineHash", fingerprint));
    if (line && *line->state)
        json_object_set_new(result, "baselineState", json_string(strcmp(line->state, "new") == 0 ? "new" : "unchanged"));
    json_t *fixes = sarif_fixes(review, item);
    if (fixes)
        json_object_set_new(result, "fixes", fixes);
    json_object_set_new(result, "properties", sarif_properties(review, item));
    return result;
}

static json_t *sarif_rule(const struct lwp_review_rule *rule)
{
    return json_pack("{s:s,s:s,s:{s:s},s:{s:s},s:{s:s,s:s},s:{s:s},s:{s:[s]}}", "id", rule->id, "name", rule->name, "shortDescription",
                     "text", rule->brief, "fullDescription", "text", rule->brief, "help", "text", rule->help, "markdown", rule->help,
                     "defaultConfiguration", "level", "warning", "properties", "tags", "performance");
}

static json_t *sarif_invocation(const struct lwp_review *review)
{
    const json_t *run = json_object_get(review->root, "run"), *status = json_object_get(run, "exit"),
                 *notes = json_object_get(run, "notes");
    json_t *list =
        LWP_JSON_LIST(i, json_array_size(notes),
                      json_pack("{s:s,s:o}", "level", "note", "message", sarif_message(lwp_json_shown(json_array_get(notes, i)))));
    return json_pack("{s:b,s:o}", "executionSuccessful",
                     json_is_null(json_object_get(status, "signal")) && lwp_json_amount(status, "code") == 0, "toolExecutionNotifications",
                     list);
}

int lwp_sarif_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err)
{
    json_t *results = LWP_JSON_LIST(i, review->count, sarif_result(review, &review->items[i], sarif_line(judgement, &review->items[i])));
    json_t *run =
        json_pack("{s:{s:{s:s,s:s,s:s,s:o}},s:[o],s:{s:{s:{s:s}}},s:o}", "tool", "driver", "name", "lwp", "version", LWP_VERSION,
                  "semanticVersion", LWP_VERSION, "rules", LWP_JSON_LIST(i, lwp_review_rule_count, sarif_rule(&lwp_review_rules[i])),
                  "invocations", sarif_invocation(review), "originalUriBaseIds", source_root, "description", "text",
                  "the root of the source tree", "results", results);
    json_t *log = json_pack("{s:s,s:s,s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", run);
    int failed = !log || json_dumpf(log, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) || putc('\n', out) == EOF;
    json_decref(log);
    return failed ? lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write the report") : LWP_OK;
}
