/* Processes and threads: storms of them, those that others control, those that change what they are. */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

extern char **environ;

static long ended;

static void *short_thread(void *given)
{
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
    return given;
}

static int threads(int count)
{
    enum { AT_ONCE = 50 };
    pthread_t made[AT_ONCE];
    long joined = 0;
    for (int i = 0; i < count; i += AT_ONCE) {
        for (int k = 0; k < AT_ONCE; k++)
            if (pthread_create(&made[k], NULL, short_thread, made))
                return 98;
        for (int k = 0; k < AT_ONCE; k++) {
            void *given = NULL;
            joined += pthread_join(made[k], &given) == 0 && given == made;
        }
    }
    printf("%ld ended, %ld joined\n", ended, joined);
    return 0;
}

static int threads_300(void)
{
    return threads(300);
}

static int threads_10000(void)
{
    return threads(10000);
}

static long cleaned;

static void clean(void *unused)
{
    (void)unused;
    __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

/* Before its first cancellation point a thread cannot be cancelled. */
static void *pauses(void *unused)
{
    pthread_cleanup_push(clean, unused);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancelled(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t made;
        if (pthread_create(&made, NULL, pauses, NULL))
            return 98;
        pthread_cancel(made);
        pthread_join(made, NULL);
    }
    printf("%ld cleaned up\n", cleaned);
    return 0;
}

static int status_of(pid_t child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int forks(void)
{
    int wrong = 0;
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(i % 256);
        wrong += WEXITSTATUS(status_of(child)) != i % 256;
    }
    printf("%d wrong\n", wrong);
    return 0;
}

static volatile bool lists, listed;

static int lists_slowly(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    lists = true;
    while (!listed)
        usleep(1000);
    return 1;
}

static void *lists_images(void *unused)
{
    dl_iterate_phdr(lists_slowly, NULL);
    return unused;
}

/* While a thread has the loader's lock, which the child then has for good; what the child does takes none. */
static int forks_loading(void)
{
    enum { CHILDREN = 8, PATIENCE_S = 40 };
    pthread_t lister;
    int wrong = 0;
    if (pthread_create(&lister, NULL, lists_images, NULL))
        return 98;
    while (!lists)
        usleep(1000);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t made;
            alarm(PATIENCE_S);
            work(30);
            if (i % 2 && (pthread_create(&made, NULL, short_thread, NULL) || pthread_join(made, NULL)))
                _exit(97);
            _exit(i);
        }
        const int status = status_of(child);
        wrong += !WIFEXITED(status) || WEXITSTATUS(status) != i;
    }
    listed = true;
    pthread_join(lister, NULL);
    printf("%d wrong\n", wrong);
    return 0;
}

static int vforks(void)
{
    volatile int wrong = 0;
    for (volatile int i = 0; i < 300; i++) {
        pid_t child = vfork();
        if (child == 0)
            _exit(i % 256);
        wrong += WEXITSTATUS(status_of(child)) != i % 256;
        if (i % 10)
            continue;
        child = vfork();
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(97);
        }
        wrong += WEXITSTATUS(status_of(child)) != 0;
    }
    printf("%d wrong\n", wrong);
    return 0;
}

static volatile sig_atomic_t own_signals, other_signals;

static void count_own(int signal)
{
    (void)signal;
    own_signals++;
}

static void count_other(int signal)
{
    (void)signal;
    other_signals++;
}

static void take(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signal, &action, NULL);
}

/* A child of vfork has its own actions and mask, though it is on its parent's memory. */
static int vfork_signals(void)
{
    sigset_t all, mask;
    struct sigaction trap;
    sigfillset(&all);
    take(SIGUSR1, count_own, SA_ONSTACK);
    pid_t child = vfork();
    if (child == 0) {
        take(SIGTRAP, SIG_IGN, 0);
        take(SIGUSR1, count_other, SA_ONSTACK);
        raise(SIGTRAP);
        sigprocmask(SIG_BLOCK, &all, NULL);
        _exit(other_signals);
    }
    const int status = status_of(child);
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigaction(SIGTRAP, NULL, &trap);
    printf("child %d, %d own, %d other, SIGTRAP blocked %d, default %d\n", status, (int)own_signals, (int)other_signals,
           sigismember(&mask, SIGTRAP), trap.sa_handler == SIG_DFL);
    return 0;
}

