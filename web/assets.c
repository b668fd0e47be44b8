/* The files of templates/, word for word, as the assembler includes them at build time. */
#include "web/assets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSET_BYTES_MAX = 4 << 20 };

#define ASSET(symbol, file)                                                                                            \
    __asm__(".pushsection .rodata\n" #symbol ":\n\t.incbin \"" LWP_TEMPLATES "/" file "\"\n\t.byte 0\n.popsection\n"); \
    extern const char symbol[] __attribute__((visibility("hidden")))

ASSET(asset_html, "report.html");
ASSET(asset_style, "report.css");
ASSET(asset_base, "base.js");
ASSET(asset_names, "names.js");
ASSET(asset_chart, "chart.js");
ASSET(asset_structure, "structure.js");
ASSET(asset_group, "group.js");
ASSET(asset_access, "access.js");
ASSET(asset_threads, "threads.js");
ASSET(asset_exchange, "exchange.js");
ASSET(asset_locality, "locality.js");
ASSET(asset_objects, "objects.js");
ASSET(asset_code, "code.js");
ASSET(asset_run, "run.js");
ASSET(asset_findings, "findings.js");
ASSET(asset_diff, "diff.js");
ASSET(asset_live, "live.js");
ASSET(asset_report, "report.js");

enum asset_part { ASSET_HTML, ASSET_STYLE, ASSET_SCRIPT, ASSET_PARTS };

/* Scripts follow each other in this order. */
static const struct {
    enum asset_part part;
    const char *file, *text;
} asset_files[] = {
    {ASSET_HTML, "report.html", asset_html},
    {ASSET_STYLE, "report.css", asset_style},
    {ASSET_SCRIPT, "base.js", asset_base},
    {ASSET_SCRIPT, "names.js", asset_names},
    {ASSET_SCRIPT, "chart.js", asset_chart},
    {ASSET_SCRIPT, "structure.js", asset_structure},
    {ASSET_SCRIPT, "group.js", asset_group},
    {ASSET_SCRIPT, "access.js", asset_access},
    {ASSET_SCRIPT, "threads.js", asset_threads},
    {ASSET_SCRIPT, "exchange.js", asset_exchange},
    {ASSET_SCRIPT, "locality.js", asset_locality},
    {ASSET_SCRIPT, "objects.js", asset_objects},
    {ASSET_SCRIPT, "code.js", asset_code},
    {ASSET_SCRIPT, "run.js", asset_run},
    {ASSET_SCRIPT, "findings.js", asset_findings},
    {ASSET_SCRIPT, "diff.js", asset_diff},
    {ASSET_SCRIPT, "live.js", asset_live},
    {ASSET_SCRIPT, "report.js", asset_report},
};

static int asset_read(FILE *to, const char *folder, const char *name, struct lwp_error *err)
{
    char path[4096], block[8192];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path of the templates is too long");
    FILE *from = fopen(path, "rb");
    if (!from)
        return lwp_error_errno(err, "cannot read the template %s", path);
    size_t got, total = 0;
    while ((got = fread(block, 1, sizeof block, from)) > 0 && (total += got) <= ASSET_BYTES_MAX)
        fwrite(block, 1, got, to);
    int failed = ferror(from);
    fclose(from);
    if (failed)
        return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot read the template %s", path);
    if (total > ASSET_BYTES_MAX)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the template %s is larger than 4 MiB", path);
    return 0;
}

int lwp_assets_load(struct lwp_assets *assets, const char *folder, struct lwp_error *err)
{
    char *text[ASSET_PARTS] = {0};
    int status = 0;
    for (int part = 0; part < ASSET_PARTS && !status; part++) {
        size_t length;
        FILE *to = open_memstream(&text[part], &length);
        if (!to) {
            status = lwp_error_errno(err, "cannot load the templates");
            break;
        }
        for (size_t i = 0; i < sizeof asset_files / sizeof *asset_files && !status; i++) {
            if ((int)asset_files[i].part != part)
                continue;
            if (folder)
                status = asset_read(to, folder, asset_files[i].file, err);
            else
                fputs(asset_files[i].text, to);
        }
        if (fclose(to) && !status)
            status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the templates");
    }
    *assets = (struct lwp_assets){text[ASSET_HTML], text[ASSET_STYLE], text[ASSET_SCRIPT]};
    if (status)
        lwp_assets_free(assets);
    return status;
}

void lwp_assets_free(struct lwp_assets *assets)
{
    free(assets->html);
    free(assets->style);
    free(assets->script);
    *assets = (struct lwp_assets){0};
}
