/* What the program says of itself by LWP_BEGIN() and LWP_END() of lwp.h. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_REGION_H
#define LWP_COLLECTOR_LIGHT_PROCESS_REGION_H

/* For all threads, until it says otherwise. The program finds it by its name. */
void lwp_mark(unsigned long begins);

#endif
