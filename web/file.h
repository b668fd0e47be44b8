/* Whole files in and out. */
#ifndef LWP_WEB_FILE_H
#define LWP_WEB_FILE_H

#include "base/error.h"

#include <stddef.h>

/* The file's bytes (malloc'ed, a NUL behind them); a regular file of at most `most` bytes. */
int lwp_file_read(const char *path, size_t most, char **bytes, size_t *size, struct lwp_error *err);

/* Written aside and renamed, so that a reader never sees half a file. */
int lwp_file_write(const char *path, const char *bytes, size_t size, struct lwp_error *err);

/* folder + "/" + name, cut when it does not fit (no such file will exist then). */
void lwp_file_join(char *path, size_t room, const char *folder, const char *name);

#endif
