/* The report as text, at most 80 columns wide where names allow it.
 * In: analysis.json (never a sample). Names come from the profiled program, so control characters in them become '?'.
 */
#define _GNU_SOURCE /* asprintf */
#include "analysis/report_parts.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, OBJECTS_SHOWN = 8, LOOPS_SHOWN = 10 };

static const double size_sure = 0.95;

/* Text of the profiled program must not move the cursor. Our own line breaks in declarations stay. */
static void report_clean_text(json_t *value, bool line_breaks)
{
    const char *key;
    size_t i;
    json_t *child;
    if (json_is_string(value)) {
        char *text = strdup(json_string_value(value));
        bool changed = false;
        for (char *c = text; c && *c; c++)
            if (((unsigned char)*c < ' ' && !(line_breaks && *c == '\n')) || *c == 127) {
                *c = '?';
                changed = true;
            }
        if (changed)
            json_string_set(value, text);
        free(text);
    }
    json_object_foreach(value, key, child)
    {
        report_clean_text(child, strcmp(key, "declaration") == 0);
    }
    json_array_foreach(value, i, child)
    {
        report_clean_text(child, false);
    }
}

void lwp_report_clean(json_t *root)
{
    report_clean_text(root, false);
}

void lwp_report_wrap(FILE *out, int indent, const char *text)
{
    int column = indent;
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > indent && column + word + 1 > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fprintf(out, " ");
            column++;
        }
        fprintf(out, "%.*s", word, text);
        column += word;
        text += word;
        while (*text == ' ')
            text++;
    }
    fprintf(out, "\n");
}

/* Words wrapped at WIDTH, following lines indented. */
static void report_wrap(const struct lwp_report *report, int indent, const char *text)
{
    lwp_report_say(report, "%*s", indent, "");
    lwp_report_wrap(report->out, indent, text);
}

/* "match (neuron.c:93-94)", or "sort+0x6e8c" without symbols. */
static void report_place(const struct lwp_report *report, const json_t *loop, char *text, size_t size)
{
    const char *file = lwp_path_last(json_string_value(json_object_get(loop, "file")));
    const char *function = json_string_value(json_object_get(loop, "function"));
    const json_t *module = lwp_report_at(report, "modules", json_object_get(loop, "module"));
    const char *path = lwp_path_last(json_string_value(json_object_get(module, "path")));
    int first = (int)lwp_report_number(loop, "first_line"), last = (int)lwp_report_number(loop, "last_line");
    if (!loop || (!function && !path))
        snprintf(text, size, "unknown code");
    else if (!function)
        snprintf(text, size, "%s+0x%llx", path, (unsigned long long)lwp_report_number(loop, "address"));
    else if (file && first && last > first)
        snprintf(text, size, "%s (%s:%d-%d)", function, file, first, last);
    else if (file && first)
        snprintf(text, size, "%s (%s:%d)", function, file, first);
    else
        snprintf(text, size, "%s", function);
}

static void report_join(const json_t *names, char *text, size_t size)
{
    size_t i, used = 0;
    json_t *name;
    text[0] = '\0';
    json_array_foreach(names, i, name)
    {
        int wrote = snprintf(text + used, size - used, "%s%s", i ? ", " : "", json_string_value(name));
        if (wrote < 0 || (size_t)wrote >= size - used) {
            if (size > 4)
                memcpy(text + size - 4, "...", 4);
            return;
        }
        used += (size_t)wrote;
    }
}

static void report_speedup(const json_t *speedup, char *text, size_t size)
{
    if (!json_is_array(speedup)) {
        snprintf(text, size, "a gain that is not known");
        return;
    }
    snprintf(text, size, "%.2fx to %.2fx", json_number_value(json_array_get(speedup, 0)),
             json_number_value(json_array_get(speedup, 1)));
}

