/* Stores that only look dead to somebody who does not see everything that uses memory.
 *
 *     not_dead CASE SECONDS    (of CPU time; on a busy machine, five times as long at most)
 *
 * prints "honest FIRST LAST", the lines whose stores are of use, and "control FIRST SECOND", the lines of a pair of stores
 * of which the first is dead: whoever does not find it has looked at nothing. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WORDS = 64, PAGES = 16384 };

static volatile long dead[WORDS];
static volatile long buffer[WORDS];
static int ends[2];
static jmp_buf back;
static volatile long flag;
static volatile long *page;
static long sum;

#define WORK(w)                                            \
    do {                                                   \
        for (int work = 0; work < 6; work++)               \
            __asm__ volatile("imul %0, %0" : "+r"(w));     \
    } while (0)

/* For cases that are nearly all in the kernel: there are no samples. */
#define WORK_LONG(w)                                       \
    do {                                                   \
        for (int slowly = 0; slowly < 100; slowly++)       \
            WORK(w);                                       \
    } while (0)

/* Neither a load nor a store. */
#define PREFETCH(x) __asm__ volatile("prefetcht0 (%0)\n\tprefetchw (%0)" : : "r"(&(x)))

enum { CONTROL_FIRST = __LINE__ + 4, CONTROL_SECOND };
static void control(long w)
{
    for (int i = 0; i < WORDS; i++) {
        WORK(w); dead[i] = w; PREFETCH(dead[i]);
        WORK(w); dead[i] = w + 1;
        sum += dead[i];
    }
}

enum { HONEST_FIRST = __LINE__ };

/* The kernel takes what is stored, and stores itself. */
static void pipe_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    if (write(ends[1], (void *)buffer, sizeof buffer) != sizeof buffer || read(ends[0], (void *)buffer, sizeof buffer) < 0)
        abort();
}

static void socket_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    if (send(ends[1], (void *)buffer, sizeof buffer, 0) != sizeof buffer ||
        recv(ends[0], (void *)buffer, sizeof buffer, MSG_WAITALL) != sizeof buffer)
        abort();
    for (int i = 0; i < WORDS; i++) sum += buffer[i];
}

static void prefetch_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; PREFETCH(buffer[i]); PREFETCH(buffer[(i + 8) % WORDS]); }
    for (int i = 0; i < WORDS; i++) { PREFETCH(buffer[(i + 8) % WORDS]); sum += buffer[i]; }
}

/* The same without a buffer of the C library's between. */
static void stdio_case(long w)
{
    static FILE *file;
    if (!file) {
        file = tmpfile();
        setvbuf(file, NULL, _IONBF, 0);
    }
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    rewind(file);
    if (fwrite((void *)buffer, sizeof buffer, 1, file) != 1)
        abort();
    static char text[WORDS];
    for (int i = 0; i < WORDS - 1; i++) { WORK(w); ((volatile char *)text)[i] = (char)('a' + (w & 7)); }
    fputs(text, file);
}

/* What the kernel is told in small structures: it alone reads them. */
static void calls_case(long w)
{
    static struct pollfd polled;
    static struct timespec moment;
    static char path[WORDS];
    for (int i = 0; i < 10; i++) {
        WORK(w); *(volatile int *)&polled.fd = ends[0];
        WORK(w); *(volatile short *)&polled.events = POLLOUT;
        poll(&polled, 1, 0);
    }
    for (int i = 0; i < 3; i++) {
        WORK(w); *(volatile long *)&moment.tv_nsec = 1 + i;
        nanosleep(&moment, NULL);
    }
    for (int i = 0; i < WORDS - 1; i++) { WORK(w); ((volatile char *)path)[i] = (char)('a' + (w & 7)); }
    sum += access(path, F_OK);
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    if (syscall(SYS_write, ends[1], buffer, sizeof buffer) != sizeof buffer || read(ends[0], (void *)buffer, sizeof buffer) < 0)
        abort();
}

/* Copies of odd lengths are made of overlapping stores. */
static void copy_case(long w)
{
    static char from[256], to[256];
    for (size_t n = 9; n < 64; n++) {
        WORK(w);
        from[n - 1] = (char)w;
        memcpy(to, from, n);
        __asm__ volatile("" ::: "memory");
        for (size_t i = 0; i < n; i++) sum += ((volatile char *)to)[i];
    }
}

/* What large fills and copies are made of: an instruction that passes the bytes one by one. */
static void string_case(long w)
{
    static char from[1024], to[1024];
    void *at = from;
    size_t n = sizeof from;
    WORK(w);
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(w) : "memory");
    const void *source = from;
    at = to;
    n = sizeof to;
    WORK(w);
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(n) : : "memory");
    for (size_t i = 0; i < sizeof to; i++) sum += ((volatile char *)to)[i];
}

