/* Makes code, says so as compilers do for perf (KIND: map, dump, fifo), and runs it for SECONDS of CPU time: nine tenths in "hot". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* long sum(const long *numbers, long count) */
static const uint8_t sum[] = {0x31, 0xc0, 0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3};

enum { PLACE = 256, NUMBERS = 1 << 18 };

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void dump_function(FILE *file, uint64_t address, uint64_t index, const char *name)
{
    struct {
        uint32_t kind, bytes;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, address, size, index;
    } record = {0,
                (uint32_t)(sizeof record + strlen(name) + 1 + sizeof sum),
                now_ns(CLOCK_MONOTONIC),
                (uint32_t)getpid(),
                (uint32_t)getpid(),
                address,
                address,
                sizeof sum,
                index};
    fwrite(&record, sizeof record, 1, file);
    fwrite(name, strlen(name) + 1, 1, file);
    fwrite(sum, sizeof sum, 1, file);
}

static void dump(uint64_t hot, uint64_t cold)
{
    struct {
        uint32_t magic, version, bytes, machine, padding, pid;
        uint64_t time, flags;
    } head = {0x4a695444, 1, sizeof head, 62, 0, (uint32_t)getpid(), now_ns(CLOCK_MONOTONIC), 0};
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", getpid());
    FILE *file = fopen(path, "w+");
    fwrite(&head, sizeof head, 1, file);
    dump_function(file, hot, 1, "hot <b>&");
    dump_function(file, cold, 2, "cold");
    fflush(file);
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0); /* for perf to find it by */
}

int main(int count, char **arguments)
{
    (void)count;
    long (*hot)(const long *numbers, long numbers_count), (*cold)(const long *numbers, long numbers_count), result = 0;
    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long *numbers = calloc(NUMBERS, sizeof *numbers);
    char path[64];
    memcpy(code, sum, sizeof sum);
    memcpy(code + PLACE, sum, sizeof sum);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    *(void **)&hot = code;
    *(void **)&cold = code + PLACE;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    if (strcmp(arguments[1], "dump") == 0) {
        dump((uint64_t)code, (uint64_t)code + PLACE);
    } else if (strcmp(arguments[1], "fifo") == 0) {
        mkfifo(path, 0600);
    } else {
        FILE *map = fopen(path, "w");
        fprintf(map, "%lx %zx hot <b>&\n%lx %zx cold\n", (unsigned long)code, sizeof sum, (unsigned long)code + PLACE, sizeof sum);
        fclose(map);
    }
    uint64_t until = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(atof(arguments[2]) * 1e9);
    while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < until) {
        for (int i = 0; i < 9; i++)
            result += hot(numbers, NUMBERS);
        result += cold(numbers, NUMBERS);
    }
    return result != 0;
}
