/* The report page: template, style, script and data put together; the same page served and exported. */
#ifndef LWP_WEB_PAGE_H
#define LWP_WEB_PAGE_H

#include "base/error.h"
#include "web/source.h"

#include <stdbool.h>
#include <stddef.h>

struct lwp_page_options {
    bool inlined;            /* style and script inside (export) instead of linked (serve) */
    const char *templates;   /* folder to read them from, or NULL */
    enum lwp_source_choice source;
};

/* The page of `analysis` (borrowed). `*bytes` is malloc'ed. */
int lwp_page_make(const json_t *analysis, const struct lwp_page_options *options, char **bytes, size_t *size,
                  struct lwp_error *err);

/* JSON text that may stand inside <script>: '<', '>', '&', U+2028 and U+2029 only as \u escapes. malloc'ed. */
char *lwp_page_json(const json_t *value);

/* Text for HTML: & < > " ' as entities. malloc'ed. */
char *lwp_page_escape(const char *text);

#endif
