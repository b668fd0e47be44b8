/* In whose code a signal may not set anything up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/process/held_locks.c"

#include <string.h>

static bool held_at(uint64_t ip)
{
    ucontext_t context;
    memset(&context, 0, sizeof context);
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
    return lwp_held_locks_are(&context);
}

/* All executable bytes of a module. */
struct module {
    const char *name;
    uint64_t low, high;
};

static int module_find(struct dl_phdr_info *info, size_t bytes, void *of)
{
    struct module *module = of;
    (void)bytes;
    if (!strstr(info->dlpi_name, module->name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            module->low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            module->high = module->low + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void test_code(void **state)
{
    (void)state;
    struct module loader = {.name = "/ld-linux"}, libc = {.name = "/libc.so"}, cmocka = {.name = "libcmocka"};
    assert_true(lwp_held_locks_start());
    dl_iterate_phdr(module_find, &loader);
    dl_iterate_phdr(module_find, &libc);
    dl_iterate_phdr(module_find, &cmocka);
    assert_true(loader.low && libc.low && cmocka.low);
    assert_true(held_at(loader.low) && held_at((loader.low + loader.high) / 2) && held_at(loader.high - 1));
    assert_true(held_at(libc.low) && held_at(libc.high - 1));
    assert_false(held_at(cmocka.low));
    lwp_held_locks_fork(true);
    assert_true(held_at(cmocka.low));
    lwp_held_locks_fork(false);
    assert_false(held_at(cmocka.low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
