/* A folder in memory for what is read by its path. It is this process's own and goes with it. */
#ifndef LWP_FUZZ_FOLDER_H
#define LWP_FUZZ_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char fuzz_folder_path[64];

static inline int fuzz_folder_remove(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

/* Empty again. */
static inline void fuzz_folder_end(void)
{
    nftw(fuzz_folder_path, fuzz_folder_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *fuzz_folder(void)
{
    if (!*fuzz_folder_path) {
        snprintf(fuzz_folder_path, sizeof fuzz_folder_path, "/dev/shm/lwp-fuzz-%ld", (long)getpid());
        atexit(fuzz_folder_end);
    }
    mkdir(fuzz_folder_path, 0700);
    return fuzz_folder_path;
}

/* DIR/name, with `size` bytes in it; the path is valid until the next call. */
static inline const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
        abort();
    return path;
}

#endif
