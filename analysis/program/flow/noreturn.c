/* Functions that never come back, so that code behind a call to one is not taken to follow it: those of the C, C++
 * and Rust libraries by name, others when they are small and hold no return and no way out. */
#include "analysis/program/flow/cfg.h"

#include "analysis/program/flow/decode.h"

#include <string.h>

enum { NORETURN_BYTES_LIMIT = 2048 };

static bool noreturn_name(const char *name)
{
    static const char names[] =
        "abort exit _exit _Exit quick_exit longjmp _longjmp siglongjmp __longjmp_chk __stack_chk_fail __chk_fail "
        "__fortify_fail __assert_fail __assert_perror_fail __assert err errx verr verrx pthread_exit __cxa_throw "
        "__cxa_rethrow __cxa_bad_cast __cxa_bad_typeid __cxa_throw_bad_array_new_length _Unwind_Resume "
        "__cxa_pure_virtual _ZSt9terminatev __clang_call_terminate _gfortran_stop_string _gfortran_stop_numeric "
        "_gfortran_error_stop_string _gfortran_runtime_error _gfortran_runtime_error_at _gfortran_os_error "
        "rust_begin_unwind __ubsan_handle_builtin_unreachable";
    return code_is_one_of(name, names) || (!strncmp(name, "_ZSt", 4) && strstr(name, "__throw_")) ||
           strstr(name, "4core9panicking") || strstr(name, "unwrap_failed");
}

/* No return, no jump out of it, no computed jump, no way over its end. */
static bool noreturn_body(struct code_module *module, struct code_range range)
{
    if (range.high - range.low > NORETURN_BYTES_LIMIT)
        return false;
    bool falls_out = true;
    for (uint64_t address = range.low; address < range.high;) {
        size_t available;
        const uint8_t *bytes = code_bytes(module, address, &available);
        if (available > range.high - address)
            available = range.high - address;
        struct code_instruction decoded = code_decode(bytes, available, address, false);
        bool outside = decoded.target < range.low || decoded.target >= range.high;
        if (!decoded.length || decoded.flow == CODE_FLOW_INDIRECT ||
            ((decoded.flow == CODE_FLOW_JUMP || decoded.flow == CODE_FLOW_BRANCH) && outside))
            return false;
        if (decoded.flow == CODE_FLOW_END &&
            (bytes[0] == 0xc3 || bytes[0] == 0xc2 || bytes[0] == 0xf2 || bytes[0] == 0xf3)) /* ret, not a trap */
            return false;
        address += decoded.length;
        falls_out = decoded.flow == CODE_FLOW_NEXT || decoded.flow == CODE_FLOW_BRANCH;
    }
    return !falls_out;
}

bool cfg_never_returns(struct code_module *module, uint64_t target, uint64_t slot)
{
    const char *name = slot ? code_import_at_slot(module, slot) : NULL;
    if (!target)
        return name && noreturn_name(name);
    uint32_t *answer = lwp_map_at(module->noreturn, target);
    if (*answer != LWP_MAP_NONE)
        return *answer;
    struct code_range range;
    bool found = code_function_at(module, target, &range, &name);
    if (!name && (name = code_import_at_stub(module, target)))
        *answer = noreturn_name(name);
    else
        *answer = found && ((name && noreturn_name(name)) || (range.low == target && noreturn_body(module, range)));
    return *answer;
}
