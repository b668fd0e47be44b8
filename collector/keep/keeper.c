/* Memory comes by datagrams to an abstract socket, whose name cannot be guessed. Only what cannot shrink any more is mapped; what it
 * holds is not trusted beyond that. */
#include "collector/keep/keeper.h"

#include "base/arena.h"
#include "base/clock.h"
#include "collector/keeper.h"
#include "format/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SWEEP_MS = 300, MAGIC = 0x6c777363, PAGE_BYTES = 4096, GENERATIONS = 10000, NAME_DIGITS = 32 };

/* A process's memory. */
struct kept {
    int folder;
    pid_t pid, known; /* its own number for itself, and ours; 0: it cannot be seen from here */
    struct lwps_spool_head *head;
    uint64_t size;     /* of what is mapped */
    uint64_t from;     /* all before is written for good */
};

struct lwp_keeper {
    pthread_t thread;
    int socket, stop[2];
    char name[NAME_DIGITS + 8];
    char *directory;
    struct kept *kept;
    size_t count, room;
    bool paused, applied; /* no samples are wanted; the processes know */
    int failed; /* errno of the last sweeps of processes: something could not be written */
};

/* ---- a process's files ---- */

static bool kept_open_folder(const struct lwp_keeper *keeper, struct kept *kept)
{
    uint32_t its = __atomic_load_n(&kept->head->generation, __ATOMIC_ACQUIRE); /* it wrote itself while lwp was stopped */
    for (int generation = its ? (int)its - 1 : 0; kept->folder < 0 && generation < GENERATIONS; generation++) {
        char *path = generation ? lwp_format("%s/p%d.%d", keeper->directory, (int)kept->pid, generation)
                                : lwp_format("%s/p%d", keeper->directory, (int)kept->pid);
        bool made = its || mkdir(path, 0777) == 0, other = !made && errno != EEXIST;
        if (made)
            kept->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        free(path);
        if (other || (made && kept->folder < 0))
            return false;
        if (made)
            __atomic_store_n(&kept->head->generation, (uint32_t)generation + 1, __ATOMIC_RELEASE);
    }
    return kept->folder >= 0;
}

/* Its pages in between go back: what is written is only needed there. */
static void kept_give_back(const struct kept *kept, uint64_t at, uint32_t bytes)
{
    uint64_t low = (at + sizeof(struct lwps_spool_chunk) + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1), high = (at + bytes) & ~(uint64_t)(PAGE_BYTES - 1);
    if (high > low)
        madvise((char *)kept->head + low, high - low, MADV_REMOVE);
}

/* 0, or the errno of what could not be written; that is tried again the next time. */
static int kept_sweep(const struct lwp_keeper *keeper, struct kept *kept)
{
    int failed = 0;
    uint64_t used = __atomic_load_n(&kept->head->used, __ATOMIC_ACQUIRE);
    bool all = true; /* before `at` */
    used = used < kept->size ? used : kept->size;
    for (uint64_t at = kept->from; at + LWPS_SPOOL_UNIT <= used;) {
        struct lwps_spool_chunk *chunk = (struct lwps_spool_chunk *)((char *)kept->head + at);
        uint32_t bytes = chunk->bytes;
        if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) != MAGIC || bytes < LWPS_SPOOL_UNIT || bytes > used - at) {
            all = false; /* just being made, or the end of a slab */
            at += LWPS_SPOOL_UNIT;
            continue;
        }
        bool complete = __atomic_load_n(&chunk->complete, __ATOMIC_ACQUIRE);
        if (!chunk->written && !chunk->quiet) {
            uint64_t state = lwps_spool_state(chunk, bytes);
            int status = 0;
            if (chunk->kept != state)
                status = kept_open_folder(keeper, kept) ? -lwps_spool_write(chunk, bytes, kept->folder) : errno;
            failed = status ? status : failed;
            chunk->kept = status ? 0 : state;
            chunk->written = !status && complete;
            if (chunk->written && !chunk->first)
                kept_give_back(kept, at, bytes);
        }
        all = all && chunk->written;
        at += bytes;
        if (all)
            kept->from = at;
    }
    return failed;
}

/* ---- the socket ---- */

static void keeper_add(struct lwp_keeper *keeper, int fd, pid_t pid, pid_t known)
{
    enum { SEALS = F_SEAL_SHRINK };
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) || st.st_size < 2 * LWPS_SPOOL_HEAD) {
        close(fd);
        return;
    }
    struct lwps_spool_head *head = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (head == MAP_FAILED)
        return;
    LWP_APPEND(&keeper->kept, &keeper->count, &keeper->room,
               (struct kept){.folder = -1, .pid = pid, .known = known, .head = head, .size = (uint64_t)st.st_size, .from = LWPS_SPOOL_HEAD});
    __atomic_store_n(&head->paused, __atomic_load_n(&keeper->paused, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    __atomic_store_n(&head->collected_ns, lwp_clock(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
}

/* False: there was none. */
static bool keeper_receive(struct lwp_keeper *keeper)
{
    struct lwp_keeper_message message = {0};
    struct iovec part = {&message, sizeof message};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct msghdr datagram = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t got = recvmsg(keeper->socket, &datagram, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int fd = -1;
    struct ucred sender = {.pid = 0, .uid = (uid_t)-1};
    if (got < 0)
        return false;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&datagram); one; one = CMSG_NXTHDR(&datagram, one)) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(one), sizeof fd);
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_CREDENTIALS)
            memcpy(&sender, CMSG_DATA(one), sizeof sender);
    }
    bool good = got == sizeof message && message.magic == LWP_KEEPER_MAGIC && (geteuid() == 0 || sender.uid == geteuid());
    if (fd >= 0 && good)
        keeper_add(keeper, fd, message.pid, sender.pid);
    else if (fd >= 0)
        close(fd);
    return true;
}

