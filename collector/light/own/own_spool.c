#include "collector/light/own/own_spool.h"

#include "collector/env.h"
#include "collector/keeper.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/settings.h"
#include "format/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 200, TRY_US = 100, GENERATIONS = 10000 };

static const uint64_t SPOOL_MOST = (uint64_t)4 << 30; /* of which what is used takes memory until it is written */

static LWP_LARGE struct lwps_spool spool;
static char spool_directory[400];
static int spool_generation; /* of the folder that this process made, -1: none */
static uint64_t spool_flushed;

static uint64_t spool_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether lwp collect writes the files. */
static bool spool_is_kept(void)
{
    uint64_t seen = __atomic_load_n(&spool.head->collected_ns, __ATOMIC_ACQUIRE);
    return seen && spool_now() < seen + LWP_KEEPER_STALE_NS;
}

bool lwp_own_spool_is_paused(void)
{
    return spool.head && __atomic_load_n(&spool.head->paused, __ATOMIC_RELAXED);
}

static bool spool_hand_over(const char *keeper, int memory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(keeper);
    if (length >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path + 1, keeper, length);
    struct lwp_keeper_message message = {.magic = LWP_KEEPER_MAGIC, .pid = getpid()};
    struct iovec part = {&message, sizeof message};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), &memory, sizeof memory);
    struct msghdr datagram = {.msg_name = &address,
                              .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length),
                              .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room};
    int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ssize_t sent = -1;
    for (int try = 0; to >= 0 && try < TRIES; try++) {
        sent = sendmsg(to, &datagram, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0 || (errno != EAGAIN && errno != ENOBUFS))
            break;
        usleep(TRY_US); /* many processes at once */
    }
    if (to >= 0)
        close(to);
    return sent == sizeof message;
}

int lwp_own_spool_begin(const char *directory, const char *keeper)
{
    struct stat st = {0};
    char name[64];
    size_t length = strlen(directory);
    if (length >= sizeof spool_directory)
        return -ENAMETOOLONG;
    bool paused = spool.head ? lwp_own_spool_is_paused() : lwp_setting(LWP_ENV_PAUSED) != NULL; /* until lwp collect says so itself */
    lwps_spool_abandon(&spool);
    memcpy(spool_directory, directory, length + 1);
    spool_generation = -1;
    spool_flushed = 0;
    stat(directory, &st);
    snprintf(name, sizeof name, LWP_KEEPER_MEMORY, (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    int memory = lwps_spool_make(&spool, name, SPOOL_MOST);
    if (memory < 0)
        return memory;
    spool.head->paused = paused;
    if (keeper && *keeper && spool_hand_over(keeper, memory))
        spool.head->collected_ns = spool_now(); /* until it says so itself */
    else if (access(directory, W_OK)) {
        int status = -errno;
        lwps_spool_abandon(&spool);
        close(memory);
        return status;
    }
    close(memory);
    return 0;
}

/* ---- without lwp collect ---- */

static int spool_folder_path(char *path, size_t room, int generation)
{
    return generation ? snprintf(path, room, "%s/p%d.%d", spool_directory, getpid(), generation)
                      : snprintf(path, room, "%s/p%d", spool_directory, getpid());
}

static int spool_open_folder(void)
{
    char path[sizeof spool_directory + 40];
    if (spool_generation < 0 && spool.head->generation) /* lwp collect made it while it was there */
        spool_generation = (int)spool.head->generation - 1;
    for (int generation = 0; spool_generation < 0 && generation < GENERATIONS; generation++) {
        spool_folder_path(path, sizeof path, generation);
        if (mkdir(path, 0777) == 0)
            spool_generation = generation;
        else if (errno != EEXIST)
            break;
    }
    if (spool_generation < 0)
        return -1;
    spool.head->generation = (uint32_t)spool_generation + 1;
    spool_folder_path(path, sizeof path, spool_generation);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void spool_write_out(void)
{
    int folder = spool_open_folder();
    struct lwps_spool_chunk *chunk;
    for (uint64_t at = 0; folder >= 0 && (chunk = lwps_spool_next(&spool, &at));) {
        if (chunk->written || chunk->quiet)
            continue;
        bool complete = __atomic_load_n(&chunk->complete, __ATOMIC_ACQUIRE);
        if (lwps_spool_write(chunk, chunk->bytes, folder) == 0 && complete)
            chunk->written = 1;
    }
    if (folder >= 0)
        close(folder);
}

void lwp_own_spool_flush(void)
{
    if (spool.head && !spool_is_kept())
        spool_write_out();
}

/* ---- the writers' memory ---- */

static uint8_t *spool_take(const struct lwps_memory *memory, struct lwps_writer *writer, uint32_t need, uint32_t *size)
{
    (void)memory;
    uint8_t *at = spool.head ? lwps_spool_take(&spool, writer, need, size) : NULL;
    if (!at)
        return NULL;
    if (!spool_is_kept() && spool_now() > spool_flushed + LWP_KEEPER_STALE_NS) {
        spool_flushed = spool_now();
        spool_write_out();
    }
    return at;
}

const struct lwps_memory *lwp_own_spool_memory(void)
{
    static const struct lwps_memory memory = {spool_take};
    return &memory;
}
