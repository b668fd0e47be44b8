/* A clock for programs that are to do the same in each run: linked to one, it tells how often a thread has asked. */
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static __thread long asked;
    (void)clock;
    asked++;
    *time = (struct timespec){.tv_sec = asked / 1000, .tv_nsec = asked % 1000 * 1000000};
    return 0;
}
