/* libunwind is loaded with RTLD_LOCAL, so that its _Unwind_* cannot take the place of libgcc's in the program. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "collector/light/unwind.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stddef.h>

/* libunwind's API is macros over names with its own prefix; these are the functions behind them. */
#define UNWIND_STRING(name) UNWIND_STRING_(name)
#define UNWIND_STRING_(name) #name

static struct {
    int (*backtrace)(void **, int);
    int (*init)(unw_cursor_t *, unw_context_t *, int);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, int, unw_word_t *);
    int (*caching)(unw_addr_space_t, unw_caching_policy_t);
    unw_addr_space_t *local;
} unwind;

static bool unwind_ready;

static bool unwind_load(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    unwind.backtrace = dlsym(library, "unw_backtrace");
    unwind.init = dlsym(library, UNWIND_STRING(unw_init_local2));
    unwind.step = dlsym(library, UNWIND_STRING(unw_step));
    unwind.get = dlsym(library, UNWIND_STRING(unw_get_reg));
    unwind.caching = dlsym(library, UNWIND_STRING(unw_set_caching_policy));
    unwind.local = dlsym(library, UNWIND_STRING(unw_local_addr_space));
    return unwind.backtrace && unwind.init && unwind.step && unwind.get;
}

bool lwp_unwind_init(void)
{
    if (unwind_ready)
        return true;
    if (!unwind_load())
        return false;
    if (unwind.caching && unwind.local)
        unwind.caching(*unwind.local, UNW_CACHE_PER_THREAD);
    void *frames[LWP_FRAMES_MAX];
    unwind.backtrace(frames, LWP_FRAMES_MAX);
    unwind_ready = true;
    return true;
}

unsigned lwp_unwind_here(uint64_t *ips, unsigned room, unsigned skip)
{
    if (!unwind_ready)
        return 0;
    void *frames[LWP_FRAMES_MAX + 8];
    int most = (int)(room + skip + 1 < LWP_FRAMES_MAX + 8 ? room + skip + 1 : LWP_FRAMES_MAX + 8);
    int found = unwind.backtrace(frames, most);
    unsigned count = 0;
    for (int i = (int)skip + 1; i < found && count < room; i++)
        ips[count++] = (uint64_t)frames[i];
    return count;
}

unsigned lwp_unwind_signal(void *ucontext, uint64_t *ips, uint64_t *cfas, unsigned room)
{
    if (!unwind_ready)
        return 0;
    unw_cursor_t cursor;
    if (unwind.init(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME))
        return 0;
    unsigned count = 0;
    while (count < room && unwind.step(&cursor) > 0) {
        unw_word_t ip, sp;
        if (unwind.get(&cursor, UNW_REG_IP, &ip) || !ip || unwind.get(&cursor, UNW_REG_SP, &sp))
            break;
        if (cfas)
            cfas[count] = sp;
        ips[count++] = ip;
    }
    return count;
}
