/* Writes a made-up result directory with the real writer: as many processes, threads, samples and objects as asked for.
 *
 * The program that "ran" is this binary itself, so that functions, lines and loops are looked up in real code: the
 * accesses lie at real instructions of the loops below. Objects are blocks and pools with a call path each, used with
 * the skew of Zipf's law, as names and blocks of real programs are; each sample has one to five accesses close
 * together, as the timer engine has, or one to as many as asked for. The same seed gives the same samples; what each object should get is counted on
 * the side.
 *
 * Usage: synthetic DIR PROCESSES THREADS SAMPLES OBJECTS [ACCESSES]: threads of each process, samples and objects in all. Every
 * process has the same objects, as the ranks of one program do. */
#include "bench/synthetic.h"

#include "format/seal.h"
#include "format/writer.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SITES = 20, /* call sites in each function of an allocation path: SITES ^ SYNTHETIC_FRAMES paths */
    BLOCK_BYTES = 64 << 10,
    ELEMENT_BYTES = 64,
    PATHS = 12,            /* call paths of each thread */
    POOL_EVERY = 8,        /* every eighth object is a pool */
    ALLOCATED_NS = 1000000 /* all blocks are there when the first sample comes */
};

static const uint64_t heap = 0x7e0000000000;

/* ---- code that samples point into ---- */

struct element {
    uint64_t field[ELEMENT_BYTES / 8];
};

struct synthetic_instruction {
    uint64_t address;
    uint64_t field;
};

/* Reads a field, and notes the address of the instruction that does. */
#define READ(sum, element, number)                                                                                     \
    __asm__ volatile("1: add %2, %0\n.pushsection synthetic_ips,\"aw\"\n.quad 1b, %c3\n.popsection"                    \
                     : "=r"(sum)                                                                                       \
                     : "0"(sum), "m"((element)->field[number]), "i"(number))

#define LOOP(name, a, b)                                                                                               \
    __attribute__((noinline, noclone)) uint64_t synthetic_##name(const struct element *elements, size_t count);        \
    uint64_t synthetic_##name(const struct element *elements, size_t count)                                            \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            READ(sum, elements + i, a);                                                                                \
            READ(sum, elements + i, b);                                                                                \
        }                                                                                                              \
        for (size_t i = 0; i < count; i++)                                                                             \
            READ(sum, elements + i, 7);                                                                                \
        return sum;                                                                                                    \
    }

LOOP(a, 0, 1)
LOOP(b, 0, 2)
LOOP(c, 1, 3)
LOOP(d, 4, 5)
LOOP(e, 2, 6)
LOOP(f, 0, 5)
LOOP(g, 3, 4)
LOOP(h, 1, 6)
enum { LOOPS = 8, PER_LOOP = 3 };

extern struct synthetic_instruction __start_synthetic_ips[], __stop_synthetic_ips[];

/* Functions of an allocation path: nothing but room for call sites. */
#define FRAME(name)                                                                                                    \
    __attribute__((noinline, noclone)) void synthetic_##name(void);                                                    \
    void synthetic_##name(void)                                                                                        \
    {                                                                                                                  \
        __asm__ volatile(".skip 256, 0x90");                                                                           \
    }
FRAME(main)
FRAME(phase)
FRAME(build)
FRAME(make)
static void (*const frames[SYNTHETIC_FRAMES])(void) = {synthetic_main, synthetic_phase, synthetic_build,
                                                       synthetic_make};

/* Return address of call site `site` in a frame. */
static uint64_t synthetic_site(int frame, unsigned site)
{
    return (uint64_t)(uintptr_t)frames[frame] + 16 + site * 8;
}

/* ---- numbers ---- */

static uint64_t synthetic_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t synthetic_pick(uint64_t *state, uint32_t objects)
{
    double u = (double)(synthetic_random(state) >> 11) / 9007199254740992.0;
    uint32_t object = (uint32_t)pow(objects, u) - 1;
    object = (uint32_t)((uint64_t)object * 2654435761u % objects); /* the popular ones anywhere */
    return object < objects ? object : objects - 1;
}

static bool synthetic_is_pool(uint32_t object)
{
    return object % POOL_EVERY == POOL_EVERY - 1;
}