static bool is_over(const struct kept *kept)
{
    return kept->known > 0 && kill(kept->known, 0) && errno == ESRCH;
}

static void keeper_drop(struct lwp_keeper *keeper, size_t i)
{
    struct kept *kept = &keeper->kept[i];
    munmap(kept->head, kept->size);
    if (kept->folder >= 0)
        close(kept->folder);
    keeper->kept[i] = keeper->kept[--keeper->count];
}

static void keeper_sweep(struct lwp_keeper *keeper)
{
    for (size_t i = keeper->count; i--;) {
        bool over = is_over(&keeper->kept[i]);
        int failed = kept_sweep(keeper, &keeper->kept[i]);
        if (over && failed)
            keeper->failed = failed;
        __atomic_store_n(&keeper->kept[i].head->collected_ns, lwp_clock(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
        if (over)
            keeper_drop(keeper, i);
    }
}

static void keeper_tell(struct lwp_keeper *keeper)
{
    bool paused = __atomic_load_n(&keeper->paused, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < keeper->count; i++)
        __atomic_store_n(&keeper->kept[i].head->paused, paused, __ATOMIC_RELEASE);
    __atomic_store_n(&keeper->applied, true, __ATOMIC_RELEASE);
}

static struct sockaddr_un keeper_address(const struct lwp_keeper *keeper, socklen_t *bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(keeper->name);
    memcpy(address.sun_path + 1, keeper->name, length);
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    return address;
}

void lwp_keeper_pause(struct lwp_keeper *keeper, bool paused)
{
    enum { TRIES = 1000, TRY_NS = 1000000 };
    socklen_t bytes;
    struct sockaddr_un address = keeper_address(keeper, &bytes);
    __atomic_store_n(&keeper->paused, paused, __ATOMIC_SEQ_CST);
    __atomic_store_n(&keeper->applied, false, __ATOMIC_SEQ_CST);
    for (int try = 0; try < TRIES && !__atomic_load_n(&keeper->applied, __ATOMIC_ACQUIRE); try++) {
        sendto(keeper->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, bytes); /* wakes it */
        nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
    }
}

static void *keeper_run(void *of)
{
    struct lwp_keeper *keeper = of;
    struct pollfd waits[2] = {{.fd = keeper->socket, .events = POLLIN}, {.fd = keeper->stop[0], .events = POLLIN}};
    uint64_t due = 0;
    while (!waits[1].revents) {
        int wait = keeper->count ? SWEEP_MS : -1;
        poll(waits, 2, wait);
        while (keeper_receive(keeper))
            ;
        if (!__atomic_load_n(&keeper->applied, __ATOMIC_ACQUIRE))
            keeper_tell(keeper);
        if (lwp_clock(CLOCK_MONOTONIC) >= due) {
            keeper_sweep(keeper);
            due = lwp_clock(CLOCK_MONOTONIC) + (uint64_t)SWEEP_MS * 1000000u;
        }
    }
    while (keeper_receive(keeper))
        ;
    for (size_t i = keeper->count; i--;) {
        __atomic_store_n(&keeper->kept[i].head->collected_ns, 0, __ATOMIC_SEQ_CST);
        int failed = kept_sweep(keeper, &keeper->kept[i]);
        keeper->failed = failed ? failed : keeper->failed;
        keeper_drop(keeper, i);
    }
    return NULL;
}

struct lwp_keeper *lwp_keeper_start(const char *directory, struct lwp_error *err)
{
    struct lwp_keeper *keeper = lwp_zeroed(1, sizeof *keeper);
    uint64_t random[NAME_DIGITS / 16];
    int on = 1;
    sigset_t all, before;
    keeper->socket = keeper->stop[0] = keeper->stop[1] = -1;
    keeper->applied = true;
    keeper->directory = lwp_format("%s", directory);
    if (getrandom(random, sizeof random, 0) != sizeof random)
        goto fail;
    snprintf(keeper->name, sizeof keeper->name, "lwp-%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
    socklen_t bytes;
    struct sockaddr_un address = keeper_address(keeper, &bytes);
    keeper->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (keeper->socket < 0 || setsockopt(keeper->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) ||
        bind(keeper->socket, (struct sockaddr *)&address, bytes) || pipe2(keeper->stop, O_CLOEXEC))
        goto fail;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&keeper->thread, NULL, keeper_run, keeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errno)
        goto fail;
    return keeper;
fail:
    lwp_error_errno(err, "cannot take what the program records");
    if (keeper->socket >= 0)
        close(keeper->socket);
    for (int i = 0; i < 2; i++)
        if (keeper->stop[i] >= 0)
            close(keeper->stop[i]);
    free(keeper->directory);
    free(keeper);
    return NULL;
}

const char *lwp_keeper_name(const struct lwp_keeper *keeper)
{
    return keeper->name;
}

int lwp_keeper_end(struct lwp_keeper *keeper)
{
    if (!keeper)
        return 0;
    close(keeper->stop[1]);
    pthread_join(keeper->thread, NULL);
    close(keeper->stop[0]);
    close(keeper->socket);
    int failed = keeper->failed;
    free(keeper->kept);
    free(keeper->directory);
    free(keeper);
    return failed;
}
