/* The template is plain HTML with places of the form <!-- lwp:NAME -->; each is filled once:
 *   head    charset, generator and, in the exported file, the policy that allows nothing but the page's own parts
 *   title   the title's text
 *   style   a link or the style itself
 *   data    the result in <script type="application/json">, which no browser runs; but for a small one only what the first view shows
 *   script  a link or the scripts themselves
 *   rest    all of the result where data has only a part, and the scripts of other views than the first; packed, in pieces
 * Everything in the data comes from the profiled program and is hostile: it is only ever data here, and the scripts
 * make text nodes of it. */
#include "web/page.h"

#include "base/text.h"
#include "config.h"
#include "web/pack.h"
#include "web/sha256.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_TEMPLATES_BYTES = 256 << 10,
    PAGE_SMALL_BYTES = 16 << 10,  /* of data: less is not worth dividing */
    PAGE_PIECE_BYTES = 256 << 10, /* between two of them a browser finds the time to show what is drawn */
};

static int page_json_part(const char *text, size_t bytes, void *to)
{
    while (bytes) {
        const char *less = memchr(text, '<', bytes);
        size_t run = less ? (size_t)(less - text) : bytes;
        if (run && fwrite(text, 1, run, to) != run)
            return -1;
        if (!less)
            break;
        if (fputs("\\u003c", to) < 0)
            return -1;
        text += run + 1;
        bytes -= run + 1;
    }
    return 0;
}

int lwp_page_write_json(FILE *to, const json_t *value, struct lwp_error *err)
{
    /* '<' can only be inside of strings, where the escape means the same. 9 digits are more than any estimate has. */
    if (json_dump_callback(value, page_json_part, to, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)))
        return lwp_error_set(err, LWP_ERR_MEMORY, "cannot embed the result in the page");
    return 0;
}

const char *lwp_page_title(const char *name, const json_t *analysis)
{
    const char *program = json_string_value(json_array_get(json_object_get(json_object_get(analysis, "run"), "command"), 0));
    if (!program || !*program)
        return name;
    const char *slash = strrchr(program, '/');
    return slash && slash[1] ? slash + 1 : program;
}

/* Of what lwp patch made, what the page shows: no folder and no command; no source code where none is wanted. */
static void page_tried(json_t *analysis, enum lwp_source_policy source)
{
    enum { PATCH_MOST = 64 << 10 };
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(analysis, "findings"), i, finding) {
        json_t *tried = json_object_get(finding, "tried");
        json_object_del(tried, "root");
        json_object_del(tried, "command");
        if (source == LWP_SOURCE_NONE || json_string_length(json_object_get(tried, "patch")) > PATCH_MOST)
            json_object_del(tried, "patch");
    }
}

/* What part of the time is memory stall on data that is known, and on data that is not. */
static json_t *page_shares(const json_t *analysis)
{
    double known = 0, unknown = 0;
    size_t i;
    const json_t *object;
    json_array_foreach(json_object_get(analysis, "objects"), i, object) {
        const char *kind = json_string_value(json_object_get(object, "kind"));
        *(kind && strcmp(kind, "unknown") == 0 ? &unknown : &known) += json_number_value(json_object_get(object, "share"));
    }
    return json_pack("{s:f, s:f}", "known", known, "unknown", unknown);
}

json_t *lwp_page_result_data(const char *name, json_t *analysis, const struct lwp_page_wish *wish)
{
    /* an eighth is left for what escapes add */
    size_t room = wish->bytes_max - PAGE_TEMPLATES_BYTES;
    page_tried(analysis, wish->source);
    json_t *shares = page_shares(analysis); /* before items are left out */
    json_t *left_out = lwp_trim(analysis, room / 4 * 3), *sources = lwp_source_collect(analysis, wish->source, wish->roots, room / 8);
    char *clean = lwp_utf8_clean(name); /* a folder's name is bytes */
    json_t *data = left_out && sources ? json_pack("{s:s, s:s, s:s, s:s, s:O, s:O, s:O, s:O}", "view", "result", "name", clean ? clean : "",
                                                   "mode", wish->mode, "lwp", LWP_VERSION, "analysis", analysis, "sources", sources,
                                                   "left_out", left_out, "shares", shares)
                                       : NULL;
    json_decref(shares);
    json_decref(left_out);
    json_decref(sources);
    free(clean);
    return data;
}

