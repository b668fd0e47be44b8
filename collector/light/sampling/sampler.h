/* The sampling of threads, by timers or by hardware: what the rest of the library asks for. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLER_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLER_H

#include "collector/light/own/thread.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct lwp_sampler_options; /* sampling.h */

/* Once per process. False with a sentence in `note` when nothing can sample here; `note` may also say which fall-back is used. */
bool lwp_sampler_init(const struct lwp_sampler_options *options, char *note, unsigned note_bytes);

/* Starts and stops sampling thread `self->tid` (the calling thread, or another one of this process at start-up), and
 * says so in `self->attached`, before the first tick. */
bool lwp_sampler_attach(struct lwp_thread *self);
void lwp_sampler_refuse(void); /* counts a thread that is not sampled for want of files or memory */
void lwp_sampler_detach(struct lwp_thread *self);

/* In the child of a fork, before attaching again: forget the parent's events. */
void lwp_sampler_forget(struct lwp_thread *self);

/* The calling thread neither samples by hardware nor has watchpoints until it is resumed. */
void lwp_sampler_pause(struct lwp_thread *self);
void lwp_sampler_resume(struct lwp_thread *self);

/* For the signal handler: whether a signal is one of ours (signals.c chains the others to the program's own handler), and what is
 * done with those. */
bool lwp_sampler_owns(int signal, const siginfo_t *info);
void lwp_sampler_handler(int signal, siginfo_t *info, void *ucontext);

/* Writes what could not be sampled to the process's notes, at its end; returns the samples that the kernel lost. */
uint64_t lwp_sampler_finish(void);

/* Whether sampling may as well begin later: it is by time alone. */
bool lwp_sampler_can_wait(void);

/* The signal the sampler needs, 0: none; the program must not be able to block or ignore it. */
int lwp_sampler_signal(void);

#endif
