/* What an engine did not say of its accesses, from the code. */
#ifndef LWP_ANALYSIS_LOAD_ACCESS_WIDTHS_H
#define LWP_ANALYSIS_LOAD_ACCESS_WIDTHS_H

#include "analysis/profile/profile.h"

/* Hardware samples and perf's files name an instruction and an address, not how wide the access was nor, at times,
 * whether it loaded or stored. Fills both in the streams where they are missing and the instruction can be decoded. */
void lwp_access_widths_decode(struct lwp_profile *profile);

#endif
