/* The report's templates: embedded in the binary when it was built, or read from a folder to try changes. */
#ifndef LWP_WEB_ASSETS_H
#define LWP_WEB_ASSETS_H

#include "base/error.h"

struct lwp_assets {
    char *html; /* the page with its places: see web/page.c */
    char *style;
    char *script; /* all scripts, one after the other */
    char *one;    /* those that the first view of a file of one result needs */
    char *two;    /* ... of one that compares two */
    char *later;  /* and those that their other views need */
};

/* `folder` NULL: what is built in. All or nothing; free with lwp_assets_free. */
int lwp_assets_load(struct lwp_assets *assets, const char *folder, struct lwp_error *err);
void lwp_assets_free(struct lwp_assets *assets);

#endif
