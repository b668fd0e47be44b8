/* What `lwp serve` shows: paths in, answers out. Knows no sockets, so that it can be tested without. */
#ifndef LWP_WEB_SITE_H
#define LWP_WEB_SITE_H

#include "base/error.h"
#include "web/text.h"

#include <stddef.h>

struct lwp_site;

/* `dir` is a result or a folder of results; `templates` NULL: those built in. `root`: as for lwp_source_roots. */
int lwp_site_new(struct lwp_site **site, const char *dir, const char *templates, const char *root, struct lwp_error *err);
void lwp_site_free(struct lwp_site *site); /* NULL is fine */

size_t lwp_site_results(const struct lwp_site *site);

/* `path` as the browser asked, decoded, from the site's root: "/" and on. Only known paths have an answer; none is ever
 * made into a file's path. */
struct lwp_answer lwp_site_get(struct lwp_site *site, const char *path);

#endif
