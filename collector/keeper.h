/* How a process hands the memory with its samples (format/spool.h) to lwp collect: one datagram with the memory's descriptor. */
#ifndef LWP_COLLECTOR_KEEPER_H
#define LWP_COLLECTOR_KEEPER_H

#include <stdint.h>

struct lwp_keeper_message {
    uint32_t magic;
    int32_t pid;
};

enum { LWP_KEEPER_MAGIC = 0x6c77706d, LWP_KEEPER_STALE_NS = 3000000000 };

/* The memory's name, which shows in /proc/PID/maps who still writes to a result: its folder's device and inode follow. */
#define LWP_KEEPER_MEMORY "lwp-samples:%llx:%llx"

#endif
