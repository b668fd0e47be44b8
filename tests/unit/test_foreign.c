/* A file that is executed again and again is read once; one that may have changed is read anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "collector/light/process/foreign.c"

static unsigned reads;

const char *lwp_sanitized(int fd)
{
    (void)fd;
    reads++;
    return NULL;
}

bool lwp_confinement_came(void)
{
    return false;
}

static char folder[] = "/tmp/lwp-foreign-XXXXXX", library[sizeof folder + 32], variable[sizeof library + 32], program[sizeof folder + 32];

static void copy(const char *from, const char *to)
{
    char bytes[4096];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t got; (got = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)got), got);
    close(in);
    close(out);
}

static void executes(const char *path)
{
    char *environment[] = {variable, NULL};
    assert_int_equal(lwp_foreign(AT_FDCWD, path, 0, environment), 0);
}

static void the_same_file_is_read_once(void **state)
{
    (void)state;
    reads = 0;
    for (int time = 0; time < 3; time++)
        executes("/bin/true");
    assert_int_equal(reads, 1);
    executes("/bin/false");
    executes("/bin/true");
    assert_int_equal(reads, 3);
}

static void a_fresh_file_is_read_each_time(void **state)
{
    (void)state;
    reads = 0;
    copy("/bin/true", program);
    executes(program);
    copy("/bin/true", program);
    executes(program);
    assert_int_equal(reads, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_file_is_read_once), cmocka_unit_test(a_fresh_file_is_read_each_time)};
    if (!mkdtemp(folder))
        return 1;
    snprintf(library, sizeof library, "%s/liblwp-light.so", folder);
    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", library);
    snprintf(program, sizeof program, "%s/program", folder);
    copy("/bin/true", library);
    int failed = cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
    unlink(library);
    unlink(program);
    rmdir(folder);
    return failed;
}
