/* Who traces a process is a debugger, and withholds the traps that are not its own, but for the few that are known to
 * pass on what they do not care for. Not seen: a debugger in a container that this process cannot look into. */
#include "collector/light/sampling/debugger.h"

#include "collector/light/own/own_files.h"

#include <stdio.h>
#include <string.h>

static const char *const passing_on[] = {"strace\n", "proot\n"};

static int tracer_pid(void)
{
    char text[1024];
    int pid = 0;
    lwp_own_files_read("/proc/self/status", text, sizeof text);
    const char *at = strstr(text, "TracerPid:");
    for (at = at ? at + strlen("TracerPid:") : ""; *at == '\t' || *at == ' '; at++)
        ;
    for (; *at >= '0' && *at <= '9'; at++)
        pid = pid * 10 + *at - '0';
    return pid;
}

bool lwp_debugger_is_here(void)
{
    char path[32], name[32];
    int pid = tracer_pid();
    if (!pid)
        return false;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    lwp_own_files_read(path, name, sizeof name);
    for (size_t i = 0; i < sizeof passing_on / sizeof *passing_on; i++)
        if (strcmp(name, passing_on[i]) == 0)
            return false;
    return true;
}