static void realloc_case(long w)
{
    volatile long *block = malloc(8 * sizeof *block);
    for (int size = 8; size <= 64; size *= 2) {
        for (int i = 0; i < size; i++) { WORK(w); block[i] = w; }
        block = realloc((void *)block, 2 * (size_t)size * sizeof *block);
    }
    free((void *)block);
}

static void reuse_case(long w)
{
    for (int k = 0; k < 20; k++) {
        volatile long *block = malloc(WORDS * sizeof *block);
        for (int i = 0; i < WORDS; i++) { WORK(w); block[i] = w; }
        free((void *)block);
    }
}

static void fork_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK_LONG(w); buffer[i] = w; }
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < WORDS; i++) sum += buffer[i];
        _exit(sum == 12345);
    }
    waitpid(child, NULL, 0);
}

__attribute__((noinline)) static void jump_deep(long w)
{
    volatile long local[WORDS];
    for (int i = 0; i < WORDS; i++) { WORK(w); local[i] = w; }
    (void)local[0];
    longjmp(back, 1);
}

static void jump_case(long w)
{
    for (volatile int k = 0; k < 20; k++)
        if (!setjmp(back))
            jump_deep(w);
}

__attribute__((noinline)) static void frame_deep(long w)
{
    volatile long local[WORDS];
    for (int i = 0; i < WORDS; i++) { WORK(w); local[i] = w; }
    (void)local[0];
}

static void frame_case(long w)
{
    for (int k = 0; k < 20; k++) frame_deep(w);
}

static void on_signal(int signal)
{
    (void)signal;
    for (int i = 0; i < WORDS; i++) { buffer[i] = buffer[i] + flag; }
}

static void signal_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    flag = w;
    raise(SIGUSR1);
    for (int i = 0; i < WORDS; i++) sum += buffer[i];
}

/* What was stored goes with the pages that it was in, and what is there next is something else. */
static volatile long *map(void *at, int flags)
{
    void *pages = mmap(at, PAGES, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    return pages;
}

static void remap_case(long w)
{
    static volatile long *pages;
    if (!pages)
        pages = map(NULL, MAP_PRIVATE);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < WORDS; i++) { WORK_LONG(w); pages[i] = w; }
        map((void *)pages, MAP_PRIVATE | MAP_FIXED);
    }
}

static void advise_case(long w)
{
    static volatile long *pages;
    if (!pages)
        pages = map(NULL, MAP_PRIVATE);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < WORDS; i++) { WORK(w); pages[i] = w; }
        if (madvise((void *)pages, PAGES, MADV_DONTNEED))
            abort();
    }
}

static void move_case(long w)
{
    static volatile long *pages, *other;
    if (!pages) {
        pages = map(NULL, MAP_PRIVATE);
        other = map(NULL, MAP_PRIVATE);
    }
    for (int i = 0; i < WORDS; i++) { WORK(w); pages[i] = w; }
    for (int i = 0; i < WORDS; i++) { WORK(w); other[i] = w; }
    if (mremap((void *)pages, PAGES, PAGES, MREMAP_MAYMOVE | MREMAP_FIXED, other) == MAP_FAILED)
        abort();
    for (int i = 0; i < WORDS; i++) { sum += other[i]; WORK(w); other[i] = w; sum += other[i]; }
    map((void *)pages, MAP_PRIVATE | MAP_FIXED);
}

/* The child looks at the parent's own memory. */
static void vfork_case(long w)
{
    for (int i = 0; i < WORDS; i++) { WORK_LONG(w); buffer[i] = w; }
    pid_t child = vfork();
    if (child == 0) {
        for (int i = 0; i < WORDS; i++) flag = buffer[i];
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void spawn_case(long w)
{
    static char word[WORDS];
    char *arguments[] = {(char *)"/bin/true", word, NULL}, *no_environment[] = {NULL};
    pid_t child;
    for (int i = 0; i < WORDS - 1; i++) {
        WORK_LONG(w);
        ((volatile char *)word)[i] = (char)('a' + (w & 7));
    }
    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, no_environment) == 0)
        waitpid(child, NULL, 0);
}

/* A coroutine stops in the middle of a frame and never goes on; the next gets its stack. */
static ucontext_t here, there;
static volatile long coroutine_w;

static void coroutine(void)
{
    volatile long local[WORDS];
    long w = coroutine_w;
    for (int i = 0; i < WORDS; i++) { WORK(w); local[i] = w; }
    swapcontext(&there, &here);
    for (int i = 0; i < WORDS; i++) sum += local[i];
}

static void context_case(long w)
{
    static char stack[4 * PAGES];
    coroutine_w = w;
    for (int k = 0; k < 10; k++) {
        getcontext(&there);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = sizeof stack;
        there.uc_link = &here;
        makecontext(&there, coroutine, 0);
        swapcontext(&here, &there);
        if (k % 2)
            swapcontext(&here, &there); /* to its end */
        control(w);
    }
}

