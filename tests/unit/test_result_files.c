/* In which order processes and threads of a result are read: as they were made, whatever their ids are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/load/result_files.h"
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[64];

static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lwp-files-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* A file of the result; the exact engine has `wall` only. */
static void put(const char *process, const char *name, uint64_t start, uint64_t wall)
{
    char path[200];
    struct lwps_writer writer = {0};
    snprintf(path, sizeof path, "%s/%s", folder, process);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s.lwps", folder, process, name);
    assert_int_equal(lwps_writer_open(&writer, path, &(struct lwps_file){.engine = LWPS_ENGINE_EXACT,
                                                                        .weight_unit = LWPS_WEIGHT_SIMULATED_CYCLES,
                                                                        .start_ns = start, .start_wall_ns = wall}),
                     0);
    lwps_writer_close(&writer);
}

static void put_text(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* "" or the names of the processes, or of the files of the first one, each with a space behind. */
static void assert_order(const char *processes, const char *files)
{
    struct lwp_profile profile;
    struct lwp_inputs inputs = {0};
    struct lwp_error err;
    const char *dir = folder;
    char text[400] = "";
    lwp_profile_init(&profile);
    assert_int_equal(lwp_inputs_find(&profile, &dir, 1, &inputs, &err), 0);
    for (size_t i = 0; *processes && i < inputs.count; i++)
        strcat(strcat(text, inputs.items[i].shown), " ");
    for (size_t i = 0; *files && i < inputs.items[0].file_count; i++)
        strcat(strcat(text, inputs.items[0].files[i]), " ");
    assert_string_equal(text, *files ? files : processes);
    lwp_inputs_free(&inputs);
    lwp_profile_fini(&profile);
}

static void test_numbers(void **state)
{
    (void)state;
    put("p9998", "process", 1, 1), put("p10001", "process", 2, 2), put("p9999", "process", 2, 2);
    put("p9999.10", "process", 5, 5), put("p9999.2", "process", 4, 4);
    assert_order("p9998 p9999 p9999.2 p9999.10 p10001 ", "");
}

static void test_begin_again(void **state)
{
    (void)state;
    put("p32760", "process", 0, 10), put("p32765", "process", 0, 12), put("p310", "process", 0, 20), put("p305", "process", 0, 30);
    assert_order("p32760 p32765 p305 p310 ", "");
}

static void test_many_between(void **state)
{
    (void)state;
    put("p400", "process", 10, 1), put("p30000", "process", 20, 1), put("p30001", "process", 19, 1);
    assert_order("p400 p30000 p30001 ", "");
}

static void test_made_together(void **state)
{
    (void)state;
    put("p101", "process", 10, 1), put("p100", "process", 20, 1);
    assert_order("p100 p101 ", "");
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const names[] = {"process", "t301", "t32766", "t32767", "t1000", "t301.1", "t0", "t0.2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put("p32766", names[i], 0, 100 - i);
    assert_order("", "t0.lwps t0.2.lwps t32766.lwps t32767.lwps t301.lwps t301.1.lwps t1000.lwps ");
}

static void test_ranks(void **state)
{
    (void)state;
    put("p32760", "process", 30, 1), put("p300", "process", 31, 1), put("p500", "process", 10, 1), put("p32700", "process", 9, 1);
    put_text("run.json", "{}");
    put_text("run.0.json", "{\"folders\": [\"p300\", \"p32760\"]}");
    put_text("run.1.json", "{\"folders\": [\"p32700\", \"p500\"]}");
    assert_order("p32760 p300 p32700 p500 ", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, make, clean),
        cmocka_unit_test_setup_teardown(test_begin_again, make, clean),
        cmocka_unit_test_setup_teardown(test_many_between, make, clean),
        cmocka_unit_test_setup_teardown(test_made_together, make, clean),
        cmocka_unit_test_setup_teardown(test_threads, make, clean),
        cmocka_unit_test_setup_teardown(test_ranks, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
