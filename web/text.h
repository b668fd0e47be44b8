/* A response body, built once and sent often: plain, compressed, and with an entity tag. Reference-counted, so that it can be
 * replaced while it is being sent. One thread at a time. */
#ifndef LWP_WEB_TEXT_H
#define LWP_WEB_TEXT_H

#include <stddef.h>

enum { LWP_TEXT_TAG_BYTES = 50 };

struct lwp_text {
    const char *type; /* the content's; a literal */
    char *body, *packed; /* packed: compressed with zstd, or NULL where that is not smaller */
    size_t length, packed_length;
    char tag[LWP_TEXT_TAG_BYTES]; /* W/"..." */
    int holders;
};

/* Takes `body`, which malloc gave; held once. */
struct lwp_text *lwp_text_new(const char *type, char *body, size_t length);

struct lwp_text *lwp_text_hold(struct lwp_text *text); /* returns it; NULL is fine */
void lwp_text_drop(struct lwp_text *text);             /* NULL is fine */

/* What goes out for one request. */
struct lwp_answer {
    unsigned status;       /* of HTTP */
    struct lwp_text *text; /* the receiver's to drop */
};

/* One sentence, as plain text. */
struct lwp_answer lwp_answer_say(unsigned status, const char *sentence);

#endif
