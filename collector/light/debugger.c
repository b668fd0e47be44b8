#define _GNU_SOURCE
#include "collector/light/debugger.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int debugger_first; /* at the start */

static int debugger_pid(void)
{
    char text[1024];
    int pid = 0, fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, "TracerPid:");
    for (at = at ? at + strlen("TracerPid:") : ""; *at == '\t' || *at == ' '; at++)
        ;
    for (; *at >= '0' && *at <= '9'; at++)
        pid = pid * 10 + *at - '0';
    return pid;
}

void lwp_debugger_start(void)
{
    debugger_first = debugger_pid();
}

bool lwp_debugger_came(void)
{
    int pid = debugger_pid();
    return pid && pid != debugger_first;
}
