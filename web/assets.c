#include "web/assets.h"

#include "web/file.h"

#include <stdlib.h>
#include <string.h>

#define EMBED(symbol, file)                                                        \
    __asm__(".section .rodata\n.global " #symbol "\n" #symbol ":\n"               \
            ".incbin \"" LWP_TEMPLATES "/" file "\"\n"                             \
            ".global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.previous\n");    \
    extern const char symbol[], symbol##_end[]

EMBED(lwp_asset_html, "report.html");
EMBED(lwp_asset_css, "report.css");
EMBED(lwp_asset_js, "report.js");

int lwp_asset_load(struct lwp_asset *asset, const char *name, const char *folder, struct lwp_error *err)
{
    static const struct {
        const char *name, *start, *end;
    } embedded[] = {
        {"report.html", lwp_asset_html, lwp_asset_html_end},
        {"report.css", lwp_asset_css, lwp_asset_css_end},
        {"report.js", lwp_asset_js, lwp_asset_js_end},
    };
    if (folder) {
        char path[4096];
        lwp_file_join(path, sizeof path, folder, name);
        return lwp_file_read(path, 4u << 20, &asset->bytes, &asset->size, err);
    }
    for (size_t i = 0; i < sizeof embedded / sizeof *embedded; i++)
        if (strcmp(embedded[i].name, name) == 0) {
            asset->size = (size_t)(embedded[i].end - embedded[i].start);
            asset->bytes = malloc(asset->size + 1);
            if (!asset->bytes)
                return lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
            memcpy(asset->bytes, embedded[i].start, asset->size);
            asset->bytes[asset->size] = '\0';
            return LWP_OK;
        }
    return lwp_error_set(err, LWP_ERR_MISSING, "no template is called %s", name);
}
