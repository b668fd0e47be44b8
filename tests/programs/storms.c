/* Many short threads, then many short children:
 *
 *     storms THREADS AT_ONCE CHILDREN FILES
 *
 * prints what became of them, and whether FILES files could be opened while threads were running. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 512, AT_ONCE_MOST = 256, FILES_MOST = 1000 };

static volatile long words[WORDS];
static int files_wanted, files_opened = -1;
static long ended;

static void work(int milliseconds)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        for (int i = 0; i < WORDS; i++) {
            words[i] = i;
            words[i] = i + 1;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < milliseconds);
}

static void *run(void *unused)
{
    (void)unused;
    work(1);
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int open_files(void)
{
    int fds[FILES_MOST], count = 0;
    while (count < files_wanted && (fds[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return count;
}

static int open_now(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    int threads = atoi(argv[1]), at_once = atoi(argv[2]), children = atoi(argv[3]), failed = 0;
    files_wanted = atoi(argv[4]);
    work(100);
    int before = 0;
    for (int i = 0; i < threads; i += at_once) {
        pthread_t thread[AT_ONCE_MOST];
        int made = 0;
        while (made < at_once && pthread_create(&thread[made], NULL, run, NULL) == 0)
            made++;
        if (i == 0)
            files_opened = open_files();
        while (made)
            pthread_join(thread[--made], NULL);
        if (i == 0)
            before = open_now();
    }
    int after = open_now();
    for (int i = 0; i < children; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            work(1);
            _exit(7);
        }
        failed += child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
    }
    printf("threads %ld, children that failed %d, files %d\n", ended, failed, files_opened);
    if (after > before + 4) /* those of a sampler's first thread may come late */
        printf("open files grew from %d to %d\n", before, after);
    return 4;
}
