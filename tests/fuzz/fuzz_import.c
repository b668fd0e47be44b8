/* All of lwp import: a perf.data file in, a result directory out, sealed. */
#include "collector/import/import.h"
#include "collector/launch/result.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char from[256], to[256];
    struct lwp_imported imported;
    struct lwp_result result;
    struct lwp_error err;
    fuzz_folder();
    snprintf(from, sizeof from, "%s", fuzz_file("perf.data", input, size));
    snprintf(to, sizeof to, "%s/result", fuzz_folder());
    mkdir(to, 0700);
    if (lwp_import_perf(from, to, &imported, &err) == 0)
        lwp_result_finish(to, &result);
    fuzz_folder_end();
    return 0;
}
