/* The report's template, style and script: embedded in the binary, or read from a folder while they are being edited. */
#ifndef LWP_WEB_ASSETS_H
#define LWP_WEB_ASSETS_H

#include "base/error.h"

#include <stddef.h>

struct lwp_asset {
    char *bytes; /* NUL behind the last */
    size_t size;
};

/* `name` is "report.html", "report.css" or "report.js"; `folder` NULL: the embedded one. Free with free(asset->bytes). */
int lwp_asset_load(struct lwp_asset *asset, const char *name, const char *folder, struct lwp_error *err);

#endif