static void report_bytes(double bytes, char *text, size_t size)
{
    const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

static void report_run(const struct lwp_report *report)
{
    const json_t *run = json_object_get(report->root, "run"), *overhead = json_object_get(run, "overhead_percent");
    char line[512], command[256];
    size_t i, used = 0;
    json_t *word;
    command[0] = '\0';
    json_array_foreach(json_object_get(run, "command"), i, word)
    {
        int wrote = snprintf(command + used, sizeof command - used, "%s%s", i ? " " : "", json_string_value(word));
        if (wrote < 0 || (size_t)wrote >= sizeof command - used)
            break;
        used += (size_t)wrote;
    }
    lwp_report_say(report, "Run       %.70s\n", *command ? command : "(command not known)");
    snprintf(line, sizeof line, "%s engine, %.0f samples, %.0f with an address, %.0f lost",
             lwp_report_text(run, "engine", "unknown"), lwp_report_number(run, "samples"),
             lwp_report_number(run, "samples_with_address"), lwp_report_number(run, "samples_lost"));
    lwp_report_say(report, "Measured  %s\n", line);
    bool timed = lwp_report_number(run, "cpu_s") > 0;
    used = (size_t)snprintf(line, sizeof line, timed ? "%.2f s of CPU time" : "CPU time not recorded",
                            lwp_report_number(run, "cpu_s"));
    if (timed && lwp_report_number(run, "samples") > 0 && json_is_number(json_object_get(run, "stall_share")))
        used += (size_t)snprintf(line + used, sizeof line - used, ", %.0f %% of it waiting for memory",
                                 100 * lwp_report_number(run, "stall_share"));
    if (json_is_number(overhead))
        snprintf(line + used, sizeof line - used, "; lwp itself took %.1f %%", json_number_value(overhead));
    lwp_report_say(report, "Cost      %s\n", line);
    const json_t *types = json_object_get(report->root, "types");
    if (json_is_object(types))
        lwp_report_say(report, "Types     known for %.0f %% of the time spent on heap and static data\n",
                       100 * lwp_report_number(types, "share"));
}

static void report_objects(const struct lwp_report *report)
{
    size_t i, shown = 0;
    bool open = false;
    json_t *object;
    lwp_report_say(report, "\n");
    lwp_report_style(report, "1");
    lwp_report_say(report, "Data          share (95 %%)         size  element  name\n");
    lwp_report_style(report, "0");
    json_array_foreach(json_object_get(report->root, "objects"), i, object)
    {
        const json_t *interval = json_object_get(object, "share_ci");
        char size[32] = "-", element[32] = "-", share[48];
        if (lwp_report_number(object, "share") < 0.005 || shown++ == OBJECTS_SHOWN)
            break;
        if (lwp_report_number(object, "bytes") > 0)
            report_bytes(lwp_report_number(object, "bytes"), size, sizeof size);
        const json_t *sure = json_object_get(object, "element_probability");
        bool unsure = json_is_number(sure) && json_number_value(sure) < size_sure;
        if (lwp_report_number(object, "element_bytes") > 0) {
            snprintf(element, sizeof element, "%s%.0f", unsure ? "~" : "", lwp_report_number(object, "element_bytes"));
            open |= unsure;
        }
        snprintf(share, sizeof share, "%5.1f %% (%.1f-%.1f)", 100 * lwp_report_number(object, "share"),
                 100 * json_number_value(json_array_get(interval, 0)),
                 100 * json_number_value(json_array_get(interval, 1)));
        const char *type = json_string_value(json_object_get(object, "type"));
        lwp_report_say(report, "%-8s %-20s %11s %8s  %s%s%s%s\n", lwp_report_text(object, "kind", "?"), share, size,
                       element, lwp_report_text(object, "name", "?"), type ? " (" : "", type ? type : "",
                       type ? ")" : "");
    }
    if (!shown)
        lwp_report_say(report, "  (no data object takes 0.5 %% of the time or more)\n");
    if (open)
        lwp_report_say(report, "  ~ less than 95 %% sure: too few samples, or equal parts that may be elements\n");
}

static void report_loops(const struct lwp_report *report)
{
    size_t i, shown = 0;
    json_t *loop;
    char place[400];
    json_array_foreach(json_object_get(report->root, "loops"), i, loop)
    {
        /* They come hottest first, but a nested one brings its parents along. */
        if (lwp_report_number(loop, "share") < 0.02 || shown == LOOPS_SHOWN / 2)
            continue;
        if (shown++ == 0) {
            lwp_report_say(report, "\n");
            lwp_report_style(report, "1");
            lwp_report_say(report, "Code     share  hottest loops\n");
            lwp_report_style(report, "0");
        }
        report_place(report, loop, place, sizeof place);
        lwp_report_say(report, "%-8s %4.1f %%  %s\n", lwp_report_text(loop, "kind", "loop"),
                       100 * lwp_report_number(loop, "share"), place);
    }
}

static void report_declaration(const struct lwp_report *report, const char *declaration)
{
    lwp_report_style(report, "36");
    while (*declaration) {
        int line = (int)strcspn(declaration, "\n");
        lwp_report_say(report, "    %.*s\n", line, declaration);
        declaration += line + (declaration[line] == '\n');
    }
    lwp_report_style(report, "0");
}

static const char *report_sure(double probability, char *text, size_t room)
{
    snprintf(text, room, " (by strides, %.1f %% sure)", 100 * probability);
    return text;
}

/* What expected speed-ups are of: latencies do not say how much of the run they are. */
static const char *report_whole(const struct lwp_report *report)
{
    const char *unit = lwp_report_text(json_object_get(report->root, "run"), "weight_unit", "");
    return strcmp(unit, "cycles") ? "the whole program" : "the time that accesses take";
}

static void report_split(const struct lwp_report *report, const json_t *split)
{
    const json_t *object = lwp_report_at(report, "objects", json_object_get(split, "object"));
    const json_t *traffic = json_object_get(split, "traffic");
    char text[400], size[32], after[32];
    size_t i;
    json_t *row;
    report_bytes(lwp_report_number(object, "bytes"), size, sizeof size);
    const json_t *interval = json_object_get(object, "share_ci");
    lwp_report_say(report, "   evidence    %.1f %% of all time is spent waiting for it (%.1f-%.1f), %.0f samples\n",
                   100 * lwp_report_number(object, "share"), 100 * json_number_value(json_array_get(interval, 0)),
                   100 * json_number_value(json_array_get(interval, 1)), lwp_report_number(object, "samples"));
    const json_t *probability = json_object_get(split, "element_probability");
    double sure = json_is_number(probability) ? json_number_value(probability) : 1;
    lwp_report_say(report, "               %.0f elements of %.0f bytes%s, %s; its loops take %.1f %%\n",
                   lwp_report_number(object, "elements"), lwp_report_number(object, "element_bytes"),
                   sure >= 1       ? ""
                   : sure >= 0.999 ? " (by strides, more than 99.9 % sure)"
                                   : report_sure(sure, text, sizeof text),
                   size, 100 * lwp_report_number(object, "time_share"));
    const json_t *frame = json_object_get(object, "site");
    if (json_is_string(json_object_get(frame, "file")))
        lwp_report_say(report, "   allocated   in %s() at %s:%.0f\n", lwp_report_text(frame, "function", "?"),
                       lwp_path_last(lwp_report_text(frame, "file", "?")), lwp_report_number(frame, "line"));
    lwp_report_say(report, "   confidence  %s; cache lines per element visited %.2f -> %.2f\n",
                   lwp_report_text(split, "confidence", "?"), lwp_report_number(traffic, "before"),
                   lwp_report_number(traffic, "after"));
    lwp_report_replay(report, json_object_get(split, "replay"));
    report_bytes(lwp_report_number(json_object_get(split, "memory"), "before"), size, sizeof size);
    report_bytes(lwp_report_number(json_object_get(split, "memory"), "after"), after, sizeof after);
    lwp_report_say(report, "   memory      a pass over all elements goes through %s, then %s\n", size, after);
    lwp_report_say(report, "\n   share  loop                                      uses\n");
    size_t shown = 0;
    json_array_foreach(json_object_get(object, "loops"), i, row)
    {
        char fields[160];
        if (lwp_report_number(row, "share") < 0.001 || shown++ == LOOPS_SHOWN)
            break;
        report_place(report, lwp_report_at(report, "loops", json_object_get(row, "loop")), text, sizeof text);
        report_join(json_object_get(row, "fields"), fields, sizeof fields);
        lwp_report_say(report, "  %5.1f %%  %-40s  %s\n", 100 * lwp_report_number(row, "share"), text, fields);
    }
    lwp_report_say(report, "\n");
    report_declaration(report, lwp_report_text(split, "declaration", ""));
}

static void report_regroup(const struct lwp_report *report, const json_t *group)
{
    const json_t *names = json_object_get(group, "names"), *objects = json_object_get(group, "objects");
    const json_t *traffic = json_object_get(group, "traffic"), *first = NULL;
    char text[400], size[32];
    size_t i;
    json_t *row;
    double samples = 0, bytes = 0;
    json_array_foreach(objects, i, row)
    {
        const json_t *object = lwp_report_at(report, "objects", row);
        samples += lwp_report_number(object, "samples");
        bytes += lwp_report_number(object, "bytes");
        first = first ? first : object;
    }
    report_bytes(bytes, size, sizeof size);
    lwp_report_say(report, "   evidence    %zu arrays of %.0f elements, %s in all, %.0f samples\n",
                   json_array_size(names), lwp_report_number(first, "elements"), size, samples);
    lwp_report_say(report, "   confidence  %s; cache lines per index %.2f -> %.2f\n",
                   lwp_report_text(group, "confidence", "?"), lwp_report_number(traffic, "before"),
                   lwp_report_number(traffic, "after"));
    lwp_report_replay(report, json_object_get(group, "replay"));
    lwp_report_say(report, "\n   share  loop                                      cache lines per index\n");
    json_array_foreach(json_object_get(traffic, "loops"), i, row)
    {
        const json_t *loop = lwp_report_at(report, "loops", json_object_get(row, "loop"));
        if (i == LOOPS_SHOWN)
            break;
        report_place(report, loop, text, sizeof text);
        lwp_report_say(report, "  %5.1f %%  %-40s  %.2f -> %.2f\n", 100 * lwp_report_number(loop, "share"), text,
                       lwp_report_number(row, "before"), lwp_report_number(row, "after"));
    }
    json_array_foreach(json_object_get(group, "rejected"), i, row)
    {
        if (i == 0)
            lwp_report_say(report, "\n   left out    reason\n");
        if (i == LOOPS_SHOWN)
            break;
        lwp_report_say(report, "   %-10s  %s: %s\n", lwp_report_text(row, "name", "?"),
                       lwp_report_text(row, "reason", "?"), lwp_report_text(row, "detail", ""));
    }
    lwp_report_say(report, "\n");
    report_declaration(report, lwp_report_text(group, "declaration", ""));
}

static void report_findings(const struct lwp_report *report, bool brief)
{
    const json_t *findings = json_object_get(report->root, "findings");
    size_t i;
    json_t *finding;
    char speedup[64];
    if (json_array_size(findings) == 0) {
        lwp_report_say(report, "%sNo advice: nothing was found that would be worth changing.\n", brief ? "" : "\n");
        return;
    }
    json_array_foreach(findings, i, finding)
    {
        if (brief && i == 3) {
            lwp_report_say(report, "   ... and %zu more\n", json_array_size(findings) - i);
            break;
        }
        report_speedup(json_object_get(finding, "expected_speedup"), speedup, sizeof speedup);
        char *title = NULL;
        if (asprintf(&title, "%zu. %s", i + 1, lwp_report_text(finding, "title", "?")) < 0)
            return;
        if (!brief)
            lwp_report_say(report, "\n");
        lwp_report_style(report, "1");
        report_wrap(report, 0, title);
        lwp_report_style(report, "0");
        free(title);
        lwp_report_say(report, "   expected    %s for %s (severity %s)\n", speedup, report_whole(report),
                       lwp_report_text(finding, "severity", "?"));
        if (brief)
            continue;
        const json_t *split =
            lwp_report_at(report, "splits", json_object_get(json_object_get(finding, "refs"), "split"));
        if (split)
            report_split(report, split);
        const json_t *group =
            lwp_report_at(report, "regroups", json_object_get(json_object_get(finding, "refs"), "regroup"));
        if (group)
            report_regroup(report, group);
        const json_t *pair =
            lwp_report_at(report, "redundancies", json_object_get(json_object_get(finding, "refs"), "redundancy"));
        if (pair)
            lwp_report_redundancy(report, pair);
        lwp_report_say(report, "\n");
        report_wrap(report, 3, lwp_report_text(finding, "next_step", ""));
    }
}

void lwp_report_print(FILE *out, json_t *root, const char *dir, bool brief, bool colour)
{
    struct lwp_report report = {.out = out, .root = root, .colour = colour};
    const json_t *notes = json_object_get(json_object_get(root, "run"), "notes");
    size_t i;
    json_t *note;
    lwp_report_clean(root);
    if (brief) {
        report_findings(&report, true);
        const json_t *run = json_object_get(root, "run"), *overhead = json_object_get(run, "overhead_percent");
        lwp_report_say(&report, "%.0f samples (%.0f lost) by the %s engine", lwp_report_number(run, "samples"),
                       lwp_report_number(run, "samples_lost"), lwp_report_text(run, "engine", "unknown"));
        if (json_is_number(overhead))
            lwp_report_say(&report, "; measured overhead %.1f %%", json_number_value(overhead));
        lwp_report_say(&report, "\n");
        return;
    }
    report_run(&report);
    report_objects(&report);
    report_loops(&report);
    lwp_report_redundancies(&report);
    lwp_report_sharing(&report);
    lwp_report_communication(&report);
    lwp_report_locality(&report);
    report_findings(&report, false);
    if (json_array_size(notes)) {
        lwp_report_say(&report, "\nNotes\n");
        json_array_foreach(notes, i, note)
        {
            report_wrap(&report, 2, json_string_value(note));
        }
    }
    lwp_report_say(&report, "\nLook at it in a browser with:  lwp serve %s\n", dir);
}
