#include "base/markup.h"

void lwp_markup_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>': /* XML does not allow "]]>" */
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        case '\n': /* an attribute would make a space of it */
            fputs("&#10;", to);
            break;
        default:
            putc((unsigned char)*text < 0x20 ? ' ' : *text, to);
        }
}
