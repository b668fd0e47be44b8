/* Until loops and types are read, every answer is "unknown". */
#include "analysis/code_loops.h"
uint32_t code_loop_at(struct code_module *module, struct code_range function, uint64_t address)
{ (void)module; (void)function; (void)address; return LWP_NONE; }
void code_flow_free(struct code_flow *flow) { (void)flow; }
uint32_t lwp_code_loop_count(const struct lwp_code *code) { return (uint32_t)code->loop_count; }
const struct lwp_loop *lwp_code_loop(const struct lwp_code *code, uint32_t loop) { return loop < code->loop_count ? &code->loops[loop] : NULL; }