/* The objects of 0.1 % and more, with their fields. */
static json_t *page_side(const json_t *analysis)
{
    static const char *const keys[] = {"name", "type", "element_bytes", "share", "samples", "fields"};
    json_t *side = json_array(), *copy;
    size_t i;
    const json_t *object;
    json_array_foreach(json_object_get(analysis, "objects"), i, object) {
        if (json_number_value(json_object_get(object, "share")) < 0.001)
            continue;
        copy = json_object();
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            json_object_set(copy, keys[k], json_object_get(object, keys[k]));
        json_array_append_new(side, copy);
    }
    return side;
}

json_t *lwp_page_diff_data(const char *name, json_t *diff, const json_t *before, json_t *after, const struct lwp_page_wish *wish)
{
    json_t *sides = json_pack("{s:o, s:o}", "before", page_side(before), "after", page_side(after));
    json_t *data = lwp_page_result_data(name, after, wish);
    if (data && sides && json_object_set_new(data, "view", json_string("diff")) == 0 && json_object_set(data, "diff", diff) == 0 &&
        json_object_set(data, "sides", sides) == 0) {
        json_decref(sides);
        return data;
    }
    json_decref(sides);
    json_decref(data);
    return NULL;
}

/* An inline script ends at the first "</script", whatever the language says. */
static int page_check_inline(const struct lwp_assets *assets, struct lwp_error *err)
{
    if (strcasestr(assets->script, "</script") || strstr(assets->script, "<!--"))
        return lwp_error_set(err, LWP_ERR_FORMAT, "the scripts of the template must not contain '</script' or '<!--'");
    if (strcasestr(assets->style, "</style"))
        return lwp_error_set(err, LWP_ERR_FORMAT, "the style of the template must not contain '</style'");
    return 0;
}

/* A file has its own choice of scripts: what its first view needs, and the others packed. */
static const char *page_script(const struct lwp_assets *assets, const char *root, const json_t *data)
{
    return root ? assets->script : json_object_get(data, "diff") ? assets->two : assets->one;
}

static void page_head(FILE *to, const struct lwp_assets *assets, const char *root, const json_t *data)
{
    fputs("<meta charset=\"utf-8\">\n" LWP_PAGE_GENERATOR LWP_VERSION "\">", to);
    if (root)
        return; /* the server's header says it */
    char style[45], script[45];
    lwp_sha256_base64(assets->style, strlen(assets->style), style);
    fprintf(to, "\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; script-src", style);
    const char *const scripts[] = {page_script(assets, root, data), assets->later};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        lwp_sha256_base64(scripts[i], strlen(scripts[i]), script);
        fprintf(to, " 'sha256-%s'", script);
    }
    fputs("; img-src data:; base-uri 'none'; form-action 'none'\">", to);
}

/* The data as JSON; but for a small result, the part for the first view as JSON and all of it packed. */
struct page_text {
    char *first, *rest; /* rest: NULL where first is all */
};

static char *page_json_text(const json_t *value, size_t *length, struct lwp_error *err)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    int status = to ? lwp_page_write_json(to, value, err) : lwp_error_errno(err, "cannot embed the result in the page");
    if (to && fclose(to) && !status)
        status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    if (!status)
        return text;
    free(text);
    return NULL;
}

static int page_text_make(struct page_text *text, const json_t *data, struct lwp_error *err)
{
    size_t length = 0;
    char *whole = page_json_text(data, &length, err);
    *text = (struct page_text){whole, NULL};
    if (!whole)
        return LWP_ERR_MEMORY;
    json_t *first = length > PAGE_SMALL_BYTES ? lwp_page_first(data) : NULL;
    if (!first)
        return 0;
    text->first = page_json_text(first, &(size_t){0}, err);
    text->rest = lwp_pack(whole, length);
    json_decref(first);
    free(whole);
    if (!text->first)
        return LWP_ERR_MEMORY;
    return text->rest ? 0 : lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
}