static uint64_t synthetic_base(uint32_t object)
{
    return heap + (uint64_t)object * BLOCK_BYTES;
}

/* ---- files ---- */

static int synthetic_module(struct dl_phdr_info *info, size_t size, void *to)
{
    (void)size;
    struct lwps_module *module = to;
    module->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (!module->start || start < module->start)
            module->start = start;
        if (end > module->end)
            module->end = end;
    }
    return 1; /* the first is the program itself */
}

/* A moment after this binary was made: a program that was built after it ran is not trusted. */
static uint64_t synthetic_built_ns(void)
{
    struct stat info;
    return stat("/proc/self/exe", &info) == 0 ? ((uint64_t)info.st_mtim.tv_sec + 2) * 1000000000u : 1;
}

static int synthetic_open(struct lwps_writer *writer, const char *folder, const char *name, uint32_t pid, uint32_t tid)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct lwps_file file = {.engine = LWPS_ENGINE_TIMER,
                             .weight_unit = LWPS_WEIGHT_NS,
                             .pid = pid,
                             .tid = tid,
                             .start_ns = 1000,
                             .start_wall_ns = synthetic_built_ns() + tid};
    *writer = (struct lwps_writer){0};
    return lwps_writer_open(writer, path, &file);
}

static int synthetic_close(struct lwps_writer *writer, const struct synthetic *wanted)
{
    struct lwp_error err;
    lwps_writer_close(writer);
    return wanted->sealed ? lwps_seal(writer->path, &err) : 0;
}

static int synthetic_process(const char *folder, uint32_t pid, const struct synthetic *wanted)
{
    struct lwps_writer writer;
    struct lwps_module module = {.id = 1, .time = 1000};
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 ||
        synthetic_open(&writer, folder, "process.lwps", pid, 0))
        return -1;
    module.path = self;
    dl_iterate_phdr(synthetic_module, &module);
    lwps_put_process(&writer, &(struct lwps_process){.pid = pid, .command = "./synthetic", .command_bytes = 12});
    lwps_put_module(&writer, &module);
    /* A tree of call paths: the digits of an object's number in base SITES. */
    uint32_t *nodes = calloc((size_t)wanted->objects * SYNTHETIC_FRAMES + SITES + 1, sizeof *nodes), next = 1,
             pools = 0, blocks = 0;
    for (uint32_t object = 0; nodes && object < wanted->objects; object++) {
        uint32_t parent = 0;
        uint64_t below = 1;
        for (int frame = 0; frame < SYNTHETIC_FRAMES - 1; frame++)
            below *= SITES;
        for (int frame = 0; frame < SYNTHETIC_FRAMES; frame++, below /= SITES) {
            bool again = object && object / below == (object - 1) / below;
            if (!again) {
                lwps_put_context(&writer, &(struct lwps_context){.id = next,
                                                                 .parent = parent,
                                                                 .ip = synthetic_site(frame, object / below % SITES)});
                nodes[frame] = next++;
            }
            parent = nodes[frame];
        }
        if (synthetic_is_pool(object)) {
            lwps_put_pool(&writer, &(struct lwps_pool){.id = ++pools, .context = parent, .size = ELEMENT_BYTES});
            lwps_put_pool_count(
                &writer,
                &(struct lwps_pool_count){.id = pools, .allocations = 1024, .peak_blocks = 1024, .bytes = BLOCK_BYTES});
        } else {
            lwps_put_block(&writer, &(struct lwps_block){.id = ++blocks,
                                                         .kind = LWPS_BLOCK_HEAP,
                                                         .context = parent,
                                                         .time = ALLOCATED_NS,
                                                         .address = synthetic_base(object),
                                                         .size = BLOCK_BYTES});
        }
    }
    lwps_put_totals(&writer, &(struct lwps_totals){.time = 2 * ALLOCATED_NS, .user_ns = 1000000000});
    free(nodes);
    return synthetic_close(&writer, wanted);
}

