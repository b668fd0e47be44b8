/* Starts another program, one that lwp's library cannot be in, in all the ways there are. */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static const char *folder, *name; /* of the program */
static char path[4096], script[] = "script", script_of_script[] = "script_of_script";
static char *arguments[] = {(char *)"child", (char *)"7", NULL};

static void by_execve(void) { execve(path, arguments, environ); }
static void by_execv(void) { execv(path, arguments); }
static void by_execvp(void) { execvp(name, arguments); }
static void by_execvpe(void) { execvpe(name, arguments, environ); }
static void by_execl(void) { execl(path, "child", "7", (char *)NULL); }
static void by_execlp(void) { execlp(name, "child", "7", (char *)NULL); }
static void by_execle(void) { execle(path, "child", "7", (char *)NULL, environ); }
static void by_fexecve(void) { fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ); }
static void by_execveat(void) { syscall(SYS_execveat, open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name, arguments, environ, 0); }
static void by_path_file(void) { execveat(open(path, O_PATH | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH); }
static void by_syscall(void) { syscall(SYS_execve, path, arguments, environ); }
static void by_script(void) { execv(script, arguments); }
static void by_script_of_script(void) { execv(script_of_script, arguments); }

/* Without LD_PRELOAD, and with nothing at all: as alone. */
static void by_bare_environment(void) { execve(path, arguments, (char *[]){(char *)"A=B", NULL}); }
static void by_no_environment(void) { execve(path, arguments, NULL); }

/* Not there, no program, not to be executed: the same errno. */
static void by_nothing(void) { execvp("no-such-program", arguments); printf("%d ", errno); }
static void by_folder(void) { execv("/", arguments); printf("%d ", errno); }
static void by_no_rights(void) { chmod(script, 0600); execv(script, arguments); printf("%d ", errno); }

static pid_t spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *),
                     const char *what)
{
    pid_t child = -1;
    int failed = spawn(&child, what, NULL, NULL, arguments, environ);
    return failed ? -failed : child;
}

static void tell(const char *how, pid_t child)
{
    int status = -1;
    if (child > 0)
        waitpid(child, &status, 0);
    printf("%s: %x\n", how, child > 0 ? status : child);
    fflush(stdout);
}

static void write_script(const char *file, const char *interpreter)
{
    FILE *out = fopen(file, "w");
    fprintf(out, "#! %s 7\n", interpreter);
    fclose(out);
    chmod(file, 0755);
}

int main(int count, char **words)
{
    static const struct {
        const char *how;
        void (*run)(void);
    } ways[] = {{"execve", by_execve}, {"execv", by_execv}, {"execvp", by_execvp}, {"execvpe", by_execvpe}, {"execl", by_execl},
                {"execlp", by_execlp}, {"execle", by_execle}, {"fexecve", by_fexecve}, {"execveat", by_execveat},
                {"path file", by_path_file}, {"syscall", by_syscall}, {"script", by_script},
                {"script of script", by_script_of_script}, {"bare environment", by_bare_environment},
                {"no environment", by_no_environment}, {"nothing", by_nothing}, {"folder", by_folder}, {"no rights", by_no_rights}};
    if (count != 3)
        return 98;
    folder = words[1];
    name = words[2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char place[8192];
    snprintf(place, sizeof place, "/nowhere::%s:/bin", folder);
    setenv("PATH", place, 1);
    write_script(script, path);
    write_script(script_of_script, script);
    work(60);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pid_t child = i % 2 ? fork() : vfork();
        if (child == 0) {
            ways[i].run();
            fflush(stdout);
            _exit(97);
        }
        tell(ways[i].how, child);
    }
    tell("posix_spawn", spawned(posix_spawn, path));
    tell("posix_spawnp", spawned(posix_spawnp, name));
    tell("none", spawned(posix_spawnp, "no-such-program"));
    unlink(script);
    unlink(script_of_script);
    return 0;
}