static int spawns(void)
{
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    int wrong = 0;
    for (int i = 0; i < 40; i++) {
        pid_t child = 0;
        if (posix_spawnp(&child, "sh", NULL, NULL, arguments, environ))
            return 98;
        wrong += WEXITSTATUS(status_of(child)) != 7;
    }
    printf("%d wrong\n", wrong);
    return 0;
}

static int stopped(void)
{
    pid_t child = fork();
    if (child == 0) {
        work(30);
        raise(SIGSTOP);
        work(30);
        _exit(9);
    }
    for (int ends = 0; !ends;) {
        int status = 0;
        if (waitpid(child, &status, WUNTRACED | WCONTINUED) != child)
            return 98;
        ends = WIFEXITED(status) || WIFSIGNALED(status);
        printf("%s %d\n", WIFSTOPPED(status) ? "stopped" : WIFCONTINUED(status) ? "continued" : "ended",
               WIFSTOPPED(status) ? WSTOPSIG(status) : WEXITSTATUS(status));
        if (WIFSTOPPED(status))
            kill(child, SIGCONT);
    }
    return 0;
}

static int children_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0)
        _exit(9);
    printf("%d", waitpid(child, NULL, 0));
    printf(" %s\n", strerror(errno));
    return 0;
}

static int daemon_(void)
{
    int done[2];
    if (pipe(done))
        return 98;
    fflush(stdout);
    if (fork() == 0) {
        setsid();
        if (fork())
            _exit(0);
        close(done[0]);
        for (int fd = 0; fd < 1024; fd++)
            if (fd != done[1])
                close(fd);
        int fd = open("/dev/null", O_RDWR);
        int same = dup(fd) == 1 && dup(fd) == 2;
        work(200);
        int log = open("log", O_WRONLY | O_CREAT, 0644);
        dprintf(log, "the daemon's files: %d %d %d\n", fd, same, log);
        exit(0);
    }
    close(done[1]);
    char end;
    while (read(done[0], &end, 1) < 0 && errno == EINTR)
        ;
    wait(NULL);
    return 0;
}

/* Stops itself, as editors do on a terminal; the shell continues it. */
static int suspends(void)
{
    printf("stopping\n");
    raise(SIGTSTP);
    printf("on again\n");
    return 4;
}

static volatile sig_atomic_t interrupted, continued;

static void on_continue(int number)
{
    continued = number;
}

static void on_interrupt(int number)
{
    interrupted = number;
}

static int at_terminal(void)
{
    signal(SIGINT, on_interrupt);
    signal(SIGCONT, on_continue);
    printf("%d %d, in the foreground: %d\n", isatty(0), isatty(1), tcgetpgrp(0) == getpgrp());
    while (!interrupted) {
        work(5);
        if (continued)
            printf("on again\n"); /* only now the terminal's keys reach this process */
        continued = 0;
    }
    signal(SIGINT, SIG_DFL);
    printf("signal %d\n", (int)interrupted); /* the terminal's next key waits for this line */
    work(60000);
    return 96;
}

static void *works(void *given)
{
    work(30);
    return given;
}

static void thread_and_child(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, works, NULL) == 0)
        pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        work(30);
        execl("/bin/true", "true", (char *)NULL);
        _exit(97);
    }
    printf("child: %d\n", WEXITSTATUS(status_of(child)));
}

static int rights_dropped(void)
{
    if (setgid(65534) || setuid(65534))
        return 98;
    thread_and_child();
    printf("%d %d\n", (int)getuid(), prctl(PR_GET_DUMPABLE));
    return 0;
}

