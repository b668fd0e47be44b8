/* Locks of open file descriptions: a process that was forked meanwhile drops them when it calls exec. */
#include "base/busy.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static int busy_open(const char *dir)
{
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool busy_mark(int fd)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* By another description. */
static bool busy_is_marked(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

int lwp_busy_begin(const char *dir)
{
    int fd = busy_open(dir);
    if (fd >= 0 && busy_mark(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Between the look and the mark nobody else does the same: flock() is a lock of another kind. */
bool lwp_busy_take(const char *dir, int *fd)
{
    *fd = busy_open(dir);
    if (*fd < 0)
        return true;
    flock(*fd, LOCK_EX);
    bool taken = !busy_is_marked(*fd), marked = taken && busy_mark(*fd);
    flock(*fd, LOCK_UN);
    if (!marked) {
        close(*fd);
        *fd = -1;
    }
    return taken;
}

bool lwp_busy(const char *dir)
{
    int fd = busy_open(dir);
    bool busy = fd >= 0 && busy_is_marked(fd);
    if (fd >= 0)
        close(fd);
    return busy;
}
