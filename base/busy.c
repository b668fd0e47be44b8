/* Locks of open file descriptions: a process that was forked meanwhile drops them when it calls exec. */
#include "base/busy.h"

#include <fcntl.h>
#include <unistd.h>

int lwp_busy_begin(const char *dir)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool lwp_busy(const char *dir)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool busy = fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return busy;
}
