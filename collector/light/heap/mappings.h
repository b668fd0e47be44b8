/* Memory that comes, goes or loses what was in it other than through the allocator. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_MAPPINGS_H
#define LWP_COLLECTOR_LIGHT_HEAP_MAPPINGS_H

void lwp_mappings_resolve(void); /* finds mmap and munmap; before, they are bare system calls */

#endif
