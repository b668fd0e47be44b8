/* All of lwp analyze: an input is the records of a process and of its thread at once, and each goes through every
 * question that is asked of samples. */
#include "analysis/json/analyze.h"
#include "base/log.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char folder[256], answer[256];
    struct lwp_error err;
    size_t bytes;
    uint8_t *file = fuzz_wrap(input, size, &bytes);
    const char *dir = fuzz_folder();
    lwp_log_set_level(LWP_LOG_ERROR);
    snprintf(folder, sizeof folder, "%s/p1", dir);
    mkdir(folder, 0700);
    fuzz_file("p1/process.lwps", file, bytes);
    fuzz_file("p1/t1.lwps", file, bytes);
    fuzz_file("run.json", (const uint8_t *)"{\"machine\": {\"line_bytes\": 64}}", 31);
    snprintf(answer, sizeof answer, "%s/analysis.json", dir);
    lwp_analyze_jobs(1);
    lwp_analyze(&dir, 1, answer, &err);
    free(file);
    return 0;
}
