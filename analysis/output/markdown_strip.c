/* One element of a structure, drawn to scale: a packet diagram of Mermaid, which GitHub and GitLab render as inline SVG in comments and
 * job summaries. They drop SVG that stands in Markdown itself. A row is a cache line, a "bit" of the packet is a byte. */
#include "analysis/output/formats.h"

#include "analysis/json/json_value.h"

#include <ctype.h>
#include <string.h>

enum { BYTES_MOST = 512, NAME_MOST = 40 };

/* A name as it may stand in quotes. */
static void strip_name(FILE *out, const char *name)
{
    for (int i = 0; i < NAME_MOST && name[i]; i++)
        putc(isalnum((unsigned char)name[i]) || strchr("_.+ []->", name[i]) ? name[i] : '?', out);
}

static void strip_box(FILE *out, unsigned first, unsigned end, const char *name)
{
    if (end - first > 1)
        fprintf(out, "%u-%u: \"", first, end - 1);
    else
        fprintf(out, "%u: \"", first);
    strip_name(out, name);
}

/* The letter of the group that the field moves to: "A" and on; "cold"; "" where it is in none. */
static const char *strip_group(const json_t *split, json_int_t offset, char letter[2])
{
    const json_t *groups = json_object_get(split, "groups"), *group, *at;
    size_t i, k;
    json_array_foreach(groups, i, group)
        json_array_foreach(json_object_get(group, "offsets"), k, at)
            if (json_integer_value(at) == offset && i < 26) {
                letter[0] = (char)('A' + i);
                return letter;
            }
    json_array_foreach(json_object_get(json_object_get(split, "cold"), "offsets"), k, at)
        if (json_integer_value(at) == offset)
            return "cold";
    return "";
}

/* Whether all fields lie one behind the other in the element: unions have no such drawing. */
static bool strip_is_drawable(const json_t *fields, unsigned size)
{
    const json_t *field;
    size_t i;
    double reached = 0;
    json_array_foreach(fields, i, field) {
        double offset = lwp_json_amount(field, "offset"), bytes = lwp_json_amount(field, "bytes");
        if (offset < reached || bytes < 1)
            return false;
        reached = offset + bytes;
    }
    return i > 0 && reached <= size;
}

void lwp_markdown_strip(FILE *out, const json_t *root, const json_t *split)
{
    const json_t *object = lwp_json_entry(root, "objects", split, "object"), *fields = json_object_get(object, "fields"), *field;
    double element = lwp_json_amount(split, "element_bytes"), line = lwp_json_amount(json_object_get(json_object_get(root, "run"), "machine"), "line_bytes");
    unsigned reached = 0, size = element > 0 && element <= BYTES_MOST ? (unsigned)element : 0, row = line >= 16 && line <= 256 ? (unsigned)line : 64;
    const char *gap = lwp_json_string(object, "type") ? "padding" : "?";
    size_t i;
    char letter[2] = "";
    if (!size || !strip_is_drawable(fields, size))
        return;
    fprintf(out, "\n```mermaid\n---\nconfig:\n  packet:\n    bitsPerRow: %u\n    bitWidth: 14\n---\npacket-beta\ntitle ", size < row ? size : row);
    strip_name(out, lwp_json_string_or(split, "type", lwp_json_string_or(object, "name", "one element")));
    fprintf(out, " today, byte by byte: share of the time, and the group that a field moves to\n");
    json_array_foreach(fields, i, field) {
        unsigned offset = (unsigned)lwp_json_amount(field, "offset"), end = offset + (unsigned)lwp_json_amount(field, "bytes");
        if (offset > reached) {
            strip_box(out, reached, offset, gap);
            fputs("\"\n", out);
        }
        double share = json_is_number(json_object_get(field, "loop_share")) ? lwp_json_amount(field, "loop_share") : lwp_json_amount(field, "share");
        const char *group = strip_group(split, (json_int_t)offset, letter);
        strip_box(out, offset, end, lwp_json_string_or(field, "name", "?"));
        fprintf(out, " %.1f %%%s%s\"\n", 100 * share, *group ? " - " : "", group);
        reached = end;
    }
    if (reached < size) {
        strip_box(out, reached, size, gap);
        fputs("\"\n", out);
    }
    fputs("```\n", out);
}
