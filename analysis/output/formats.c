#include "analysis/output/formats.h"

#include "analysis/output/junit.h"
#include "analysis/output/markdown.h"
#include "analysis/output/sarif.h"

#include <string.h>

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
