/* The control for allocation paths: unwinds at every allocation. Preloaded behind lwp's own library, whose malloc calls this
 * one, so both see the same allocations at the same addresses. Writes $LWP_REAL_CONTROL.<pid> when the process exits:
 *
 *     path ID ADDRESS...          return addresses, innermost first; those of the preloaded libraries included
 *     count PATH SIZE ALLOCATIONS
 *     block ADDRESS SIZE PATH NS  each large one, with CLOCK_MONOTONIC
 *     map LINE                    of /proc/self/maps
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 400, LARGE = 65536, PATH_SLOTS = 1 << 20, COUNT_SLOTS = 1 << 22, BLOCKS = 1 << 20, FRAMES = 1 << 26, BUMP = 65536 };

struct path {
    uint64_t hash;
    uint32_t first, depth; /* in control_frames */
};
struct count {
    uint32_t path_plus_one;
    uint64_t size, allocations;
};
struct block {
    uint64_t address, size, ns;
    uint32_t path;
};

static struct path *control_paths;
static struct count *control_counts;
static struct block *control_blocks;
static uint64_t *control_frames;
static uint32_t control_frames_used, control_blocks_used, control_paths_used, control_counts_used;
static uint64_t control_lost;
static pthread_mutex_t control_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool control_on;
static __thread bool control_within __attribute__((tls_model("initial-exec")));

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static void (*real_free)(void *);

/* dlsym allocates while it looks for the allocator. */
static _Alignas(16) char control_bump[BUMP];
static size_t control_bump_used;
static bool control_finding;

static void *control_bump_take(size_t size)
{
    size_t at = control_bump_used;
    control_bump_used += (size + 15) & ~(size_t)15;
    return control_bump_used <= BUMP ? control_bump + at : NULL;
}

static bool control_found(void)
{
    if (real_free)
        return true;
    if (control_finding)
        return false;
    control_finding = true;
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    control_finding = false;
    return real_free != NULL;
}

