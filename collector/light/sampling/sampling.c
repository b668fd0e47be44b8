#include "collector/light/sampling/sampling.h"

struct lwp_sampling lwp_sampling;
