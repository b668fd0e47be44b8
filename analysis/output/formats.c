#include "analysis/output/formats.h"

#include "analysis/output/redact.h"
#include "base/log.h"

#include <string.h>

struct lwp_review *lwp_review_open(const char *dir, const struct lwp_options *options, json_t **root, struct lwp_error *err)
{
    const char *folder = lwp_options_text(options, "root");
    *root = lwp_analysis_load(dir, err);
    if (*root && lwp_options_flag(options, "redact"))
        lwp_redact(*root, *root, folder);
    return *root ? lwp_review_new(*root, folder, err) : NULL;
}

int lwp_write_format(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, const struct lwp_options *options,
                     struct lwp_error *err)
{
    const char *format = lwp_options_text(options, "format");
    if (strcmp(format, "markdown") == 0)
        return lwp_markdown_write(out, review, judgement, (size_t)lwp_options_number(options, "limit"), err);
    if (strcmp(format, "sarif") == 0)
        return lwp_sarif_write(out, review, judgement, err);
    return lwp_junit_write(out, review, judgement, err);
}

int lwp_output_end(int status, int failed, const struct lwp_error *err)
{
    if (err->status)
        lwp_log(LWP_LOG_ERROR, "%s", err->text);
    else if (fflush(stdout) || ferror(stdout))
        lwp_log(LWP_LOG_ERROR, "cannot write to standard output");
    else
        return status;
    return failed;
}
