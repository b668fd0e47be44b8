/* Runs a fuzz target without a fuzzer: on the files named, or on all that is kept for it in tests/fuzz/corpus and
 * tests/fuzz/regressions. Each has ten seconds and all together a gigabyte. */
#include <dirent.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECONDS = 10, PATH_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void feed(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, 0, SEEK_END))
        exit((perror(path), 1));
    size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size + 1); /* exactly: what reads beyond is seen */
    rewind(file);
    if (!bytes || !(bytes = realloc(bytes, size ? size : 1)) || fread(bytes, 1, size, file) != size)
        exit((perror(path), 1));
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    alarm(SECONDS);
    LLVMFuzzerTestOneInput(bytes, size);
    alarm(0);
    free(bytes);
}

static unsigned feed_folder(const char *kind, const char *target)
{
    char folder[PATH_BYTES];
    struct dirent **entries;
    unsigned fed = 0;
    snprintf(folder, sizeof folder, LWP_SOURCE "/tests/fuzz/%s/%s", kind, target);
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            feed(path);
            fed++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return fed;
}

int main(int argc, char **argv)
{
    struct rusage used;
    unsigned fed = (unsigned)argc - 1;
    for (int i = 1; i < argc; i++)
        feed(argv[i]);
    if (argc == 1)
        fed = feed_folder("corpus", basename(argv[0])) + feed_folder("regressions", basename(argv[0]));
    getrusage(RUSAGE_SELF, &used);
    printf("%u inputs, at most %ld MiB\n", fed, used.ru_maxrss >> 10);
    return fed == 0 || used.ru_maxrss > 1 << 20;
}
