/* What happens at limits of the kernel's: each situation prints what the program saw. */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void limit(int what, rlim_t soft)
{
    struct rlimit limits;
    getrlimit(what, &limits);
    limits.rlim_cur = soft;
    if (setrlimit(what, &limits))
        perror("setrlimit");
}

/* ---- files ---- */

static int files_until_refused(void)
{
    int count = 0, highest = -1, fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
        count++;
        highest = fd;
    }
    printf("%d more files, the highest %d, then %s\n", count, highest, strerror(errno));
    work(60);
    return 0;
}

static int files_256(void)
{
    limit(RLIMIT_NOFILE, 256);
    return files_until_refused();
}

static int files_16(void)
{
    limit(RLIMIT_NOFILE, 16);
    return files_until_refused();
}

static volatile sig_atomic_t too_large;

static void on_too_large(int number)
{
    (void)number;
    too_large++;
}

static int file_size(void)
{
    static char block[4096];
    signal(SIGXFSZ, on_too_large);
    limit(RLIMIT_FSIZE, 65536);
    int fd = open("large", O_WRONLY | O_CREAT | O_TRUNC, 0644), blocks = 0;
    while (write(fd, block, sizeof block) == sizeof block)
        blocks++;
    printf("%d blocks, then %s\n", blocks, strerror(errno));
    work(700); /* longer than what lwp may write */
    printf("%d signals\n", (int)too_large);
    return close(fd);
}

/* ---- memory ---- */

/* In 16ths of the limit: what lwp itself maps has to fit the last one. */
static int memory_until_refused(int what, rlim_t bytes)
{
    limit(what, bytes);
    void *blocks[32];
    int count = 0;
    while (count < 32 && (blocks[count] = malloc(bytes / 16))) {
        memset(blocks[count], 1, 4096);
        count++;
    }
    int why = errno;
    work(60);
    printf("%d blocks, then %s\n", count, strerror(why));
    while (count)
        free(blocks[--count]);
    void *again = malloc(bytes / 2);
    printf("after they were freed, half of it: %s\n", again ? "yes" : "no");
    free(again);
    return 0;
}

static int address_space(void)
{
    return memory_until_refused(RLIMIT_AS, 1ul << 30);
}

static int address_space_small(void)
{
    return memory_until_refused(RLIMIT_AS, 128ul << 20);
}

static int data(void)
{
    return memory_until_refused(RLIMIT_DATA, 128ul << 20);
}

static int refused(void)
{
    volatile size_t huge = (size_t)1 << 62;
    char *kept = strcpy(malloc(20), "kept"), *volatile still = kept;
    errno = 0;
    void *block = malloc(huge);
    printf("malloc: %p %s\n", block, strerror(errno));
    errno = 0;
    block = calloc(huge, 16);
    printf("calloc: %p %s\n", block, strerror(errno));
    errno = 0;
    block = realloc(kept, huge);
    printf("realloc: %p %s, %s\n", block, strerror(errno), still);
    errno = 0;
    block = aligned_alloc(64, huge);
    printf("aligned_alloc: %p %s\n", block, strerror(errno));
    int status = posix_memalign(&block, 3, 64);
    printf("posix_memalign: %s\n", strerror(status));
    errno = 0;
    block = mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("mmap: %d %s\n", block == MAP_FAILED, strerror(errno));
    free(still);
    return 0;
}

static int locked(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        printf("mlockall: %s\n", strerror(errno));
    work(60);
    char *block = malloc(1 << 20);
    printf("%s\n", block ? "allocated" : strerror(errno));
    free(block);
    return 0;
}

/* ---- processes, CPU time ---- */

static void *nothing(void *given)
{
    return given;
}

static int processes(void)
{
    pthread_t thread;
    if (setgid(65534) || setuid(65534))
        return 98;
    limit(RLIMIT_NPROC, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    printf("fork: %s\n", child < 0 ? strerror(errno) : "made");
    if (child > 0)
        waitpid(child, NULL, 0);
    int status = pthread_create(&thread, NULL, nothing, NULL);
    printf("pthread_create: %s\n", strerror(status));
    work(60);
    return 0;
}

static volatile sig_atomic_t time_is_over;

static void on_time(int number)
{
    (void)number;
    time_is_over = 1;
    static const char text[] = "one second is over\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(97);
}

static int cpu_time(void)
{
    signal(SIGXCPU, on_time);
    limit(RLIMIT_CPU, 1);
    for (int i = 0; i < 50 && !time_is_over; i++) /* the limit counts in ticks, not by the clock */
        work(100);
    signal(SIGXCPU, SIG_DFL);
    work(5000);
    return 96;
}

/* ---- stacks ---- */

static char alternate[32768];

static void on_overflow(int number)
{
    static const char text[] = "the stack is full\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(97);
    _exit(number == SIGSEGV ? 5 : 95);
}

static int deeper(volatile char *above)
{
    volatile char here[512];
    here[0] = above[0];
    return above[0] ? 0 : deeper(here) + here[0]; /* for ever */
}

static int stack_overflow(void)
{
    char first[512] = {0};
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_overflow, .sa_flags = SA_ONSTACK}, NULL);
    return deeper(first);
}

static int stack_small(void)
{
    limit(RLIMIT_STACK, 64 << 10);
    return stack_overflow();
}

/* Which the loader overruns by itself when it has something to preload. A long environment, which lies on the stack, would do the same. */
static int stack_tiny(void)
{
    extern char **environ;
    char **kept = environ;
    for (char **at = environ; *at; at++)
        if (strncmp(*at, "LD_", 3) == 0 || strncmp(*at, "LWP", 3) == 0)
            *kept++ = *at;
    *kept = NULL;
    limit(RLIMIT_STACK, 16 << 10);
    execl("/bin/echo", "echo", "small", (char *)NULL);
    return 97;
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {
        {"files", files_until_refused}, {"files_256", files_256}, {"files_16", files_16}, {"file_size", file_size},
        {"address_space", address_space}, {"address_space_small", address_space_small}, {"data", data}, {"refused", refused},
        {"locked", locked}, {"processes", processes}, {"cpu_time", cpu_time}, {"stack_overflow", stack_overflow},
        {"stack_small", stack_small}, {"stack_tiny", stack_tiny}};
    return situation_run(situations, sizeof situations / sizeof *situations, argc > 1 ? argv[1] : NULL);
}
