/* One event is "accesses,code[,leader]", a code "type,config,config1,config2,precise,kernel" in hexadecimal numbers;
 * the cost unit comes first, and semicolons between. */
#include "collector/perf/event.h"

#include <stdio.h>
#include <stdlib.h>

enum { CODE_NUMBERS = 6, EVENT_NUMBERS = 1 + 2 * CODE_NUMBERS };

struct lwp_pmu_period lwp_pmu_period(const struct lwp_pmu_events *events, unsigned event)
{
    static const struct lwp_pmu_period software = {1, 1, 1}, loads = {1009, 101, 1}, stores = {20011, 1009, 1},
                                     operations = {1 << 18, 1 << 12, 16};
    if (events->unit != LWPS_WEIGHT_CYCLES)
        return software;
    switch (events->event[event].accesses) {
    case LWP_PMU_LOADS: /* that waited */
        return loads;
    case LWP_PMU_STORES:
        return stores;
    default:
        return operations;
    }
}

static void event_to_numbers(const struct lwp_pmu_code *code, uint64_t *numbers)
{
    numbers[0] = code->type;
    numbers[1] = code->config;
    numbers[2] = code->config1;
    numbers[3] = code->config2;
    numbers[4] = code->precise_ip;
    numbers[5] = code->kernel_too;
}

static bool event_from_numbers(const uint64_t *numbers, struct lwp_pmu_code *code)
{
    *code = (struct lwp_pmu_code){.type = (uint32_t)numbers[0],
                                  .config = numbers[1],
                                  .config1 = numbers[2],
                                  .config2 = numbers[3],
                                  .precise_ip = (uint8_t)numbers[4],
                                  .kernel_too = numbers[5] == 1};
    return numbers[0] <= UINT32_MAX && numbers[4] <= 3 && numbers[5] <= 1;
}

bool lwp_pmu_events_print(const struct lwp_pmu_events *events, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "%x", (unsigned)events->unit);
    for (unsigned i = 0; i < events->count; i++) {
        const struct lwp_pmu_event *event = &events->event[i];
        uint64_t numbers[EVENT_NUMBERS] = {event->accesses};
        unsigned count = event->has_leader ? EVENT_NUMBERS : 1 + CODE_NUMBERS;
        event_to_numbers(&event->code, numbers + 1);
        event_to_numbers(&event->leader, numbers + 1 + CODE_NUMBERS);
        for (unsigned k = 0; k < count && used < room; k++)
            used += (size_t)snprintf(text + used, room - used, "%c%llx", k ? ',' : ';', (unsigned long long)numbers[k]);
    }
    return used < room;
}

bool lwp_pmu_events_parse(const char *text, struct lwp_pmu_events *events)
{
    char *at;
    *events = (struct lwp_pmu_events){.unit = (enum lwps_weight_unit)strtoul(text, &at, 16)};
    if (events->unit != LWPS_WEIGHT_CYCLES && events->unit != LWPS_WEIGHT_EVENTS)
        return false;
    while (*at == ';' && events->count < LWP_PMU_EVENTS_MAX) {
        struct lwp_pmu_event *event = &events->event[events->count++];
        uint64_t numbers[EVENT_NUMBERS] = {0};
        unsigned count = 0;
        do {
            const char *from = at + 1;
            numbers[count++] = strtoull(from, &at, 16);
            if (at == from)
                return false;
        } while (*at == ',' && count < EVENT_NUMBERS);
        *event = (struct lwp_pmu_event){.accesses = (uint8_t)numbers[0], .has_leader = count == EVENT_NUMBERS};
        if ((count != EVENT_NUMBERS && count != 1 + CODE_NUMBERS) || numbers[0] < 1 || numbers[0] > 3 ||
            !event_from_numbers(numbers + 1, &event->code) ||
            !event_from_numbers(numbers + 1 + CODE_NUMBERS, &event->leader))
            return false;
    }
    return !*at && events->count;
}
