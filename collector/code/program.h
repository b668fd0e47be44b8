/* The program whose code is followed: the process that lwp is in, or another one. The one seam between both. */
#ifndef LWP_COLLECTOR_CODE_PROGRAM_H
#define LWP_COLLECTOR_CODE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory now; what the interrupted thread would find, were it alone; only what surely is as it was when that was interrupted. */
enum lwp_read { LWP_READ_NOW, LWP_READ_ALONE, LWP_READ_SURE };

struct lwp_program {
    /* `bytes` of code (32 at most, perhaps across pages) as this process reads them, valid until the next call. NULL: not readable */
    const uint8_t *(*code)(const struct lwp_program *program, uint64_t address, unsigned bytes);

    /* Copies memory; returns how many bytes. */
    size_t (*read)(const struct lwp_program *program, uint64_t address, void *to, size_t bytes, enum lwp_read how);

    /* Where the function around `ip` begins and ends; false: not known. */
    bool (*bounds)(const struct lwp_program *program, uint64_t ip, uint64_t *low, uint64_t *high);

    /* Zeroes, touched lazily. NULL: none left. Given back by munmap. */
    void *(*memory)(size_t bytes);
};

#endif
