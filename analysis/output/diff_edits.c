#include "analysis/output/diff_edits.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edit {
    long line, lines;
    char *text;
};

static void edit_end(struct edit *edit, json_t *edits)
{
    if (edit->lines || *edit->text)
        json_array_append_new(
            edits, json_pack("{s:I,s:I,s:s}", "line", (json_int_t)edit->line, "lines", (json_int_t)edit->lines, "text", edit->text));
    edit->line += edit->lines;
    edit->lines = 0;
    *edit->text = '\0';
}

/* The lines of one hunk; where it ends. */
static const char *hunk(const char *at, json_t *edits)
{
    struct edit edit = {.line = strtol(at + 4, NULL, 10), .text = lwp_format("%s", "")};
    at += strcspn(at, "\n");
    while (*at && strchr(" +-\\", at[1]) && at[1] && strncmp(at + 1, "--- ", 4) != 0) {
        const char *line = at + 1;
        at = line + strcspn(line, "\n");
        if (*line == ' ') {
            edit_end(&edit, edits);
            edit.line++;
        } else if (*line == '-') {
            if (*edit.text)
                edit_end(&edit, edits);
            edit.lines++;
        } else if (*line == '+') {
            lwp_format_more(&edit.text, "%.*s\n", (int)(at - line - 1), line + 1);
        }
    }
    edit_end(&edit, edits);
    free(edit.text);
    return *at ? at + 1 : at;
}

json_t *lwp_diff_edits(const char *diff)
{
    json_t *files = json_array(), *edits = NULL;
    while (*diff) {
        int length = (int)strcspn(diff, "\n");
        if (strncmp(diff, "--- /dev/null", 13) == 0 || (strncmp(diff, "@@ -", 4) == 0 && !edits)) {
            json_decref(files);
            return NULL;
        }
        if (strncmp(diff, "+++ b/", 6) == 0) {
            edits = json_array();
            json_array_append_new(files, json_pack("{s:s%,s:o}", "file", diff + 6, (size_t)length - 6, "edits", edits));
        }
        diff = strncmp(diff, "@@ -", 4) == 0 ? hunk(diff, edits) : diff + length + (diff[length] == '\n');
    }
    if (json_array_size(files))
        return files;
    json_decref(files);
    return NULL;
}
