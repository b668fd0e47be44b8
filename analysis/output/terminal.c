#include "analysis/output/terminal.h"

#include "analysis/json/json_value.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 80 };

bool lwp_terminal_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}

void lwp_terminal_style(const struct lwp_terminal *terminal, const char *code)
{
    if (terminal->colour)
        fprintf(terminal->out, "\033[%sm", code);
}

void lwp_terminal_heading(const struct lwp_terminal *terminal, const char *heading)
{
    lwp_terminal_style(terminal, "1");
    fprintf(terminal->out, "\n%s", heading);
    lwp_terminal_style(terminal, "0");
    putc('\n', terminal->out);
}

/* Of the first `bytes` of it. */
static size_t terminal_columns(const char *text, size_t bytes)
{
    char *part = strndup(text, bytes);
    size_t columns = part ? lwp_visible_columns(part) : bytes;
    free(part);
    return columns;
}

void lwp_terminal_wrap(const struct lwp_terminal *terminal, int indent, const char *text)
{
    size_t start = (size_t)indent, column = start;
    while (*text) {
        size_t word = strcspn(text, " "), columns = terminal_columns(text, word);
        if (column > start && column + columns + 1 > WIDTH) {
            fprintf(terminal->out, "\n%*s", indent, "");
            column = start;
        } else if (column > start) {
            putc(' ', terminal->out);
            column++;
        }
        fprintf(terminal->out, "%.*s", (int)word, text);
        column += columns;
        text += word + strspn(text + word, " ");
    }
    putc('\n', terminal->out);
}

void lwp_terminal_notes(const struct lwp_terminal *terminal, int indent, const json_t *notes)
{
    const json_t *note;
    size_t i;
    if (json_array_size(notes))
        lwp_terminal_heading(terminal, "Notes");
    json_array_foreach(notes, i, note) {
        fprintf(terminal->out, "%*s", indent, "");
        lwp_terminal_wrap(terminal, indent, lwp_json_shown(note));
    }
}
