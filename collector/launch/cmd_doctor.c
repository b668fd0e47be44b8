/* lwp doctor: what lwp can measure on this machine, and for each thing it cannot the one command that would fix it.
 * Every line is the result of a probe. */
#include "base/columns.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/launch/checks.h"

#include <jansson.h>
#include <stdio.h>

static const struct lwp_option doctor_options[] = {
    {.name = "json", .kind = LWP_OPT_FLAG, .help = "print the checks as JSON"},
    {0},
};

static void doctor_print_json(const struct lwp_check *checks, const struct lwp_check *chosen)
{
    json_t *list = json_array();
    for (size_t i = 0; i < LWP_CHECKS; i++)
        json_array_append_new(list, json_pack("{s:s, s:b, s:s, s:s?, s:s?}", "name", checks[i].name, "good", checks[i].good,
                                              "found", checks[i].found, "remedy", checks[i].remedy, "engine",
                                              checks[i].engine));
    json_t *whole = json_pack("{s:s, s:b, s:s?, s:s?, s:o}", "schema", "lwp-doctor", "able", chosen != NULL, "engine",
                              chosen ? chosen->engine : NULL, "samples_by", chosen ? chosen->name : NULL, "checks", list);
    json_dumpf(whole, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(whole);
}

static void doctor_print_row(const struct lwp_check *check)
{
    enum { RIGHT = 32, NARROW = 70, BELOW = 8, ARROW = 3 };
    const int columns = lwp_columns(stdout), at = columns < NARROW ? BELOW : RIGHT;
    int used = printf("%-4s %-26s ", check->good ? "yes" : "no", check->name);
    if (at < used)
        printf("\n%*s", at, "");
    lwp_wrap(stdout, check->found, at, at, columns);
    if (check->remedy) {
        printf("%*s-> ", at, "");
        lwp_wrap(stdout, check->remedy, at + ARROW, at + ARROW, columns);
    }
}

static void doctor_print(const struct lwp_check *checks, const struct lwp_check *chosen)
{
    puts("What samples, in the order in which lwp collect tries it:\n");
    for (size_t i = 0; i < LWP_CHECKS; i++)
        if (checks[i].engine)
            doctor_print_row(&checks[i]);
    puts("\nWhat else it can use, and what stands in the way:\n");
    for (size_t i = 0; i < LWP_CHECKS; i++)
        if (!checks[i].engine)
            doctor_print_row(&checks[i]);
    char verdict[200] = "lwp collect cannot sample here; mend one of the lines above.";
    if (chosen)
        snprintf(verdict, sizeof verdict, "lwp collect works here: the %s engine samples (%s).", chosen->engine, chosen->name);
    putchar('\n');
    lwp_wrap(stdout, verdict, 0, 0, lwp_columns(stdout));
}

static int doctor_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    if (options.operands != argc) {
        lwp_log(LWP_LOG_ERROR, "doctor: takes no arguments, but got '%s'", argv[options.operands]);
        return LWP_WRONG_USE;
    }
    struct lwp_check checks[LWP_CHECKS] = {0};
    lwp_checks_make(checks);
    const struct lwp_check *chosen = lwp_checks_chosen(checks);
    if (lwp_options_flag(&options, "json"))
        doctor_print_json(checks, chosen);
    else
        doctor_print(checks, chosen);
    return chosen ? 0 : 1;
}

const struct lwp_command lwp_cmd_doctor = {
    .name = "doctor",
    .usage = "[--json]",
    .summary = "report what lwp can measure on this machine, and how to fix what it cannot",
    .details = "Exit status: 0 if lwp collect works here, 1 if it does not, 125 wrong usage.",
    .options = doctor_options,
    .run = doctor_run,
};
