/* The phases of a collection that `lwp start` and `lwp stop` begin and end, and how these reach lwp collect: by the socket DIR/control,
 * which takes one letter and answers with one struct. It is its user's (and root's) alone, and gone when the collection has ended. */
#ifndef LWP_COLLECTOR_PHASES_PHASES_H
#define LWP_COLLECTOR_PHASES_PHASES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#define LWP_PHASES_SOCKET "control"

enum lwp_phases_request { LWP_PHASES_START = 's', LWP_PHASES_STOP = 'p', LWP_PHASES_STATUS = '?' };

struct lwp_phases_answer {
    uint32_t magic;
    uint32_t on;
    uint64_t count;       /* of phases, the present one among them */
    uint64_t recorded_ns; /* of all of them */
};

enum { LWP_PHASES_MAGIC = 0x6c777068 };

/* Where the socket is, by way of the result directory's descriptor: a path in an address has room for 107 letters only. */
struct sockaddr_un lwp_phases_address(int folder);

/* ---- lwp collect ---- */

struct lwp_phases;

/* Listens in the result directory. `on`: the first phase has begun. NULL: the file system has no sockets; `err` says so. */
struct lwp_phases *lwp_phases_open(const char *dir, bool on, struct lwp_error *err);

/* Becomes readable when somebody asks. */
int lwp_phases_fd(const struct lwp_phases *phases);

/* Answers all who ask, and calls `change` before it answers one who began or ended a phase. Waits for nobody longer than 0.1 s. */
void lwp_phases_serve(struct lwp_phases *phases, void (*change)(void *of, bool on), void *of);

/* The same by a thread of its own, until the end. */
int lwp_phases_serve_always(struct lwp_phases *phases, void (*change)(void *of, bool on), void *of, struct lwp_error *err);

struct lwp_phases_answer lwp_phases_now(const struct lwp_phases *phases);

/* "Recorded in 2 phases, 3.1 s in all (lwp start, lwp stop).", for the report; NULL: it was always on. Owned. */
char *lwp_phases_note(const struct lwp_phases *phases);

/* Removes the socket and frees; `phases` may be NULL. */
void lwp_phases_close(struct lwp_phases *phases);

/* ---- lwp start, stop, status ---- */

/* Asks the collection in `dir`. LWP_ERR_MISSING: none runs there, and `err` says what is there. */
int lwp_phases_ask(const char *dir, enum lwp_phases_request request, struct lwp_phases_answer *answer, struct lwp_error *err);

#endif
