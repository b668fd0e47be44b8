/* Until loops and types are read, every answer is "unknown". */
#include "analysis/types.h"
#include "analysis/type_cache.h"
void code_types_free(struct code_types *types) { (void)types; }
const struct lwp_type *lwp_types_of_static(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t *elements)
{ (void)code; (void)module; (void)address; *elements = 0; return NULL; }
size_t lwp_types_at_access(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_candidate *candidates, size_t room)
{ (void)code; (void)module; (void)address; (void)candidates; (void)room; return 0; }
size_t lwp_types_at_call(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_candidate *candidates, size_t room)
{ (void)code; (void)module; (void)address; (void)candidates; (void)room; return 0; }
const struct lwp_type *lwp_types_of_stack(struct lwp_code *code, uint32_t module, uint64_t address, int64_t offset,
                                          const char **variable, int64_t *start, uint64_t *bytes, uint64_t *elements)
{ (void)code; (void)module; (void)address; (void)offset; *variable = NULL; *start = 0; *bytes = *elements = 0; return NULL; }
