#include "analysis/output/terminal.h"

#include "analysis/json/json_value.h"
#include "base/columns.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void lwp_terminal_wrap(const struct lwp_terminal *terminal, int indent, const char *text)
{
    lwp_wrap(terminal->out, text, indent, indent, terminal->columns);
}

void lwp_terminal_name(const struct lwp_terminal *terminal, int column, const char *name, const char *type)
{
    enum { LITTLE = 20, BELOW = 10, TYPE_LITTLE = 12, PARENTHESES = 3 };
    if (terminal->columns - column < LITTLE) {
        fprintf(terminal->out, "\n%*s", BELOW, "");
        column = BELOW;
    }
    char *shown = lwp_visible(name, false, (size_t)(terminal->columns - column));
    int left = terminal->columns - column - PARENTHESES - (int)lwp_visible_columns(shown ? shown : "?");
    char *of = type && (left >= TYPE_LITTLE || left >= (int)strlen(type)) ? lwp_visible(type, false, (size_t)left) : NULL;
    fprintf(terminal->out, "%s%s%s%s\n", shown ? shown : "?", of ? " (" : "", of ? of : "", of ? ")" : "");
    free(shown);
    free(of);
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
