#include "base/cpu.h"

#include "base/clock.h"
#include "base/order.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void lwp_cpu_name(const char *root, char *name, size_t room)
{
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    *name = '\0';
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        value += strspn(value, ": \t");
        snprintf(name, room, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(file);
}

double lwp_cpu_page_fault_ns(uint64_t pages)
{
    enum { TIMES_FEW = 3, TIMES = 9, PAGE = 4096, LEAST = 64, MANY = 1024, MOST = 8192 };
    const size_t count = pages < LEAST  ? LEAST
                         : pages > MOST ? MOST
                                        : pages,
                 bytes = count * PAGE, times = count > MANY ? TIMES_FEW : TIMES;
    uint64_t took_ns[TIMES];
    for (size_t i = 0; i < times; i++) {
        char *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
            return 0;
        madvise(mapped, bytes, MADV_NOHUGEPAGE);
        const uint64_t begin = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
        for (size_t k = 0; k < count; k++)
            *(volatile char *)(mapped + k * PAGE) = 1;
        munmap(mapped, bytes); /* as every program has its pages released, at its end at the latest */
        took_ns[i] = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    LWP_SORT(took_ns, times, lwp_compare_u64);
    return (double)took_ns[times / 2] / (double)count;
}
