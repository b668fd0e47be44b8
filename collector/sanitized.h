/* Whether a program was built with a sanitizer whose runtime tolerates no library before it. */
#ifndef LWP_COLLECTOR_SANITIZED_H
#define LWP_COLLECTOR_SANITIZED_H

/* The option it was built with ("-fsanitize=thread"), or NULL, also for what is no 64-bit ELF file. Only pread, and 3 KiB of
 * stack: also for a child of vfork. */
const char *lwp_sanitized(int fd);

#endif
