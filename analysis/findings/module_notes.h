/* What a person should know about the files behind a run's code. */
#ifndef LWP_ANALYSIS_FINDINGS_MODULE_NOTES_H
#define LWP_ANALYSIS_FINDINGS_MODULE_NOTES_H

#include "analysis/profile/profile.h"

void lwp_module_notes(struct lwp_profile *profile);

#endif
