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

void lwp_terminal_name(const struct lwp_terminal *terminal, int column, const char *name)
{
    enum { LITTLE = 20, BELOW = 10 };
    if (terminal->columns - column < LITTLE) {
        fprintf(terminal->out, "\n%*s", BELOW, "");
        column = BELOW;
    }
    char *shown = lwp_visible(name, false, (size_t)(terminal->columns - column));
    fprintf(terminal->out, "%s\n", shown ? shown : "?");
    free(shown);
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
