/* Text inside of HTML and XML, between tags or as the value of an attribute. */
#ifndef LWP_BASE_MARKUP_H
#define LWP_BASE_MARKUP_H

#include <stdio.h>

/* `text` as it is to be read: what has a meaning there is escaped, line breaks stay, other control characters, which XML
 * does not allow, become spaces. */
void lwp_markup_text(FILE *to, const char *text);

#endif
