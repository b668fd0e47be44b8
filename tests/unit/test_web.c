/* What stands between hostile text and a browser: JSON in a page, text in HTML, hashes, source excerpts, paths of the
 * site. */
#include "base/text.h"
#include "web/assets.h"
#include "web/pack.h"
#include "web/page.h"
#include "web/result.h"
#include "web/sha256.h"
#include "web/site.h"
#include "web/source.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

/* Templates here are literals: never written to, never freed. */
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

static char *json_text(const json_t *value)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    struct lwp_error err = {0};
    assert_int_equal(lwp_page_write_json(to, value, &err), 0);
    fclose(to);
    return text;
}

static void test_json_cannot_end_its_element(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "</script>", "<!--<script>", "<",   "<<<<", "a<b", "\\u003c", "\"</SCRIPT >", "\u2028",
        "\u202e",    "\x01\x1f\x7f", "]]>", "",     "\\",  "\\\\<",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *value = json_pack("{s:s, s:[s]}", texts[i], texts[i], "list", texts[i]);
        char *text = json_text(value);
        assert_null(strchr(text, '<'));
        json_t *back = json_loads(text, 0, NULL); /* and it is still the same value */
        assert_true(json_equal(value, back));
        json_decref(value);
        json_decref(back);
        free(text);
    }
}

static void test_json_of_long_text(void **state)
{
    (void)state;
    char *name = malloc(100001);
    memset(name, '<', 100000);
    name[100000] = '\0';
    json_t *value = json_string(name);
    char *text = json_text(value);
    assert_int_equal(strlen(text), 600002);
    assert_null(strchr(text, '<'));
    free(text);
    free(name);
    json_decref(value);
}

static void test_text_for_html(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    lwp_markup_text(to, "<b title=\"x\" lang='y'>&\n\x1b</b>");
    fclose(to);
    assert_string_equal(text, "&lt;b title=&quot;x&quot; lang=&#39;y&#39;&gt;&amp;&#10; &lt;/b&gt;");
    free(text);
}

