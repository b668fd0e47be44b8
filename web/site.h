/* What `lwp serve` answers to a path: the page of a result, its JSON, style and script, or an index of several. */
#ifndef LWP_WEB_SITE_H
#define LWP_WEB_SITE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct lwp_site;

/* `folder` is a result or holds results one level below. NULL with a sentence in `err`. Analyses what is not yet. */
struct lwp_site *lwp_site_new(const char *folder, const char *templates, struct lwp_error *err);
void lwp_site_free(struct lwp_site *site);
void lwp_site_set_bind(struct lwp_site *site, const char *address);

struct lwp_site_answer {
    unsigned status;
    const char *type;
    char *bytes; /* malloc'ed; NULL: out of memory */
    size_t size;
};

/* Never reads a file that the path names: paths choose among the results known and the three assets. `host` is the
 * request's Host header or NULL: names other than the address served and localhost are refused (DNS rebinding). */
void lwp_site_answer(struct lwp_site *site, bool reads, const char *host, const char *path,
                     struct lwp_site_answer *answer);

#endif
