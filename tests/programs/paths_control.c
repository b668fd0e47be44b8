/* Unwinds at every allocation, as a control of what lwp says of call paths: preloaded behind lwp's library, so that it sees the
 * same calls in the same process. At exit it writes to PATHS_CONTROL.PID, for each path and size, how many there were:
 * COUNT SIZE IP/FUNCTION...   innermost first, without its own frame. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FRAMES = 400, PATHS = 1 << 17, WORDS = 1 << 24 };

struct path {
    uint64_t hash, size, count;
    uint32_t at, frames;
};

static struct path *paths;
static uint64_t *words;
static uint32_t words_used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static int begun;
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static char early[1 << 16];
static size_t early_used;

static void begin(void)
{
    void *frames[8];
    unw_backtrace(frames, 8);
    begun = 1;
    if (!getenv("PATHS_CONTROL"))
        return;
    words = mmap(NULL, WORDS * sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    paths = mmap(NULL, PATHS * sizeof *paths, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void note(size_t size)
{
    void *ips[FRAMES];
    if (inside)
        return;
    inside = 1;
    if (!begun)
        begin();
    if (!paths) {
        inside = 0;
        return;
    }
    int count = unw_backtrace(ips, FRAMES), first = 1;
    uint64_t hash = size + 1;
    for (int i = first; i < count; i++)
        hash = (hash ^ (uint64_t)ips[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 31;
    pthread_mutex_lock(&lock);
    uint32_t at = (uint32_t)(hash & (PATHS - 1));
    while (paths[at].count && paths[at].hash != hash)
        at = (at + 1) & (PATHS - 1);
    if (!paths[at].count && words_used + (uint32_t)count < WORDS) {
        paths[at] = (struct path){hash, size, 0, words_used, (uint32_t)(count - first)};
        memcpy(words + words_used, ips + first, (size_t)(count - first) * sizeof *words);
        words_used += (uint32_t)(count - first);
    }
    paths[at].count++;
    pthread_mutex_unlock(&lock);
    inside = 0;
}

static uint64_t function_of(uint64_t ip)
{
    unw_proc_info_t info;
    return unw_get_proc_info_by_ip(unw_local_addr_space, ip - 1, &info, NULL) ? ip : info.start_ip;
}

__attribute__((destructor)) static void finish(void)
{
    char name[4096];
    inside = 1;
    if (!paths)
        return;
    snprintf(name, sizeof name, "%s.%d", getenv("PATHS_CONTROL"), getpid());
    FILE *file = fopen(name, "w");
    for (uint32_t i = 0; file && i < PATHS; i++) {
        if (!paths[i].count)
            continue;
        fprintf(file, "%lu %lu", paths[i].count, paths[i].size);
        for (uint32_t k = 0; k < paths[i].frames; k++)
            fprintf(file, " %lx/%lx", words[paths[i].at + k], function_of(words[paths[i].at + k]));
        fprintf(file, "\n");
    }
    if (file)
        fclose(file);
}

#define FIND(name) \
    if (!real_##name) \
        real_##name = (__typeof__(real_##name))dlsym(RTLD_NEXT, #name)

void *malloc(size_t size)
{
    note(size);
    FIND(malloc);
    return real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    static __thread int finding;
    if (finding) { /* dlsym's own */
        void *block = early + early_used;
        early_used += (count * size + 15) & ~(size_t)15;
        return block;
    }
    finding = 1;
    FIND(calloc);
    finding = 0;
    note(count * size);
    return real_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    note(size);
    FIND(realloc);
    return real_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    note(size);
    FIND(posix_memalign);
    return real_posix_memalign(block, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note(size);
    FIND(aligned_alloc);
    return real_aligned_alloc(alignment, size);
}
