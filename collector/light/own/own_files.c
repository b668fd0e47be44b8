/* The numbers up to its limit are the program's: it may open as many files, or close all numbers up to there. A file keeps its
 * number when the limit is lowered, so lwp's are opened above, under a limit that is raised for a moment. Another
 * thread could see that, or set a limit of its own meanwhile: with more than one, and where there is no room above,
 * the numbers are the program's from 200 on. High ones cost memory in each process: limits above LIMIT_MOST stay as they are. */
#include "collector/light/own/own_files.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NUMBER_LEAST = 200, LIMIT_MOST = 4096, ROOM = 1024 };

static bool files_alone;

void lwp_own_files_alone(bool alone)
{
    __atomic_store_n(&files_alone, alone, __ATOMIC_RELAXED);
}

/* Whether there is room above the limit. */
static bool files_fit_above(struct rlimit *limit)
{
    return getrlimit(RLIMIT_NOFILE, limit) == 0 && __atomic_load_n(&files_alone, __ATOMIC_RELAXED) &&
           limit->rlim_cur <= LIMIT_MOST && limit->rlim_cur + ROOM <= limit->rlim_max;
}

static int files_above_limit(int fd)
{
    struct rlimit limit;
    if (!files_fit_above(&limit))
        return -1;
    struct rlimit raised = {limit.rlim_cur + ROOM, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised))
        return -1;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
    setrlimit(RLIMIT_NOFILE, &limit);
    return above;
}

bool lwp_own_files_room(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}; /* where it cannot be asked for */
    return files_fit_above(&limit) || limit.rlim_cur > NUMBER_LEAST;
}

int lwp_own_files_raise(int fd)
{
    int raised = files_above_limit(fd);
    if (raised < 0)
        raised = fcntl(fd, F_DUPFD_CLOEXEC, NUMBER_LEAST);
    if (raised >= 0)
        close(fd);
    return raised;
}

uint64_t lwp_own_files_event(int fd)
{
    uint64_t id;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

size_t lwp_own_files_read(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}
