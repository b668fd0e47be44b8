#include "web/page.h"

#include "web/assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lwp_page_json(const json_t *value)
{
    char *plain = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(8));
    if (!plain)
        return NULL;
    size_t length = strlen(plain);
    char *text = malloc(length * 6 + 1), *to = text;
    for (const char *from = plain; text && *from; from++) {
        unsigned char c = (unsigned char)*from;
        bool separator = c == 0xe2 && (unsigned char)from[1] == 0x80 &&
                         ((unsigned char)from[2] == 0xa8 || (unsigned char)from[2] == 0xa9);
        if (separator) {
            to += sprintf(to, "\\u20%02x", (unsigned char)from[2] - 0x80);
            from += 2;
        } else if (c == '<' || c == '>' || c == '&') {
            to += sprintf(to, "\\u%04x", c);
        } else {
            *to++ = (char)c;
        }
    }
    if (text)
        *to = '\0';
    free(plain);
    return text;
}

char *lwp_page_escape(const char *text)
{
    char *escaped = malloc(strlen(text) * 6 + 1), *to = escaped;
    if (!escaped)
        return NULL;
    for (; *text; text++) {
        switch (*text) {
        case '&': to = stpcpy(to, "&amp;"); break;
        case '<': to = stpcpy(to, "&lt;"); break;
        case '>': to = stpcpy(to, "&gt;"); break;
        case '"': to = stpcpy(to, "&quot;"); break;
        case '\'': to = stpcpy(to, "&#39;"); break;
        default: *to++ = *text;
        }
    }
    *to = '\0';
    return escaped;
}

static const char *page_value(const char *name, size_t length, const struct lwp_page_options *options, const char *data,
                              const char *style, const char *script)
{
    if (length == 4 && !memcmp(name, "data", 4))
        return data;
    if (length == 5 && !memcmp(name, "style", 5))
        return options->inlined ? style : "<link rel=\"stylesheet\" href=\"/report.css\">";
    if (length == 6 && !memcmp(name, "script", 6))
        return options->inlined ? script : "<script src=\"/report.js\" defer></script>";
    /* A file has no headers to carry the policy; it may run its own script and nothing else, and load nothing. */
    if (length == 6 && !memcmp(name, "policy", 6))
        return options->inlined ? "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
                                : "";
    return NULL;
}

/* Fills the template's <!--lwp:NAME--> marks. */
static int page_fill(const char *template, const struct lwp_page_options *options, const char *data, const char *style,
                     const char *script, char **bytes, size_t *size, struct lwp_error *err)
{
    FILE *page = open_memstream(bytes, size);
    if (!page)
        return lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
    const char *at = template, *mark;
    while ((mark = strstr(at, "<!--lwp:"))) {
        const char *name = mark + strlen("<!--lwp:"), *end = strstr(name, "-->");
        const char *value = end ? page_value(name, (size_t)(end - name), options, data, style, script) : NULL;
        fwrite(at, 1, (size_t)(mark - at), page);
        at = value ? end + 3 : name;
        fputs(value ? value : "<!--lwp:", page);
    }
    fputs(at, page);
    return fclose(page) ? lwp_error_set(err, LWP_ERR_MEMORY, "out of memory") : LWP_OK;
}

static char *page_wrap(const char *before, const char *text, const char *after)
{
    char *whole = malloc(strlen(before) + strlen(text) + strlen(after) + 1);
    if (whole)
        stpcpy(stpcpy(stpcpy(whole, before), text), after);
    return whole;
}

int lwp_page_make(const json_t *analysis, const struct lwp_page_options *options, char **bytes, size_t *size,
                  struct lwp_error *err)
{
    struct lwp_asset html = {0}, css = {0}, js = {0};
    char *data = NULL, *style = NULL, *script = NULL;
    json_t *sources = lwp_source_collect(analysis, options->source);
    json_t *whole = json_pack("{s:O, s:o}", "analysis", (json_t *)analysis, "sources", sources);
    int status = lwp_asset_load(&html, "report.html", options->templates, err);
    if (!status)
        status = lwp_asset_load(&css, "report.css", options->templates, err);
    if (!status)
        status = lwp_asset_load(&js, "report.js", options->templates, err);
    if (status)
        goto out;
    data = lwp_page_json(whole);
    style = page_wrap("<style>\n", css.bytes, "</style>");
    script = page_wrap("<script>\n", js.bytes, "</script>");
    if (data && style && script)
        status = page_fill(html.bytes, options, data, style, script, bytes, size, err);
    else
        status = lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
out:
    free(html.bytes);
    free(css.bytes);
    free(js.bytes);
    free(data);
    free(style);
    free(script);
    json_decref(whole);
    return status;
}
