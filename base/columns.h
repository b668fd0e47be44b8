/* Text in columns: how wide a terminal is, and words that wrap. */
#ifndef LWP_BASE_COLUMNS_H
#define LWP_BASE_COLUMNS_H

#include <stdio.h>

/* Columns of the terminal that `out` is, from 40 to 100; 80 where it is none, so that what is kept or compared is always the same. */
int lwp_columns(FILE *out);

/* Words from column `column`, where the cursor stands, up to column `columns`; following lines indented by `indent`; a line break.
 * A word that no line has room for is shortened in the middle. Line breaks in `text` count as spaces. */
void lwp_wrap(FILE *out, const char *text, int column, int indent, int columns);

/* The same of paragraphs, which an empty line separates; a line that begins with four spaces stays as it is. */
void lwp_wrap_paragraphs(FILE *out, const char *text, int columns);

/* What is written to the stream returned comes to `out` when it is closed: lines as they are, colours and all, but what does not fit
 * goes to lines of its own, further in. Where memory is out it is `out` itself, and nothing is wrapped. */
struct lwp_wrapped {
    FILE *out, *to;
    char *text;
    size_t length;
};
FILE *lwp_wrapped_open(struct lwp_wrapped *wrapped, FILE *out);
void lwp_wrapped_close(struct lwp_wrapped *wrapped);

#endif
