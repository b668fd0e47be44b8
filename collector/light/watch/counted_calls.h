/* How many calls the calling thread has made that use memory nobody tells of: any of it. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_COUNTED_CALLS_H
#define LWP_COLLECTOR_LIGHT_WATCH_COUNTED_CALLS_H

#include <stdint.h>

extern __thread uint32_t lwp_counted_calls __attribute__((visibility("hidden")));

#endif
