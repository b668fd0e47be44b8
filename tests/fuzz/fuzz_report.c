/* What reads an analysis.json that somebody else may have made: report, check, diff and export in all their formats.
 * Nothing in it may end up as an element of the page. */
#include "analysis/check/check.h"
#include "analysis/diff/diff.h"
#include "analysis/output/formats.h"
#include "analysis/output/redact.h"
#include "analysis/output/report.h"
#include "base/json_file.h"
#include "web/page.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static FILE *nowhere;
static json_t *sound; /* what a diff compares with */

static void start(void)
{
    nowhere = fopen("/dev/null", "we");
    sound = lwp_json_read(LWP_SOURCE "/tests/fuzz/corpus/report/all.json", 0, NULL);
    if (!nowhere || !sound)
        abort();
}

static void review(const json_t *root, bool redacted)
{
    json_t *copy = json_deep_copy(root);
    struct lwp_judgement judgement;
    struct lwp_budget budget = lwp_budget_usual();
    struct lwp_baseline none = {0};
    struct lwp_error err;
    if (redacted)
        lwp_redact(copy, copy, "/src");
    struct lwp_review *made = lwp_review_new(copy, redacted ? "/src" : NULL, &err);
    if (made) {
        lwp_check_judge(made, &budget, redacted ? &none : NULL, &judgement);
        lwp_check_print(nowhere, made, &judgement, true);
        lwp_report_print(nowhere, made, "result", redacted, true);
        lwp_markdown_write(nowhere, made, &judgement, 4000, &err);
        lwp_sarif_write(nowhere, made, &judgement, &err);
        lwp_junit_write(nowhere, made, &judgement, &err);
    }
    lwp_review_free(made);
    lwp_baseline_fini(&none);
    json_decref(copy);
}

static json_t *diff(const json_t *before, const json_t *after)
{
    struct lwp_error err;
    json_t *made = lwp_diff_build(before, "before", after, "after", &err);
    if (made)
        lwp_diff_print(nowhere, made, true, false);
    return made;
}

static void page(const json_t *root)
{
    char template[] = "<!-- lwp:title --><!-- lwp:data -->", nothing[] = "";
    const struct lwp_assets assets = {.html = template, .style = nothing, .script = nothing};
    json_t *copy = json_deep_copy(root), *data = lwp_page_result_data("result", copy, &(struct lwp_page_wish){"exported", LWP_SOURCE_HOT, NULL, LWP_PAGE_BYTES_MAX});
    char *html = NULL;
    size_t length, tags = 0;
    lwp_redact_paths(data, copy, NULL);
    lwp_page_build(&assets, NULL, lwp_page_title("result", copy), data, &html, &length, NULL);
    for (size_t i = 0; html && i < length; i++)
        tags += html[i] == '<';
    if (html && tags != 2) /* that of the data, and its end */
        abort();
    free(html);
    json_decref(data);
    json_decref(lwp_trim(copy, 1000));
    json_decref(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (!nowhere)
        start();
    json_t *root = lwp_json_parse((const char *)input, size, JSON_ALLOW_NUL, NULL);
    if (!root)
        return 0;
    review(root, false);
    review(root, true);
    json_decref(diff(root, sound));
    json_t *made = diff(sound, root), *copy = json_deep_copy(root);
    if (made && json_is_object(copy))
        json_decref(
            lwp_page_diff_data("result", made, sound, copy, &(struct lwp_page_wish){"exported", LWP_SOURCE_HOT, NULL, LWP_PAGE_BYTES_MAX}));
    json_decref(copy);
    json_decref(made);
    if (json_is_object(root))
        page(root);
    json_decref(root);
    return 0;
}
