/* The alternate stack that a thread has from lwp, and who has it next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/own_stack.c"
#include "tests/unit/refuse.h"

/* The sanitizer's own alternate stacks would be in the way. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "use_sigaltstack=0";
}

struct seen {
    pthread_t self;
    const struct lwp_own_stack *stack;
    stack_t before, during, after; /* as the kernel has it */
    pid_t tid, real;
    bool has, has_after;
};

static void *one(void *of)
{
    struct seen *seen = of;
    seen->self = pthread_self();
    syscall(SYS_sigaltstack, NULL, &seen->before);
    if (!lwp_own_stack_begin())
        return NULL;
    seen->stack = lwp_own_stack_self;
    seen->tid = seen->stack->tid;
    seen->real = (pid_t)syscall(SYS_gettid);
    seen->has = lwp_own_stack_has(seen->real);
    syscall(SYS_sigaltstack, NULL, &seen->during);
    lwp_own_stack_end();
    seen->has_after = lwp_own_stack_has(seen->real);
    syscall(SYS_sigaltstack, NULL, &seen->after);
    return NULL;
}

static struct seen run(void)
{
    pthread_t thread;
    struct seen seen = {0};
    assert_int_equal(pthread_create(&thread, NULL, one, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_non_null(seen.stack);
    assert_true(seen.before.ss_flags & SS_DISABLE);
    assert_ptr_equal(seen.during.ss_sp, lwp_own_stack_ours(seen.stack).ss_sp);
    assert_int_equal(seen.tid, seen.real);
    assert_true(seen.has);
    assert_false(seen.has_after);
    return seen;
}

static unsigned made(void)
{
    unsigned count = 0;
    for (const struct lwp_own_stack *stack = stacks; stack; stack = stack->next)
        count++;
    return count;
}

/* A thread that ended keeps it, or has none any more; never one that another thread can get. */
static void threads_with_the_same_memory_take_it_over(void **state)
{
    (void)state;
    enum { THREADS = 200 };
    struct seen last = run();
    for (int i = 0; i < THREADS; i++) {
        struct seen now = run();
        bool kept = !(last.after.ss_flags & SS_DISABLE);
        if (now.self == last.self && kept)
            assert_ptr_equal(now.stack, last.stack);
        if (now.self != last.self && kept)
            assert_ptr_not_equal(now.stack, last.stack);
        last = now;
    }
    assert_in_range(made(), 1, KEPT_MOST);
}

static void *begin_and_end(void *refused)
{
    *(bool *)refused = refuse_call(SYS_arch_prctl);
    if (!lwp_own_stack_begin())
        return NULL;
    struct lwp_own_stack *stack = lwp_own_stack_self;
    lwp_own_stack_end();
    return stack->fs_base == (uint64_t)pthread_self() && stack->used == KEPT ? stack : NULL;
}

/* Where the processor does not say it either, each question costs the kernel's answer. */
static void beginning_and_end_do_not_ask_for_the_thread_pointer(void **state)
{
    (void)state;
    pthread_t thread;
    bool refused = false;
    void *stack = NULL;
    memset(stacks_kept, 0, sizeof stacks_kept); /* no other thread has its place */
    assert_int_equal(pthread_create(&thread, NULL, begin_and_end, &refused), 0);
    assert_int_equal(pthread_join(thread, &stack), 0);
    if (!refused)
        skip();
    assert_non_null(stack);
}

static void after_fork_all_others_are_free(void **state)
{
    (void)state;
    assert_true(lwp_own_stack_begin());
    run();
    lwp_own_stack_after_fork();
    for (const struct lwp_own_stack *stack = stacks; stack; stack = stack->next)
        assert_int_equal(stack->used, stack == lwp_own_stack_self ? USED : FREE);
    for (unsigned i = 0; i < KEPT_MOST; i++)
        assert_null(stacks_kept[i]);
    assert_true(lwp_own_stack_has((pid_t)syscall(SYS_gettid)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_the_same_memory_take_it_over),
        cmocka_unit_test(beginning_and_end_do_not_ask_for_the_thread_pointer),
        cmocka_unit_test(after_fork_all_others_are_free),
    };
    return cmocka_run_group_tests_name("own_stack", tests, NULL, NULL);
}
