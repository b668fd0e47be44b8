/* What every call of the allocator looks at lies in one cache line: the program's own data pushes it out in between. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HOT_H
#define LWP_COLLECTOR_LIGHT_HEAP_HOT_H

#define LWP_HOT       __attribute__((section("lwp_hot")))
#define LWP_HOT_FIRST __attribute__((section("lwp_hot"), aligned(64))) /* in the order of files */

#endif