static void test_sha256(void **state)
{
    (void)state;
    char text[45], *million = malloc(1000000);
    /* FIPS 180-4's examples, and lengths around the block's border checked with another implementation */
    lwp_sha256_base64("", 0, text);
    assert_string_equal(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    lwp_sha256_base64("abc", 3, text);
    assert_string_equal(text, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    lwp_sha256_base64("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, text);
    assert_string_equal(text, "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
    memset(million, 'a', 1000000);
    lwp_sha256_base64(million, 1000000, text);
    assert_string_equal(text, "zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
    static const struct {
        size_t bytes;
        const char *hash;
    } lengths[] = {{55, "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg="},  {56, "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o="},
                   {63, "fT50oF19sVvOStnsBljqmOPwbu7PFrTG//LaRX3cLzQ="},  {64, "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs="},
                   {65, "Y1NhxIu56rFBmOduqKt/GkFoXWrWKqkUbTAdTxfrCuA="},  {119, "MeulHDE6XAgiat8Y1KNZz9/Y0ugWsT9K+VL36mWE3Ps="},
                   {120, "Lz0zVDLHC1gK8Ojhs2dKfAINaDql9zqq7f3FWvkEwhw="}, {128, "aDbPE7rEAOkQUHHNavRwhN+srU5eMCyUv+0k4BOvtz4="}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        lwp_sha256_base64(million, lengths[i].bytes, text);
        assert_string_equal(text, lengths[i].hash);
    }
    free(million);
}

static char *build(struct lwp_assets assets, const char *root, int *status)
{
    json_t *data = json_pack("{s:s}", "name", "</script><!-- lwp:script -->");
    struct lwp_error err = {0};
    char *html = NULL;
    size_t length = 0;
    *status = lwp_page_build(&assets, root, "<title> & <!-- lwp:data -->", data, &html, &length, &err);
    json_decref(data);
    assert_true((*status == 0) == (html != NULL));
    assert_true(*status == 0 || err.text[0]);
    return html;
}

static void test_page(void **state)
{
    (void)state;
    struct lwp_assets assets = {
        "A<!-- lwp:head -->B<!-- lwp:title -->C<!-- lwp:style -->D<!-- lwp:data -->E<!-- lwp:script -->F", "p{}", "f()", "f()", "f()", ""};
    int status;
    char *html = build(assets, NULL, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(html, "B&lt;title&gt; &amp; &lt;!-- lwp:data --&gt;C<style>p{}</style>D<script "
                                 "type=\"application/json\" id=\"lwp-data\">"
                                 "{\"name\":\"\\u003c/script>\\u003c!-- lwp:script -->\"}</script>E<script>f()</script>F"));
    char hash[45], policy[80];
    lwp_sha256_base64("f()", 3, hash);
    snprintf(policy, sizeof policy, "script-src 'sha256-%s'", hash);
    assert_non_null(strstr(html, policy));
    assert_null(strstr(html, "unsafe"));
    assert_non_null(strstr(html, LWP_PAGE_GENERATOR));
    free(html);
    html = build(assets, "../", &status);
    assert_int_equal(status, 0);
    assert_null(strstr(html, "p{}"));
    assert_null(strstr(html, "f()"));
    free(html);
}

/* The base64 text as bytes, in place; how many. */
static size_t unpack_digits(char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bytes = 0, i = 0;
    uint32_t bits = 0;
    for (; text[i] && text[i] != '='; i++) {
        const char *digit = strchr(digits, text[i]);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4)
            text[bytes++] = (char)(bits >> (6 - i % 4 * 2));
    }
    assert_int_equal((i + strlen(text + i)) % 4, 0);
    return bytes;
}

static void test_base64(void **state)
{
    (void)state;
    static const char *const known[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd\xfc", "//79/A=="}}; /* RFC 4648 */
    char text[16];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lwp_base64(known[i][0], strlen(known[i][0]), text);
        assert_string_equal(text, known[i][1]);
        assert_int_equal(unpack_digits(text), strlen(known[i][0]));
        assert_memory_equal(text, known[i][0], strlen(known[i][0]));
    }
}

/* A file has the scripts of other views packed behind those of the first, and may run both; a server's pages have all of them at once. */
static void test_later_scripts(void **state)
{
    (void)state;
    const struct lwp_assets assets = {"<!-- lwp:head --><!-- lwp:script --><!-- lwp:rest -->", "", "all()", "first()", "two()", "later()"};
    static const char open[] = "<script>first()</script><script type=\"text/plain\" class=\"lwp-later\">";
    int status;
    char *html = build(assets, NULL, &status), back[16], first[45], later[45], policy[140];
    assert_int_equal(status, 0);
    lwp_sha256_base64("first()", 7, first);
    lwp_sha256_base64("later()", 7, later);
    snprintf(policy, sizeof policy, "script-src 'sha256-%s' 'sha256-%s';", first, later);
    assert_non_null(strstr(html, policy));
    char *packed = strstr(html, open);
    assert_non_null(packed);
    packed += sizeof open - 1;
    *strchr(packed, '<') = '\0';
    uLongf bytes = sizeof back;
    assert_int_equal(uncompress((Bytef *)back, &bytes, (Bytef *)packed, unpack_digits(packed)), Z_OK);
    assert_int_equal(bytes, 7);
    assert_memory_equal(back, "later()", 7);
    free(html);
    html = build(assets, "", &status);
    assert_null(strstr(html, "lwp-later"));
    free(html);
}

/* All but a small result is there twice: as far as the first view shows it, then all of it, packed, in pieces. */
static void test_large_page(void **state)
{
    (void)state;
    struct lwp_assets assets = {"<!-- lwp:data --><!-- lwp:script --><!-- lwp:rest -->", "", "f()", "f()", "f()", ""};
    static const char open[] = "<script type=\"text/plain\" class=\"lwp-rest\">", close[] = "</script>";
    json_t *objects = json_array();
    for (int i = 0; i < 40000; i++)
        json_array_append_new(objects,
                              json_pack("{s:s, s:f, s:[i]}", "name", "\u20ac<\u00e4", "share", 1.0 / (i + 1), "fields", i * 7919 % 65536));
    json_t *data = json_pack("{s:s, s:{s:o}}", "view", "result", "analysis", "objects", objects);
    char *html = NULL, *whole = json_text(data), *packed, *back = malloc(strlen(whole));
    size_t length = 0, pieces = 0, packed_bytes;
    assert_int_equal(lwp_page_build(&assets, NULL, "", data, &html, &length, NULL), 0);
    const char *first = strstr(html, "id=\"lwp-data\">"), *script = strstr(html, "f()"), *piece = html;
    assert_true(first && strstr(first, "\"partial\":true") < script && script < strstr(html, "lwp-rest"));
    assert_true(script - first < 4096);
    assert_true(!strstr(first, "\"fields\"")); /* no part of a table's row */
    FILE *to = open_memstream(&packed, &packed_bytes);
    while ((piece = strstr(piece, open))) {
        piece += sizeof open - 1;
        fwrite(piece, 1, (size_t)(strstr(piece, close) - piece), to);
        pieces++;
    }
    fclose(to);
    assert_true(pieces > 1);
    uLongf bytes = strlen(whole);
    assert_int_equal(uncompress((Bytef *)back, &bytes, (Bytef *)packed, unpack_digits(packed)), Z_OK);
    assert_int_equal(bytes, strlen(whole));
    assert_memory_equal(back, whole, bytes);
    free(packed);
    free(back);
    free(whole);
    free(html);
    json_decref(data);
}

static void test_bad_templates(void **state)
{
    (void)state;
    static const struct lwp_assets bad[] = {
        {"<!-- lwp:nonsense -->", "", "", "", "", ""},
        {"<!-- lwp:data", "", "", "", "", ""},
        {"<!-- lwp:a-very-long-name-of-a-place -->", "", "", "", "", ""},
        {"", "", "'</SCRIPT >'", "", "", ""},
        {"", "", "x <!-- y", "", "", ""},
        {"", "</Style>", "", "", "", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status;
        assert_null(build(bad[i], NULL, &status));
        assert_int_equal(status, LWP_ERR_FORMAT);
    }
}

static void test_built_in_assets(void **state)
{
    (void)state;
    struct lwp_assets built, read;
    struct lwp_error err = {0};
    assert_int_equal(lwp_assets_load(&built, NULL, &err), 0);
    assert_int_equal(lwp_assets_load(&read, LWP_SOURCE "/templates", &err), 0);
    assert_string_equal(built.html, read.html);
    assert_string_equal(built.style, read.style);
    assert_string_equal(built.script, read.script);
    assert_non_null(strstr(built.script, "function viewIndex"));
    assert_null(strstr(built.one, "function viewIndex")); /* nothing that only a server's pages need */
    assert_null(strstr(built.later, "function viewIndex"));
    assert_null(strstr(built.two, "function viewIndex"));
    assert_null(strstr(built.one, "function viewDiff"));
    assert_non_null(strstr(built.two, "function viewDiff"));
    assert_null(strstr(built.one, "function viewRun"));
    assert_non_null(strstr(built.later, "function viewRun"));
    assert_int_equal(strncmp(built.later, "'use strict';", 13), 0);
    assert_non_null(strstr(built.style, "content: \"\\25b2  \"")); /* the first space ends the escape, the second one is shown */
    const char *palette = strstr(built.style, "--page:");
    assert_non_null(palette);
    assert_null(strstr(palette + 1, "--page:")); /* a colour is said in one place, for light and dark */
    int status;
    char *html = build(built, NULL, &status);
    assert_int_equal(status, 0);
    assert_null(strstr(html, "<!-- lwp:style"));
    for (const char *c = html; *c; c++)
        assert_true(*c > 0);            /* ASCII: browsers decode it in half of the time */
    assert_true(strlen(html) < 160000); /* what every report carries */
    free(html);
    lwp_assets_free(&built);
    lwp_assets_free(&read);
    assert_int_equal(lwp_assets_load(&read, "/proc/nonexistent", &err), LWP_ERR_SYSTEM);
}

/* ---- files ---- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-web.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) ? -1 : 0;
}

static const char *put(const char *name, const void *bytes, size_t length)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    return path;
}

static json_t *analysis_of(const char *file, int first, int last, double share)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:[s]}, s:[{s:s, s:i, s:i, s:f}], s:[], s:[], s:[]}", "schema", "lwp-analysis", "version",
                     "1.0", "run", "cwd", folder, "started", "2000-01-01T00:00:00Z", "command", "/bin/x", "loops", "file", file,
                     "first_line", first, "last_line", last, "share", share, "objects", "splits", "findings");
}

static json_t *collected(const json_t *analysis, enum lwp_source_policy policy, const char *root)
{
    char real[PATH_MAX];
    json_t *roots = json_pack("[s]", realpath(root, real)), *sources = lwp_source_collect(analysis, policy, roots, 1 << 20);
    json_decref(roots);
    return sources;
}

/* The only file's excerpts as "first:line|line;…", or its "missing". */
static void assert_excerpt(const char *file, int first, int last, double share, enum lwp_source_policy policy, const char *expected)
{
    json_t *analysis = analysis_of(file, first, last, share), *sources = collected(analysis, policy, folder);
    const json_t *found = json_array_get(json_object_get(sources, "files"), 0);
    char text[4096] = "";
    size_t i, j;
    json_t *excerpt, *line;
    if (json_is_string(json_object_get(found, "missing")))
        strcpy(text, json_string_value(json_object_get(found, "missing")));
    json_array_foreach(json_object_get(found, "excerpts"), i, excerpt) {
        sprintf(text + strlen(text), "%d:", (int)json_integer_value(json_object_get(excerpt, "first")));
        json_array_foreach(json_object_get(excerpt, "lines"), j, line)
            sprintf(text + strlen(text), "%.300s|", json_string_value(line));
    }
    assert_string_equal(text, expected);
    json_decref(sources);
    json_decref(analysis);
}

static void test_source(void **state)
{
    (void)state;
    put("a.c", "1\n2\n3\n4\n5\r\n6\n7\n8\n9\n10\n11", 24);
    put("secret", "root:x\n", 7);
    put("id.key", "root:x\n", 7);
    put("zero.c", "a\0b\n", 4);
    put("bytes.c", "a\xff\xc3(\n", 5);
    put("empty.c", "", 0);
    char path[512];
    snprintf(path, sizeof path, "%s/pipe.c", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/dir.c", folder);
    assert_int_equal(mkdir(path, 0700), 0);

    assert_excerpt("a.c", 5, 5, 0.5, LWP_SOURCE_ALL, "2:2|3|4|5|6|7|8|");
    assert_excerpt("a.c", 1, 1, 0.5, LWP_SOURCE_HOT, "1:1|2|3|4|");
    assert_excerpt("a.c", 11, 2000000, 0.5, LWP_SOURCE_ALL, "8:8|9|10|11|");
    assert_excerpt("a.c", 11, 3, 0.5, LWP_SOURCE_ALL, "8:8|9|10|11|");
    assert_excerpt("a.c", 5000, 5001, 0.5, LWP_SOURCE_ALL, "");
    assert_excerpt("a.c", 5, 5, 0.001, LWP_SOURCE_HOT, "");
    assert_excerpt("a.c", 5, 5, 0.5, LWP_SOURCE_NONE, "");
    assert_excerpt("a.c", 0, 5, 0.5, LWP_SOURCE_ALL, "");
    assert_excerpt("a.c", -7, 5, 0.5, LWP_SOURCE_ALL, "");
    assert_excerpt("bytes.c", 1, 1, 0.5, LWP_SOURCE_ALL, "1:a\ufffd\ufffd(|");
    assert_excerpt("empty.c", 1, 1, 0.5, LWP_SOURCE_ALL, "");
    assert_excerpt("secret", 1, 1, 0.5, LWP_SOURCE_ALL, "not called like a source file");
    assert_excerpt("id.key", 1, 1, 0.5, LWP_SOURCE_ALL, "not called like a source file");
    assert_excerpt("/etc/passwd", 1, 1, 0.5, LWP_SOURCE_ALL, "not called like a source file");
    assert_excerpt("/usr/include/../../etc/passwd", 1, 1, 0.5, LWP_SOURCE_ALL, "not called like a source file");
    assert_excerpt("gone.c", 1, 1, 0.5, LWP_SOURCE_ALL, "not found on this machine");
    assert_excerpt("zero.c", 1, 1, 0.5, LWP_SOURCE_ALL, "not a text file");
    assert_excerpt("pipe.c", 1, 1, 0.5, LWP_SOURCE_ALL, "not a plain file of at most 8 MiB");
    assert_excerpt("dir.c", 1, 1, 0.5, LWP_SOURCE_ALL, "not a plain file of at most 8 MiB");
}

/* Source of any amount stays below the page's share of it. */
static bool is_shown(const char *file, const json_t *roots)
{
    json_t *analysis = analysis_of(file, 1, 1, 0.5), *sources = lwp_source_collect(analysis, LWP_SOURCE_ALL, roots, 1 << 20);
    const json_t *found = json_array_get(json_object_get(sources, "files"), 0);
    bool shown = json_array_size(json_object_get(found, "excerpts")) > 0;
    assert_true(shown != json_is_string(json_object_get(found, "missing")));
    json_decref(sources);
    json_decref(analysis);
    return shown;
}

/* Only below the roots, wherever links and ".." lead. */
static void test_source_roots(void **state)
{
    (void)state;
    char real[PATH_MAX], in[PATH_MAX + 8], beside[PATH_MAX + 8], link[PATH_MAX + 20], up[PATH_MAX + 20];
    put("c.c", "1\n", 2);
    assert_non_null(realpath(folder, real));
    snprintf(in, sizeof in, "%s/in", real);
    snprintf(beside, sizeof beside, "%s/i", real);
    snprintf(link, sizeof link, "%s/out.c", in);
    snprintf(up, sizeof up, "%s/../c.c", in);
    assert_int_equal(mkdir(in, 0700), 0);
    assert_int_equal(symlink("../c.c", link), 0);
    json_t *all = json_pack("[s, s]", "/proc/nonexistent", real), *below = json_pack("[s, n, i]", in, 7), *prefix = json_pack("[s]", beside);
    assert_true(is_shown("c.c", all) && is_shown(link, all) && is_shown(up, all));
    assert_false(is_shown("c.c", below) || is_shown(link, below) || is_shown(up, below));
    put("in/d.c", "1\n", 2);
    assert_true(is_shown("in/d.c", below));
    assert_false(is_shown("in/d.c", prefix) || is_shown("in/d.c", NULL));
    json_decref(all);
    json_decref(below);
    json_decref(prefix);
}

/* Lines on the call paths of a redundant pair, without any loop; and not those of a pair too small for "hot". */
static void test_source_of_accesses(void **state)
{
    (void)state;
    put("b.c", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n", 39);
    for (int small = 0; small < 2; small++) {
        json_t *analysis = json_pack("{s:s, s:s, s:{s:s}, s:[], s:[{s:[{s:s, s:i}, {s:s, s:n}]}, {s:[{s:s, s:i}]}], "
                                     "s:[{s:f, s:i, s:i}], s:[{s:[{s:i}]}]}",
                                     "schema", "lwp-analysis", "version", "1.0", "run", "cwd", folder, "loops", "contexts", "frames",
                                     "file", "b.c", "line", 4, "file", "b.c", "line", "frames", "file", "b.c", "line", 14, "redundancies",
                                     "share", small ? 0.001 : 0.1, "first", 0, "second", small ? 77 : 1, "sharing", "sites", "context", 0);
        assert_non_null(analysis);
        json_t *sources = collected(analysis, LWP_SOURCE_HOT, folder);
        const json_t *excerpts = json_object_get(json_array_get(json_object_get(sources, "files"), 0), "excerpts");
        assert_int_equal(json_array_size(excerpts), small ? 1 : 2);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(excerpts, 0), "first")), 1);
        assert_int_equal(json_array_size(json_object_get(json_array_get(excerpts, 0), "lines")), 7);
        if (!small)
            assert_int_equal(json_integer_value(json_object_get(json_array_get(excerpts, 1), "first")), 11);
        json_decref(sources);
        json_decref(analysis);
    }
}

static void test_source_is_bounded(void **state)
{
    (void)state;
    size_t length = 6 << 20;
    char *text = malloc(length);
    for (size_t i = 0; i < length; i++)
        text[i] = i % 600 == 599 ? '\n' : 'x';
    put("large.c", text, length);
    free(text);
    json_t *analysis = analysis_of("large.c", 1, 100, 0.5), *loops = json_object_get(analysis, "loops");
    for (int i = 1; i < 100; i++)
        json_array_append_new(
            loops, json_pack("{s:s, s:i, s:i, s:f}", "file", "large.c", "first_line", i * 100, "last_line", i * 100 + 99, "share", 0.5));
    json_t *sources = collected(analysis, LWP_SOURCE_ALL, folder);
    char *dumped = json_dumps(sources, JSON_COMPACT);
    assert_true(strlen(dumped) > 900000 && strlen(dumped) < 1200000);
    free(dumped);
    json_decref(sources);
    json_decref(analysis);
}

static void test_result(void **state)
{
    (void)state;
    struct lwp_error err = {0};
    json_t *analysis;
    char *name;
    assert_false(lwp_result_is(folder));
    assert_int_equal(lwp_result_prepare(folder, &err), LWP_ERR_MISSING);
    assert_int_equal(lwp_result_load(folder, &analysis, &err), LWP_ERR_SYSTEM);
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"", LWP_ERR_FORMAT},
        {"[]", LWP_ERR_FORMAT},
        {"7", LWP_ERR_FORMAT},
        {"{}", LWP_ERR_FORMAT},
        {"{\"schema\":\"lwp-analysis\"}", LWP_ERR_FORMAT},
        {"{\"schema\":\"lwp-analysis\",\"version\":\"2.0\"}", LWP_ERR_NEWER},
        {"{\"schema\":\"lwp-analysis\",\"version\":\"1.0\"", LWP_ERR_FORMAT},
        {"{\"schema\":\"lwp-analysis\",\"version\":\"1.0\",\"a\":\"\xff\"}", LWP_ERR_FORMAT},
        {"{\"schema\":\"lwp-analysis\",\"version\":\"1.7\",\"a\":\"\\u0000\"}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("analysis.json", cases[i].text, strlen(cases[i].text));
        assert_int_equal(lwp_result_load(folder, &analysis, &err), cases[i].status);
        assert_true((analysis != NULL) == (cases[i].status == 0));
        json_decref(analysis);
    }
    assert_true(lwp_result_is(folder));
    assert_int_equal(lwp_result_prepare(folder, &err), 0); /* an analysis alone needs no samples */
    static const char *const names[][2] = {{"a/b", "b"}, {"a/b//", "b"}, {"x", "x"}, {"/", "result"}, {"..a", "..a"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name = lwp_result_name(names[i][0]);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/.", folder);
    name = lwp_result_name(path);
    assert_string_equal(name, strrchr(folder, '/') + 1);
    free(name);
}

static void test_site(void **state)
{
    (void)state;
    struct lwp_error err = {0};
    struct lwp_site *site;
    json_t *analysis = analysis_of("a.c", 1, 1, 0.5);
    char *text = json_dumps(analysis, 0);
    json_decref(analysis);
    put("analysis.json", text, strlen(text));
    assert_int_equal(lwp_site_new(&site, folder, NULL, NULL, &err), 0);
    static const struct {
        const char *path;
        unsigned status;
    } cases[] = {{"/", 200},    {"/analysis.json", 200}, {"/report.css", 200}, {"/report.js", 200},
                 {"", 404},     {"/a.c", 404},           {"/../a.c", 404},     {"/r/", 404},
                 {"/r/x", 404}, {"analysis.json", 404},  {"/report.js/", 404}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lwp_answer answer = lwp_site_get(site, cases[i].path);
        assert_int_equal(answer.status, cases[i].status);
        assert_true(answer.text->length > 0 && strlen(answer.text->body) == answer.text->length);
        lwp_text_drop(answer.text);
    }
    lwp_site_free(site);
    free(text);
    assert_int_equal(lwp_site_new(&site, "/proc/nonexistent", NULL, NULL, &err), LWP_ERR_SYSTEM);
    assert_null(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_cannot_end_its_element),
        cmocka_unit_test(test_json_of_long_text),
        cmocka_unit_test(test_text_for_html),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_large_page),
        cmocka_unit_test(test_bad_templates),
        cmocka_unit_test(test_later_scripts),
        cmocka_unit_test(test_built_in_assets),
        cmocka_unit_test_setup_teardown(test_source, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_source_roots, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_source_of_accesses, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_source_is_bounded, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_result, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_site, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