/* Handlers on a stack of their own, each time the same one; what they store, others read. */
static void on_alternate(int signal)
{
    volatile long local[WORDS];
    long w = flag;
    (void)signal;
    for (int i = 0; i < WORDS; i++) { WORK(w); local[i] = w; }
    for (int i = 0; i < WORDS; i++) { WORK(w); buffer[i] = w; }
    (void)local[0];
}

static void alternate_case(long w)
{
    static char stack[4 * PAGES];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR2, &action, NULL))
        abort();
    flag = w;
    for (int k = 0; k < 5; k++) {
        raise(SIGUSR2);
        for (int i = 0; i < WORDS; i++) (void)buffer[i];
        control(w);
    }
}

/* A library goes and comes back where it was (not_dead_library.c). */
static void library_case(long w)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 4);
    if (length < 0)
        abort();
    strcpy(path + length, ".so");
    void *library = dlopen(path, RTLD_NOW);
    void (*fill)(long) = library ? (void (*)(long))dlsym(library, "fill") : NULL;
    if (!fill)
        abort();
    fill(w);
    dlclose(library);
}

extern void not_dead_throw(long w); /* not_dead_throw.cc */

static int look(void *unused)
{
    (void)unused;
    for (int i = 0; i < WORDS; i++) flag = buffer[i];
    return 0;
}

static void clone_case(long w)
{
    static char stack[PAGES] __attribute__((aligned(16)));
    for (int i = 0; i < WORDS; i++) { WORK_LONG(w); buffer[i] = w; }
    pid_t child = clone(look, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

/* Another process reads all the time. */
static void mapped_case(long w)
{
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < WORDS; i++) { WORK(w); page[i] = w; }
}

enum { HONEST_LAST = __LINE__ };

static const struct {
    const char *name;
    void (*pass)(long);
    int more_controls; /* where one of them hardly takes any of a pass' time, and would not be sampled */
} cases[] = {{"pipe", pipe_case},   {"socket", socket_case}, {"tcp", socket_case}, {"prefetch", prefetch_case}, {"copy", copy_case}, {"string", string_case}, {"realloc", realloc_case},
             {"reuse", reuse_case}, {"fork", fork_case, 30},     {"jump", jump_case}, {"frame", frame_case},
             {"signal", signal_case}, {"mapped", mapped_case}, {"segment", mapped_case}, {"remap", remap_case, 10},
             {"advise", advise_case}, {"move", move_case},   {"vfork", vfork_case, 30}, {"spawn", spawn_case, 30},
             {"clone", clone_case, 30}, {"stdio", stdio_case},   {"calls", calls_case, 4},
             {"context", context_case}, {"alternate", alternate_case}, {"library", library_case, 30}, {"throw", not_dead_throw, 10}};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The second half of it goes, which leaves the first as it is. */
static volatile long *page_of_file(void)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), PAGES))
        exit(1);
    void *pages = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    munmap((char *)pages + PAGES / 2, PAGES / 2);
    return pages;
}

static volatile long *page_of_segment(void)
{
    int id = shmget(IPC_PRIVATE, PAGES, IPC_CREAT | 0600);
    void *pages = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    return pages;
}

/* Over the machine's own network. */
static int connect_ends(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = (struct sockaddr *)&at;
    socklen_t bytes = sizeof at;
    int listens = socket(AF_INET, SOCK_STREAM, 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listens, address, bytes) || listen(listens, 1) || getsockname(listens, address, &bytes) ||
        connect(ends[1], address, bytes))
        return -1;
    ends[0] = accept(listens, NULL, NULL);
    return ends[0] < 0 ? -1 : close(listens);
}

static int open_ends(const char *name)
{
    if (strcmp(name, "tcp") == 0)
        return connect_ends();
    return strcmp(name, "socket") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends);
}

static pid_t reader(void)
{
    pid_t child = fork();
    while (child == 0) {
        for (int i = 0; i < WORDS; i++) sum += page[i];
        usleep(100);
    }
    return child;
}

int main(int argc, char **argv)
{
    void (*pass)(long) = NULL;
    int controls = 1;
    pid_t child = 0;
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) {
            pass = cases[i].pass;
            controls += cases[i].more_controls;
        }
    if (!pass || open_ends(argv[1]))
        return 2;
    signal(SIGUSR1, on_signal);
    if (pass == mapped_case) {
        page = strcmp(argv[1], "segment") ? page_of_file() : page_of_segment();
        child = reader();
    }
    const double seconds = strtod(argv[2], NULL), end = now(CLOCK_MONOTONIC) + 5 * seconds;
    for (long w = 3; now(CLOCK_PROCESS_CPUTIME_ID) < seconds && now(CLOCK_MONOTONIC) < end; w += 2)
        for (int i = 0; i < 10; i++) {
            pass(w);
            for (int k = 0; k < controls; k++)
                control(w);
        }
    if (child)
        kill(child, SIGKILL);
    printf("honest %d %d\ncontrol %d %d\n", HONEST_FIRST, HONEST_LAST, CONTROL_FIRST, CONTROL_SECOND);
    return sum == 12345;
}
