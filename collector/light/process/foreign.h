/* Programs that cannot bear lwp's library: what executes them leaves it out of LD_PRELOAD. For children of vfork, too: only
 * system calls, some 3 KiB of stack and the length of PATH, no memory of its own. errno stays. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_FOREIGN_H
#define LWP_COLLECTOR_LIGHT_PROCESS_FOREIGN_H

#include <stddef.h>

/* Pointers of room for the environment without lwp's library, where the file that would be executed cannot bear it. 0: it is to
 * get the environment as it is, also where the file cannot be looked at. */
size_t lwp_foreign(int at, const char *path, int flags, char *const environment[]);
size_t lwp_foreign_in_path(const char *file, char *const environment[]);

/* Fills `room`, of as many pointers, and returns it. What else is in LD_PRELOAD stays. */
char *const *lwp_foreign_environment(char *const environment[], char **room, size_t count);

/* From now on nothing is looked at: the program may be killed for it (seccomp). */
void lwp_foreign_leave(void);

#endif
