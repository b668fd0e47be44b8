/* Leaves the processor all the time: a byte to another process and back after each few stores that nobody looks at. Prints how often,
 * and at how many of 100 looks it had no file of perf's open. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long data[64];
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void store(long value)
{
    for (int i = 0; i < 2000; i++)
        *(volatile long *)&data[i & 63] = value + i;
}
static int has_perf_file(void)
{
    char name[64] = "";
    int found = 0;
    DIR *files = opendir("/proc/self/fd");
    for (struct dirent *entry; files && !found && (entry = readdir(files));) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, name, sizeof name - 1);
        name[length > 0 ? length : 0] = 0;
        found = strstr(name, "perf_event") != NULL;
    }
    closedir(files);
    return found;
}
int main(int count, char **arguments)
{
    int there[2], back[2];
    char byte = 0;
    long turns = 0, looks = 0, without = 0;
    double end = atof(arguments[1]);
    if (count < 2 || pipe(there) || pipe(back))
        return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
        }
        _exit(0);
    }
    close(there[0]);
    while (now() < end) {
        store(turns++);
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
        if (turns % 500 == 0) {
            looks++;
            without += !has_perf_file();
        }
    }
    close(there[1]);
    wait(NULL);
    printf("%ld %ld\n", turns, 100 * without / (looks + 1));
    return 0;
}
