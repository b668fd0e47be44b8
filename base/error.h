/* One error value: a status from the list below and one sentence a user can act on.
 * Library code fills it and returns the (negative) status; only commands print it and exit. */
#ifndef LWP_BASE_ERROR_H
#define LWP_BASE_ERROR_H

enum lwp_status {
    LWP_OK = 0,
    LWP_ERR_USAGE = -1,    /* the command line or an argument is wrong */
    LWP_ERR_SYSTEM = -2,   /* a system call failed; the sentence holds errno's text */
    LWP_ERR_MEMORY = -3,
    LWP_ERR_FORMAT = -4,   /* a file is damaged or not ours */
    LWP_ERR_NEWER = -5,    /* a file from a newer lwp */
    LWP_ERR_MISSING = -6,  /* something asked for is not there */
    LWP_ERR_LIMIT = -7,    /* a bound was reached */
};

enum { LWP_ERROR_TEXT = 512 };

struct lwp_error {
    int status;
    char text[LWP_ERROR_TEXT];
};

/* Sets `err` (may be NULL) and returns `status`, so that callers can write `return lwp_error_set(...)`. */
int lwp_error_set(struct lwp_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with ": <strerror(errno)>" appended; status LWP_ERR_SYSTEM. */
int lwp_error_errno(struct lwp_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports on stderr that there is no memory and ends the process: the only place in library code that does, because callers
 * could only pass the error on. Not for the preload library and the exact engine, which run in the user's process. */
_Noreturn void lwp_out_of_memory(void);

#endif
