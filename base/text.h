/* Text of unknown origin (command lines, paths and symbols are bytes), made fit for JSON, for people, and for HTML and XML. */
#ifndef LWP_BASE_TEXT_H
#define LWP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A copy of `text` that is valid UTF-8 (RFC 3629): every byte that belongs to no valid sequence becomes U+FFFD.
 * The caller frees it; NULL when memory is out. */
char *lwp_utf8_clean(const char *text);

/* Bytes of the valid sequence that `text` (NUL-ended) starts with, 1 to 4, or 0: none. */
size_t lwp_utf8_sequence(const char *text);

/* A copy in valid UTF-8 that shows what is there: control characters, those that turn text round or are not seen, and
 * bytes that are no UTF-8 are written out (\x1b, \u202e); tabs become spaces. '\n' stays with `line_breaks`. Longer than
 * `most` columns (0: any length), the outer scopes of a name in it become "...", or its middle. The caller frees it; NULL when
 * memory is out. */
char *lwp_visible(const char *text, bool line_breaks, size_t most);

/* The name of a function without what it is lost in: its result, its parameters, and long arguments of templates:
 * "A<...>::find" for "std::pair<int, B> A<B, std::less<B> >::find(B const&) const". The caller frees it. */
char *lwp_function_brief(const char *name);

/* Columns that visible text takes on a terminal: wide characters count two, combining ones none. */
size_t lwp_visible_columns(const char *text);

/* Writes `text` for between tags or as the value of an attribute: what has a meaning there is escaped, line breaks stay, other control characters, which XML
 * does not allow, become spaces. */
void lwp_markup_text(FILE *to, const char *text);

#endif
