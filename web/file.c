#include "web/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void lwp_file_join(char *path, size_t room, const char *folder, const char *name)
{
    if ((size_t)snprintf(path, room, "%s/%s", folder, name) >= room)
        path[0] = '\0';
}

int lwp_file_read(const char *path, size_t most, char **bytes, size_t *size, struct lwp_error *err)
{
    *bytes = NULL;
    int status, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return lwp_error_errno(err, "cannot read %s", path);
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        status = lwp_error_set(err, LWP_ERR_MISSING, "%s is no regular file", path);
        goto out;
    }
    if ((size_t)st.st_size > most) {
        status = lwp_error_set(err, LWP_ERR_LIMIT, "%s is larger than %zu bytes", path, most);
        goto out;
    }
    *bytes = malloc((size_t)st.st_size + 1);
    if (!*bytes) {
        status = lwp_error_set(err, LWP_ERR_MEMORY, "out of memory while reading %s", path);
        goto out;
    }
    size_t got = 0;
    for (ssize_t n; got < (size_t)st.st_size && (n = read(fd, *bytes + got, (size_t)st.st_size - got)) > 0;)
        got += (size_t)n;
    (*bytes)[got] = '\0';
    *size = got;
    status = LWP_OK;
out:
    close(fd);
    return status;
}

int lwp_file_write(const char *path, const char *bytes, size_t size, struct lwp_error *err)
{
    char aside[4096];
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp.%d", path, (int)getpid()) >= sizeof aside)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path %s is too long", path);
    FILE *to = fopen(aside, "wxe");
    if (!to)
        return lwp_error_errno(err, "cannot write %s", path);
    size_t written = fwrite(bytes, 1, size, to);
    if (fclose(to) || written != size || rename(aside, path)) {
        int status = lwp_error_errno(err, "cannot write %s", path);
        unlink(aside);
        return status;
    }
    return LWP_OK;
}