static void page_text_free(struct page_text *text)
{
    free(text->first);
    free(text->rest);
}

static void page_put_pieces(FILE *to, const char *name, const char *text)
{
    for (size_t left = strlen(text), piece; left; text += piece, left -= piece) {
        piece = left > PAGE_PIECE_BYTES ? PAGE_PIECE_BYTES : left;
        fprintf(to, "<script type=\"text/plain\" class=\"%s\">%.*s</script>", name, (int)piece, text);
    }
}

static int page_put_later(FILE *to, const char *scripts, struct lwp_error *err)
{
    char *packed = lwp_pack(scripts, strlen(scripts));
    if (!packed)
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    page_put_pieces(to, "lwp-later", packed);
    free(packed);
    return 0;
}

/* What the page is made of. */
struct page_parts {
    const struct lwp_assets *assets;
    const char *root, *title;
    const json_t *data;
    struct page_text text;
};

static int page_fill(FILE *to, const char *place, const struct page_parts *parts, struct lwp_error *err)
{
    const struct lwp_assets *assets = parts->assets;
    const char *root = parts->root;
    if (strcmp(place, "head") == 0) {
        page_head(to, assets, root, parts->data);
    } else if (strcmp(place, "title") == 0) {
        lwp_markup_text(to, parts->title);
    } else if (strcmp(place, "style") == 0) {
        if (!root)
            fprintf(to, "<style>%s</style>", assets->style);
        else
            fprintf(to, "<link rel=\"stylesheet\" href=\"%sreport.css\">", root);
    } else if (strcmp(place, "data") == 0) {
        fprintf(to, "<script type=\"application/json\" id=\"lwp-data\">%s</script>", parts->text.first);
    } else if (strcmp(place, "rest") == 0) {
        if (parts->text.rest)
            page_put_pieces(to, "lwp-rest", parts->text.rest);
        return root ? 0 : page_put_later(to, assets->later, err);
    } else if (strcmp(place, "script") == 0) {
        if (!root)
            fprintf(to, "<script>%s</script>", page_script(assets, root, parts->data));
        else
            fprintf(to, "<script src=\"%sreport.js\"></script>", root);
    } else {
        return lwp_error_set(err, LWP_ERR_FORMAT, "the template has an unknown place 'lwp:%s'", place);
    }
    return 0;
}

/* The template with its places filled. */
static int page_write(FILE *to, const struct page_parts *parts, struct lwp_error *err)
{
    static const char open[] = "<!-- lwp:", close[] = " -->";
    const char *from = parts->assets->html, *next;
    while ((next = strstr(from, open))) {
        fwrite(from, 1, (size_t)(next - from), to);
        next += sizeof open - 1;
        const char *end = strstr(next, close);
        char place[16];
        if (!end || end - next >= (long)sizeof place)
            return lwp_error_set(err, LWP_ERR_FORMAT, "the template has a place that does not end: '%.20s'", next);
        snprintf(place, sizeof place, "%.*s", (int)(end - next), next);
        int status = page_fill(to, place, parts, err);
        if (status)
            return status;
        from = end + sizeof close - 1;
    }
    fputs(from, to);
    return 0;
}

int lwp_page_build(const struct lwp_assets *assets, const char *root, const char *title, const json_t *data, char **html, size_t *length,
                   struct lwp_error *err)
{
    struct page_parts parts = {assets, root, title, data, {0}};
    *html = NULL;
    int status = page_check_inline(assets, err);
    if (status)
        return status;
    status = page_text_make(&parts.text, data, err);
    FILE *to = status ? NULL : open_memstream(html, length);
    if (!status && !to)
        status = lwp_error_errno(err, "cannot build the page");
    if (!status)
        status = page_write(to, &parts, err);
    page_text_free(&parts.text);
    int failed = to && ferror(to);
    if (to && (fclose(to) || failed) && !status)
        status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    if (status) {
        free(*html);
        *html = NULL;
    }
    return status;
}