static int no_new_rights(void)
{
    printf("%d\n", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    thread_and_child();
    return 0;
}

static int core(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    pid_t child = fork();
    if (child == 0) {
        work(30);
        abort();
    }
    int status = status_of(child);
    printf("signal %d, core %d\n", WTERMSIG(status), !!WCOREDUMP(status));
    raise(SIGSEGV);
    return 96;
}

/* As a debugger does: the child is stopped, looked into, changed and let go. */
static int traced(void)
{
    volatile long seen = 1;
    pid_t child = fork();
    if (child == 0) {
        for (long end = work_clock_ms(CLOCK_MONOTONIC) + 10000; seen == 1 && work_clock_ms(CLOCK_MONOTONIC) < end;)
            work(5);
        _exit((int)seen);
    }
    usleep(100000);
    int status = 0;
    printf("attach: %ld\n", ptrace(PTRACE_ATTACH, child, NULL, NULL));
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP)
        ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status));
    printf("peek: %ld\n", ptrace(PTRACE_PEEKDATA, child, &seen, NULL));
    printf("poke: %ld\n", ptrace(PTRACE_POKEDATA, child, &seen, (void *)42));
    printf("detach: %ld\n", ptrace(PTRACE_DETACH, child, NULL, NULL));
    printf("ended: %d\n", WEXITSTATUS(status_of(child)));
    return 0;
}

static int traced_by_parent(void)
{
    printf("%ld", ptrace(PTRACE_TRACEME, 0, NULL, NULL)); /* as programs do that will not be debugged */
    printf(" %ld\n", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    return 0;
}

static volatile sig_atomic_t ticks[NSIG];

static void on_tick(int number)
{
    ticks[number]++;
}

static int timers(void)
{
    static const struct itimerval every = {{0, 10000}, {0, 10000}}, never;
    static const int which[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}, numbers[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int i = 0; i < 3; i++) {
        signal(numbers[i], on_tick);
        setitimer(which[i], &every, NULL);
    }
    work(500);
    for (int i = 0; i < 3; i++) {
        setitimer(which[i], &never, NULL);
        printf("%s: %s\n", strsignal(numbers[i]), ticks[numbers[i]] >= 5 && ticks[numbers[i]] < 500 ? "as many as asked for" : "wrong");
    }
    return 0;
}

static void *works_on(void *unused)
{
    for (;;)
        work(1000);
    return unused;
}

/* The process ends while its threads run. */
static int exit_running(void)
{
    enum { CHILDREN = 12, THREADS = 16, STATUS = 5 };
    int wrong = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < THREADS; k++) {
                pthread_t made;
                pthread_create(&made, NULL, works_on, NULL);
            }
            usleep(60000);
            exit(STATUS);
        }
        wrong += WEXITSTATUS(status_of(child)) != STATUS;
    }
    printf("%d wrong\n", wrong);
    return 0;
}

/* A second and a half, so that others can do something to it or to lwp meanwhile. */
static int lasting(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    pthread_join(thread, NULL);
    for (long end = work_clock_ms(CLOCK_MONOTONIC) + 1500; work_clock_ms(CLOCK_MONOTONIC) < end;)
        work(20);
    int file = open("done", O_WRONLY | O_CREAT, 0644);
    printf("done\n");
    return close(file);
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {{"threads_300", threads_300},
                                                  {"threads_10000", threads_10000},
                                                  {"forks", forks},
                                                  {"forks_loading", forks_loading},
                                                  {"vforks", vforks},
                                                  {"vfork_signals", vfork_signals},
                                                  {"cancelled", cancelled},
                                                  {"exit_running", exit_running},
                                                  {"spawns", spawns},
                                                  {"stopped", stopped},
                                                  {"children_ignored", children_ignored},
                                                  {"daemon", daemon_},
                                                  {"rights_dropped", rights_dropped},
                                                  {"no_new_rights", no_new_rights},
                                                  {"core", core},
                                                  {"traced", traced},
                                                  {"suspends", suspends},
                                                  {"at_terminal", at_terminal},
                                                  {"lasting", lasting},
                                                  {"traced_by_parent", traced_by_parent},
                                                  {"timers", timers}};
    return situation_run(situations, sizeof situations / sizeof *situations, argc > 1 ? argv[1] : NULL);
}