static int synthetic_thread(const char *folder, uint32_t pid, uint32_t tid, uint64_t samples, uint64_t seed,
                            const struct synthetic *wanted)
{
    struct lwps_writer writer;
    char name[40];
    snprintf(name, sizeof name, "t%u.lwps", tid);
    if (synthetic_open(&writer, folder, name, pid, tid))
        return -1;
    lwps_put_thread(&writer,
                    &(struct lwps_thread){
                        .tid = tid, .stack_low = 0x7fff00000000, .stack_high = 0x7fff00100000, .name = "synthetic"});
    for (uint32_t i = 1; i <= PATHS; i++)
        lwps_put_context(
            &writer, &(struct lwps_context){.id = i, .parent = i / 3, .ip = synthetic_site(i / 3 ? 1 + i % 3 : 0, i)});
    const struct synthetic_instruction *code = __start_synthetic_ips;
    uint64_t random = seed * 1000003 + tid;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t dice = synthetic_random(&random);
        uint32_t object = synthetic_pick(&random, wanted->objects);
        unsigned loop = object % LOOPS * PER_LOOP;
        struct lwps_sample sample = {.time = 2 * ALLOCATED_NS + i * 1000000 + (dice >> 40) % 1000 * 1000,
                                     .weight = 500000 + (dice >> 20) % 1000 * 1000,
                                     .context = 1 + (uint32_t)(dice % PATHS),
                                     .kind = dice >> 8 & 3 ? LWPS_SAMPLE_STALL : LWPS_SAMPLE_COMPUTE};
        sample.access_count = (uint8_t)(1 + (dice >> 12) % (wanted->accesses ? wanted->accesses : 5));
        uint64_t element = (dice >> 32) % (BLOCK_BYTES / ELEMENT_BYTES - 8);
        for (unsigned a = 0; a < sample.access_count; a++) {
            const struct synthetic_instruction *at = &code[loop + (a + (dice >> 16)) % PER_LOOP];
            uint64_t address = synthetic_base(object) + (element + a) * ELEMENT_BYTES + at->field * 8;
            bool weighted = a == 0 && sample.kind == LWPS_SAMPLE_STALL;
            sample.access[a] = (struct lwps_access){.ip = at->address,
                                                    .address = address,
                                                    .bytes = 8,
                                                    .flags = LWPS_ACCESS_LOAD | LWPS_ACCESS_KNOWN |
                                                             (weighted ? LWPS_ACCESS_WEIGHTED : 0),
                                                    .source = weighted ? LWPS_SOURCE_FORWARD : LWPS_SOURCE_DITHERED};
            if (synthetic_is_pool(object)) {
                sample.access[a].home = LWPS_HOME_POOL;
                sample.access[a].home_id = object / POOL_EVERY + 1;
                sample.access[a].home_base = synthetic_base(object) + (element + a) * ELEMENT_BYTES;
            }
            if (wanted->truth) {
                wanted->truth[object].accesses++;
                if (weighted)
                    wanted->truth[object].weight += sample.weight;
            }
        }
        sample.ip = sample.access[0].ip;
        lwps_put_sample(&writer, &sample);
    }
    lwps_put_thread_end(&writer, &(struct lwps_thread_end){.time = 2 * ALLOCATED_NS + samples * 1000000});
    return synthetic_close(&writer, wanted);
}

uint64_t lwp_synthetic_call(uint32_t object, int frame)
{
    struct lwps_module module = {0};
    dl_iterate_phdr(synthetic_module, &module);
    for (int below = SYNTHETIC_FRAMES - 1; below > frame; below--)
        object /= SITES;
    return synthetic_site(frame, object % SITES) - module.bias;
}

int lwp_synthetic_write(const struct synthetic *wanted)
{
    char folder[512];
    if (mkdir(wanted->dir, 0777) && errno != EEXIST)
        return -1;
    for (uint32_t process = 0; process < wanted->processes; process++) {
        snprintf(folder, sizeof folder, "%s/p%u", wanted->dir, 1000 + process);
        if (mkdir(folder, 0777) || synthetic_process(folder, 1000 + process, wanted))
            return -1;
        for (uint32_t thread = 0; thread < wanted->threads; thread++) {
            uint64_t part = wanted->samples / ((uint64_t)wanted->processes * wanted->threads);
            if (process == 0 && thread == 0)
                part += wanted->samples % ((uint64_t)wanted->processes * wanted->threads);
            if (synthetic_thread(folder, 1000 + process, 1000 + process + thread, part, process + 1, wanted))
                return -1;
        }
    }
    return 0;
}
