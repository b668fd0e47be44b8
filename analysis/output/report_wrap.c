/* What all text for a terminal needs: its width, and whether it may be coloured. */
#include "analysis/output/report.h"

#include "base/visible.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 80 };

bool lwp_report_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Of the first `bytes` of it. */
static size_t report_columns(const char *text, size_t bytes)
{
    char *part = strndup(text, bytes);
    size_t columns = part ? lwp_visible_columns(part) : bytes;
    free(part);
    return columns;
}

void lwp_report_wrap(FILE *out, int indent, const char *text)
{
    size_t start = (size_t)indent, column = start;
    while (*text) {
        size_t word = strcspn(text, " "), columns = report_columns(text, word);
        if (column > start && column + columns + 1 > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = start;
        } else if (column > start) {
            fprintf(out, " ");
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += columns;
        text += word;
        while (*text == ' ')
            text++;
    }
    fprintf(out, "\n");
}
