/* Steps of a superblock while they are built: values that it has, and where they are. A value lies in the slot
 * of a register as long as it is there, so that most of what a superblock gets and puts takes no step at all. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_BUILDING_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_BUILDING_H

#include "collector/exact/detect/values/value_steps.h"
#include "collector/exact/valgrind/tool.h"

enum { LWP_BUILDING_VALUES = 4000, LWP_BUILDING_STEPS = 8000, LWP_BUILDING_NONE = 0xffff };

/* A value by its number in the superblock. */
typedef UShort lwp_value;

struct lwp_value_building {
    struct lwp_value_step *step;
    UInt count;    /* steps */
    UInt barrier;  /* steps before were done when an exit was passed: nothing about them may be changed */
    Int now;       /* statement */
    bool failed;   /* too large */
};
extern struct lwp_value_building lwp_building;

void lwp_building_start(void);

/* Until so many statements the value is used. */
void lwp_building_keep(lwp_value value, Int last);

lwp_value lwp_building_constant(ULong constant);
/* One of 4 bytes or fewer, or any. */
lwp_value lwp_building_new(UInt bytes);
/* The value of a step: `code` to _SET_LOW, of `a` and `b`; the same step gives the same value. */
lwp_value lwp_building_step(enum lwp_value_code code, UInt bytes, lwp_value a, lwp_value b, ULong key);
lwp_value lwp_building_load(UInt bytes, UInt access, UInt offset);
void lwp_building_store(lwp_value value, UInt bytes, UInt access, UInt offset);
void lwp_building_forget(UInt access, UInt bytes);
void lwp_building_computed(lwp_value value, UInt number, UInt place);

/* The instruction only loads it, or stores it. */
void lwp_building_moved(lwp_value value, bool stored, UInt access, UInt place);

/* An operator of some operands, which may be constants. `wide`: any has 8 bytes; `bytes`: of the result. */
lwp_value lwp_building_operator(ULong key, bool commutes, bool wide, UInt bytes, const lwp_value *operands, UInt count);

/* 4 bytes with zeros above. */
lwp_value lwp_building_widen(lwp_value value);
/* `bytes` 1, 2, 4: the low ones. */
lwp_value lwp_building_narrow(lwp_value value, UInt bytes);

/* What is in a register, by its slot; and what is put there. */
lwp_value lwp_building_get(UInt slot);
void lwp_building_put(UInt slot, lwp_value value);

/* A side exit. */
void lwp_building_exit(void);

#endif
