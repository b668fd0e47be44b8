/* Text for a terminal: its width and its colours. */
#ifndef LWP_ANALYSIS_OUTPUT_TERMINAL_H
#define LWP_ANALYSIS_OUTPUT_TERMINAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct lwp_terminal {
    FILE *out;
    bool colour;
    int columns; /* lwp_columns(out) */
};

/* Whether what goes to standard output may be coloured: a terminal that can, and NO_COLOR is not set. */
bool lwp_terminal_colour(void);

/* From here on: "1" bold, "2" dim, "31" red, ..., "0" plain. */
void lwp_terminal_style(const struct lwp_terminal *terminal, const char *code);

void lwp_terminal_heading(const struct lwp_terminal *terminal, const char *heading);

/* Words up to the last column, the first one where the cursor stands at `indent`, following lines indented; a line break. */
void lwp_terminal_wrap(const struct lwp_terminal *terminal, int indent, const char *text);

/* A name that ends a line and starts at `column`: shortened in the middle to what the line has room for, below where that is little.
 * `type` follows in parentheses, shortened to what is left; NULL: none, as where little is left. */
void lwp_terminal_name(const struct lwp_terminal *terminal, int column, const char *name, const char *type);

/* Notes under a heading, indented; nothing where there are none. */
void lwp_terminal_notes(const struct lwp_terminal *terminal, int indent, const json_t *notes);

#endif
