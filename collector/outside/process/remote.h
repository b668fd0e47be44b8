/* Another process as a program whose code is followed: its code, what of its memory is as it was, its modules. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_REMOTE_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_REMOTE_H

#include "base/hash.h"
#include "collector/code/program.h"
#include "collector/outside/process/image.h"
#include "collector/outside/process/mappings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_function_symbols;

struct lwp_remote_module {
    struct lwp_image image;
    char *path;                             /* as the process sees it */
    bool elf;                               /* the file was found and is one */
    bool gone;                              /* unmapped */
    struct lwp_function_symbols *functions; /* of a file without unwind table; read when first needed */
    bool functions_read;
};

enum { LWP_REMOTE_PAGE = 4096 };

struct lwp_remote {
    struct lwp_program program; /* the first member: what is followed in collector/code */
    pid_t pid;                  /* its first thread, or another one when that has ended */
    bool unreadable;            /* its memory; its files are */
    bool past;                  /* it ran some time, perhaps elsewhere: only its files are there */
    bool follows_links;         /* for now, memory as it is now is taken for what a thread finds */
    struct lwp_mappings mappings;
    struct lwp_remote_module *modules;
    size_t module_count, module_room;
    size_t last_module; /* that was looked up */
    struct lwp_map page_index;
    uint8_t (*pages)[LWP_REMOTE_PAGE];
    size_t page_count, page_room;
    uint8_t code[32];
    /* of the sample that is looked at: its stack from the stack pointer on, as it was */
    const uint8_t *stack;
    uint64_t stack_start, stack_bytes;
};

void lwp_remote_init(struct lwp_remote *remote, pid_t pid);
void lwp_remote_fini(struct lwp_remote *remote);

/* Reads the mappings again; new files become modules, those that are gone are marked. False: the process has ended or may not be
 * looked at: then, if nothing is known of it yet, `recorded` is taken (NULL: nothing). */
bool lwp_remote_refresh(struct lwp_remote *remote, const struct lwp_mappings *recorded);

/* A module that somebody knows of, in place of what lies there. `elf`: its file may be read. */
void lwp_remote_put_module(struct lwp_remote *remote, const struct lwp_image *image, const char *path, bool elf);

/* NULL: none is there. */
struct lwp_remote_module *lwp_remote_module_at(struct lwp_remote *remote, uint64_t address);

/* Opens a file of the process as it sees it. -1: not possible. */
int lwp_remote_open(const struct lwp_remote *remote, const char *path);

/* What cannot change, nor has: code and constants. */
bool lwp_remote_constant(struct lwp_remote *remote, uint64_t address, void *to, size_t bytes);

/* As it is now. */
bool lwp_remote_now(struct lwp_remote *remote, uint64_t address, void *to, size_t bytes);

/* As the thread left it, on its stack. */
bool lwp_remote_stack(const struct lwp_remote *remote, uint64_t address, void *to, size_t bytes);

/* Whether code is mapped there. */
bool lwp_remote_is_code(struct lwp_remote *remote, uint64_t ip);

/* Where the function around `ip` begins; `ip` itself when that is not known. */
uint64_t lwp_remote_function_start(struct lwp_remote *remote, uint64_t ip);

#endif
