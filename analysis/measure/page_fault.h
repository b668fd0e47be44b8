/* How long does this machine take for a page that a program goes to for the first time? */
#ifndef LWP_ANALYSIS_MEASURE_PAGE_FAULT_H
#define LWP_ANALYSIS_MEASURE_PAGE_FAULT_H

/* Nanoseconds of CPU time a page of 4 KiB, with giving it back, on the pages that a program gets that does not ask for larger ones: the
 * median of several mappings. 0: not known. */
double lwp_measure_page_fault(void);

#endif
