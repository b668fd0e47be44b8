#include "collector/exact/program/detector.h"

const struct lwp_detector *lwp_detectors[LWP_DETECTORS_MOST + 1];
void (*lwp_detector_words[LWP_DETECTORS_MOST + 1])(ULong *begin, ULong *end);

void lwp_detector_add(const struct lwp_detector *detector)
{
    static unsigned count, words;
    lwp_detectors[count++] = detector;
    if (detector->words)
        lwp_detector_words[words++] = detector->words;
}
