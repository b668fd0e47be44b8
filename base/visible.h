/* Text of unknown origin, made fit to be shown to a person: on a terminal, in a comment, in a table. */
#ifndef LWP_BASE_VISIBLE_H
#define LWP_BASE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* A copy in valid UTF-8 that shows what is there: control characters, those that turn text round or are not seen, and
 * bytes that are no UTF-8 are written out (\x1b, \u202e); tabs become spaces. '\n' stays with `line_breaks`. Longer than
 * `most` columns (0: any length), its middle becomes "...". The caller frees it; NULL when memory is out. */
char *lwp_visible(const char *text, bool line_breaks, size_t most);

/* Columns that visible text takes on a terminal: wide characters count two, combining ones none. */
size_t lwp_visible_columns(const char *text);

#endif