static void *control_table(size_t bytes)
{
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

/* Index of the path, or PATH_SLOTS: no room. */
static uint32_t control_path(void *const *frames, uint32_t depth)
{
    uint64_t hash = depth;
    for (uint32_t i = 0; i < depth; i++)
        hash = (hash ^ (uint64_t)frames[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    hash |= 1;
    uint32_t at = (uint32_t)(hash >> 13) % PATH_SLOTS;
    while (control_paths[at].hash && control_paths[at].hash != hash)
        at = (at + 1) % PATH_SLOTS;
    if (control_paths[at].hash)
        return at;
    if (control_paths_used > PATH_SLOTS / 4 * 3 || control_frames_used > FRAMES - DEPTH)
        return PATH_SLOTS;
    control_paths_used++;
    control_paths[at] = (struct path){.hash = hash, .first = control_frames_used, .depth = depth};
    for (uint32_t i = 0; i < depth; i++)
        control_frames[control_frames_used++] = (uint64_t)frames[i];
    return at;
}

static void control_count(uint32_t path, uint64_t size)
{
    uint64_t hash = (path * 0x9e3779b97f4a7c15u) ^ (size * 0xc2b2ae3d27d4eb4fu);
    uint32_t at = (uint32_t)(hash >> 20) % COUNT_SLOTS;
    while (control_counts[at].path_plus_one && (control_counts[at].path_plus_one != path + 1 || control_counts[at].size != size))
        at = (at + 1) % COUNT_SLOTS;
    if (!control_counts[at].path_plus_one) {
        if (control_counts_used > COUNT_SLOTS / 4 * 3) {
            control_lost++;
            return;
        }
        control_counts_used++;
        control_counts[at] = (struct count){.path_plus_one = path + 1, .size = size};
    }
    control_counts[at].allocations++;
}

static __attribute__((noinline)) void control_note(void *block, size_t size)
{
    if (!control_on || control_within || !block)
        return;
    int saved = errno;
    control_within = true;
    void *frames[DEPTH];
    int depth = backtrace(frames, DEPTH);
    pthread_mutex_lock(&control_mutex);
    uint32_t path = control_path(frames, (uint32_t)depth);
    if (path == PATH_SLOTS)
        control_lost++;
    else
        control_count(path, size);
    if (path != PATH_SLOTS && size >= LARGE && control_blocks_used < BLOCKS) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        control_blocks[control_blocks_used++] = (struct block){
            .address = (uint64_t)block, .size = size, .path = path, .ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
    }
    pthread_mutex_unlock(&control_mutex);
    control_within = false;
    errno = saved;
}

void *malloc(size_t size)
{
    if (!control_found())
        return control_bump_take(size);
    void *block = real_malloc(size);
    control_note(block, size);
    return block;
}

void *calloc(size_t count, size_t size)
{
    if (!control_found())
        return control_bump_take(count * size);
    void *block = real_calloc(count, size);
    control_note(block, count * size);
    return block;
}

static bool control_is_bump(const void *block)
{
    return (uint64_t)block - (uint64_t)control_bump < BUMP;
}

void *realloc(void *old, size_t size)
{
    if (!control_found() || control_is_bump(old)) {
        void *block = malloc(size);
        if (block && old)
            memcpy(block, old, size); /* reads on within the bump memory at most */
        return block;
    }
    void *block = real_realloc(old, size);
    control_note(block, size);
    return block;
}

void free(void *block)
{
    if (block && !control_is_bump(block) && control_found())
        real_free(block);
}

void *memalign(size_t alignment, size_t size)
{
    if (!control_found())
        return NULL;
    void *block = real_memalign(alignment, size);
    control_note(block, size);
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (!control_found())
        return NULL;
    void *block = real_memalign(alignment, size);
    control_note(block, size);
    return block;
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    if (!control_found())
        return ENOMEM;
    int saved = errno;
    void *block = real_memalign(alignment, size);
    control_note(block, size);
    errno = saved;
    if (!block)
        return ENOMEM;
    *at = block;
    return 0;
}

static void control_forked(void)
{
    pthread_mutex_init(&control_mutex, NULL);
    if (!control_counts)
        return;
    madvise(control_counts, COUNT_SLOTS * sizeof *control_counts, MADV_DONTNEED);
    control_counts_used = control_blocks_used = 0;
}

static __attribute__((constructor)) void control_start(void)
{
    if (!getenv("LWP_REAL_CONTROL") || !control_found())
        return;
    control_within = true;
    void *frames[8];
    backtrace(frames, 8); /* loads the unwinder */
    control_within = false;
    control_paths = control_table(PATH_SLOTS * sizeof *control_paths);
    control_counts = control_table(COUNT_SLOTS * sizeof *control_counts);
    control_blocks = control_table(BLOCKS * sizeof *control_blocks);
    control_frames = control_table(FRAMES * sizeof *control_frames);
    pthread_atfork(NULL, NULL, control_forked);
    control_on = control_paths && control_counts && control_blocks && control_frames;
}

static __attribute__((destructor)) void control_end(void)
{
    if (!control_on)
        return;
    control_on = false;
    control_within = true;
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", getenv("LWP_REAL_CONTROL") ? getenv("LWP_REAL_CONTROL") : "control", (int)getpid());
    FILE *out = fopen(name, "w"), *maps = fopen("/proc/self/maps", "r");
    if (!out || !maps)
        return;
    for (uint32_t i = 0; i < PATH_SLOTS; i++) {
        if (!control_paths[i].hash)
            continue;
        fprintf(out, "path %u", i);
        for (uint32_t k = 0; k < control_paths[i].depth; k++)
            fprintf(out, " %lx", control_frames[control_paths[i].first + k]);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < COUNT_SLOTS; i++)
        if (control_counts[i].path_plus_one)
            fprintf(out, "count %u %lu %lu\n", control_counts[i].path_plus_one - 1, control_counts[i].size, control_counts[i].allocations);
    for (uint32_t i = 0; i < control_blocks_used; i++)
        fprintf(out, "block %lx %lu %u %lu\n", control_blocks[i].address, control_blocks[i].size, control_blocks[i].path,
                control_blocks[i].ns);
    fprintf(out, "lost %lu\n", control_lost);
    char line[4096];
    while (fgets(line, sizeof line, maps))
        fprintf(out, "map %s", line);
    fclose(maps);
    fclose(out);
}
