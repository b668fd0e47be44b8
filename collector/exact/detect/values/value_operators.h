/* What operators of VEX do, as far as value numbering has to know. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_OPERATORS_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_OPERATORS_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

/* Where the 8-byte lanes of the result come from. Widening with zeros, narrowing and the like only pass values on. */
enum lwp_ir_shape {
    LWP_IR_MIXED,      /* each of all operands */
    LWP_IR_LANEWISE,   /* of the operands' same lanes */
    LWP_IR_LOW_64,     /* the lowest is computed, the others are the first operand's */
    LWP_IR_LOW_32,     /* the same, with the lower half of the lowest */
    LWP_IR_LANE,       /* from lane `lane` of the operand on */
    LWP_IR_JOIN,       /* the operands' lanes, the last one's first */
    LWP_IR_TO_32,
    LWP_IR_TO_16,
    LWP_IR_TO_8,
    LWP_IR_TO_HIGH,    /* the upper 4 bytes of 8 */
    LWP_IR_WIDEN,
    LWP_IR_PAIR,       /* 8 bytes: the upper 4, the lower 4 */
    LWP_IR_ZEROS_64,   /* the operand's lowest lane and zeros */
    LWP_IR_ZEROS_32,
    LWP_IR_SET_64,     /* the first operand with its lowest lane from the second */
    LWP_IR_SET_32,
    LWP_IR_LOWS,       /* the low lanes of the second and the first operand */
    LWP_IR_HIGHS,
};

struct lwp_ir_operator {
    enum lwp_ir_shape shape;
    unsigned lane;
    bool computes; /* arithmetic or logic, not a conversion of width, a comparison, a rearrangement */
    bool adds;     /* adds or subtracts integers */
    bool commutes;
};

struct lwp_ir_operator lwp_ir_operator(IROp operation);

#endif
