/* What the program's calls come through most often, and what they look at: together in a cache line (of the allocator's functions) and in
 * few pages, as the program's own data and the kernel push it out of the caches and of the TLB in between. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_HOT_H
#define LWP_COLLECTOR_LIGHT_OWN_HOT_H

#define LWP_HOT       __attribute__((section("lwp_hot")))
#define LWP_HOT_FIRST __attribute__((section("lwp_hot"), aligned(64))) /* in the order of files */
#define LWP_HOT_CODE  __attribute__((section(".text.hot")))

/* Arrays that a process which is never set up does not use: behind all else (Makefile.in has the linker sort by name), as what such a
 * process writes would be in a page of its own each, between them. */
#define LWP_LARGE __attribute__((section(".bss.large")))

#endif
