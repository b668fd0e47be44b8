/* What a program may do with its files and folders while others are open in it. */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void *threads_work(void *given)
{
    work(30);
    return given;
}

static void thread_and_child(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, threads_work, NULL) == 0)
        pthread_join(thread, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work(30);
        printf("child\n");
        exit(4);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("its status: %d\n", WEXITSTATUS(status));
}

/* Standard files that were closed are the program's to open. */
static int standard(void)
{
    int fds[3];
    for (int i = 0; i < 3; i++)
        fds[i] = open("said", O_RDWR | O_CREAT | O_APPEND, 0644);
    dprintf(fds[2], "%d %d %d\n", fds[0], fds[1], fds[2]);
    work(100);
    fprintf(stderr, "to standard error\n");
    printf("to standard output\n");
    return 0;
}

/* Each file holds what was written to it and nothing else. */
static int many_of_own(int low, int high)
{
    char name[32], text[64];
    int wrong = 0;
    for (int fd = low; fd < high; fd++) {
        snprintf(name, sizeof name, "f%d", fd);
        int made = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (made != fd && (dup2(made, fd) != fd || close(made)))
            wrong++;
    }
    work(100);
    thread_and_child();
    for (int fd = low; fd < high; fd++)
        wrong += dprintf(fd, "file %d\n", fd) < 0;
    work(100);
    for (int fd = low; fd < high; fd++) {
        snprintf(name, sizeof name, "file %d\n", fd);
        ssize_t length = pread(fd, text, sizeof text - 1, 0);
        text[length > 0 ? length : 0] = '\0';
        wrong += strcmp(text, name) != 0;
        wrong += close(fd) != 0;
    }
    printf("%d wrong\n", wrong);
    return 0;
}

static int closed_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    return many_of_own(3, 300);
}

static int closefrom_(void)
{
    closefrom(3);
    return many_of_own(3, 300);
}

static int numbers_taken(void)
{
    return many_of_own(190, 320);
}

static int folder_gone(void)
{
    char name[4096];
    if (mkdir("gone", 0755) || chdir("gone") || rmdir("../gone"))
        return 98;
    thread_and_child();
    printf("%s\n", getcwd(name, sizeof name) ? name : strerror(errno));
    return chdir("..");
}

static int chroot_(void)
{
    if (mkdir("root", 0755) || chroot("root") || chdir("/"))
        return 98;
    thread_and_child();
    work(100);
    printf("%d\n", open("/etc/passwd", O_RDONLY));
    return 0;
}

static int umask_(void)
{
    umask(0777);
    thread_and_child();
    return close(open("closed", O_WRONLY | O_CREAT, 0666));
}

static int pipe_closed(void)
{
    int ends[2];
    if (pipe(ends) || close(ends[0]))
        return 98;
    signal(SIGPIPE, SIG_IGN);
    printf("%d %s\n", (int)write(ends[1], "x", 1), strerror(errno));
    signal(SIGPIPE, SIG_DFL);
    work(60);
    return (int)write(ends[1], "x", 1);
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {
        {"standard", standard}, {"closed_all", closed_all}, {"closefrom", closefrom_}, {"numbers_taken", numbers_taken},
        {"folder_gone", folder_gone}, {"chroot", chroot_}, {"umask", umask_}, {"pipe_closed", pipe_closed}};
    return situation_run(situations, sizeof situations / sizeof *situations, argc > 1 ? argv[1] : NULL);
}
