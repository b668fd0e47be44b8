/* The files of templates/, word for word, as the assembler includes them at build time; only what is not ASCII is written as an escape,
 * as browsers decode and parse plain ASCII in half of the time. */
#include "web/assets.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSET_BYTES_MAX = 4 << 20 };

/* Scripts follow each other in this order. In an exported file, those that only other views than the first need come later, and those
 * that only a server's pages need are missing; DIFF are those of two results. */
#define ASSETS(ROW)                                                                                                                        \
    ROW(HTML, report_html, "report.html")                                                                                                  \
    ROW(STYLE, report_css, "report.css")                                                                                                   \
    ROW(SCRIPT, base, "base.js")                                                                                                           \
    ROW(SCRIPT, names, "names.js")                                                                                                         \
    ROW(SCRIPT, strip, "strip.js")                                                                                                         \
    ROW(LATER, chart, "chart.js")                                                                                                          \
    ROW(LATER, structure, "structure.js")                                                                                                  \
    ROW(LATER, group, "group.js")                                                                                                          \
    ROW(LATER, access, "access.js")                                                                                                        \
    ROW(LATER, threads, "threads.js")                                                                                                      \
    ROW(LATER, exchange, "exchange.js")                                                                                                    \
    ROW(LATER, locality, "locality.js")                                                                                                    \
    ROW(LATER, objects, "objects.js")                                                                                                      \
    ROW(LATER, code, "code.js")                                                                                                            \
    ROW(LATER, run, "run.js")                                                                                                              \
    ROW(SCRIPT, findings, "findings.js")                                                                                                   \
    ROW(DIFF, diff, "diff.js")                                                                                                             \
    ROW(SCRIPT, usage, "usage.js")                                                                                                         \
    ROW(SCRIPT, help, "help.js")                                                                                                           \
    ROW(SCRIPT, search, "search.js")                                                                                                       \
    ROW(LATER, stalls, "stalls.js")                                                                                                        \
    ROW(MORE, index, "index.js")                                                                                                           \
    ROW(MORE, live, "live.js")                                                                                                             \
    ROW(SCRIPT, report, "report.js")

#define EMBED(part, name, file)                                                                                                            \
    __asm__(".pushsection .rodata\nasset_" #name ":\n\t.incbin \"" LWP_TEMPLATES "/" file "\"\n\t.byte 0\n.popsection\n");                 \
    extern const char asset_##name[] __attribute__((visibility("hidden")));
ASSETS(EMBED)

enum asset_part { ASSET_HTML, ASSET_STYLE, ASSET_SCRIPT, ASSET_LATER, ASSET_DIFF, ASSET_MORE };

/* What is made of them: a bit for each part. The space after an escape of a style sheet ends it, and is no part of the text. */
static const char *const asset_escapes[] = {"&#%u;", "\\%x ", "\\u%04x", "\\u%04x", "\\u%04x", "\\u%04x"};
static const unsigned asset_sums[] = {1 << ASSET_HTML,
                                      1 << ASSET_STYLE,
                                      1 << ASSET_SCRIPT | 1 << ASSET_LATER | 1 << ASSET_DIFF | 1 << ASSET_MORE,
                                      1 << ASSET_SCRIPT,
                                      1 << ASSET_SCRIPT | 1 << ASSET_DIFF,
                                      1 << ASSET_LATER};
enum { ASSET_SUMS = sizeof asset_sums / sizeof *asset_sums };

#define FILE_ROW(part, name, file) {ASSET_##part, file, asset_##name},
static const struct {
    enum asset_part part;
    const char *file, *text;
} asset_files[] = {ASSETS(FILE_ROW)};

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

/* Characters beyond U+FFFF have no such escape in a script: templates do without them. */
static int asset_escape(char **text, const char *escape, struct lwp_error *err)
{
    char *made = NULL;
    size_t size, length;
    FILE *to = open_memstream(&made, &size);
    if (!to)
        return lwp_error_errno(err, "cannot load the templates");
    for (const char *from = *text; *from; from += length) {
        const unsigned char *c = (const unsigned char *)from;
        length = lwp_utf8_sequence(from);
        if (length == 2)
            fprintf(to, escape, (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu));
        else if (length == 3)
            fprintf(to, escape, (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu));
        else
            fwrite(from, 1, length = length ? length : 1, to);
    }
    if (fclose(to))
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the templates");
    free(*text);
    *text = made;
    return 0;
}

int lwp_assets_load(struct lwp_assets *assets, const char *folder, struct lwp_error *err)
{
    char *text[ASSET_SUMS] = {0};
    int status = 0;
    for (size_t sum = 0; sum < ASSET_SUMS && !status; sum++) {
        size_t length;
        FILE *to = open_memstream(&text[sum], &length);
        if (!to) {
            status = lwp_error_errno(err, "cannot load the templates");
            break;
        }
        for (size_t i = 0; i < sizeof asset_files / sizeof *asset_files && !status; i++) {
            if (!(asset_sums[sum] >> asset_files[i].part & 1))
                continue;
            if (folder)
                status = asset_read(to, folder, asset_files[i].file, err);
            else
                fputs(asset_files[i].text, to);
        }
        if (fclose(to) && !status)
            status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the templates");
        if (!status)
            status = asset_escape(&text[sum], asset_escapes[sum], err);
    }
    *assets = (struct lwp_assets){text[0], text[1], text[2], text[3], text[4], text[5]};
    if (status)
        lwp_assets_free(assets);
    return status;
}

void lwp_assets_free(struct lwp_assets *assets)
{
    free(assets->html);
    free(assets->style);
    free(assets->script);
    free(assets->one);
    free(assets->two);
    free(assets->later);
    *assets = (struct lwp_assets){0};
}
