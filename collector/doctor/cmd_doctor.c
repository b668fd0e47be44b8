/* lwp doctor: what lwp can measure on this machine, and for each thing it cannot the one command that would fix it.
 * Every line is the result of a probe. */
#include "base/columns.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/doctor/checks.h"
#include "collector/machine/machine.h"
#include "collector/perf/events.h"
#include "collector/perf/probe.h"
#include "collector/perf/self_test.h"

#include <jansson.h>
#include <stdio.h>

static const struct lwp_option doctor_options[] = {
    {.name = "json", .kind = LWP_OPT_FLAG, .help = "print the checks as JSON"},
    {.name = "self-test",
     .kind = LWP_OPT_FLAG,
     .help = "sample loops whose addresses, cache levels and latencies are known, and say whether the samples are right"},
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

/* ---- lwp doctor --self-test ---- */

struct doctor_answer {
    const char *name;
    enum lwp_self_verdict verdict;
    char text[LWP_ERROR_TEXT];
};

static const char *const doctor_verdicts[] = {[LWP_SELF_RIGHT] = "right", [LWP_SELF_WRONG] = "wrong", [LWP_SELF_UNKNOWN] = "unknown"};

static uint64_t doctor_cache(const struct lwp_machine *machine, unsigned level, uint64_t otherwise)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].level == level || (!level && machine->caches[i].bytes > bytes))
            bytes = machine->caches[i].bytes;
    return bytes ? bytes : otherwise;
}

/* Loads of any latency: the first level's, too. False: the PMU does not sample here. */
static bool doctor_pmu(struct lwp_self_samples samples[LWP_SELF_LOOPS], char *text, size_t room)
{
    enum { ANY_LATENCY = 3, L1 = 32 << 10, L2 = 1 << 20, LAST = 32 << 20 };
    struct lwp_machine machine;
    struct lwp_pmu_cpu cpu;
    struct lwp_pmu_events events;
    struct lwp_error err;
    lwp_machine_read(&machine, "");
    lwp_pmu_cpu_here(&cpu);
    if (lwp_pmu_events_find("/sys/bus/event_source/devices", &cpu, ANY_LATENCY, &events, &err)) {
        snprintf(text, room, "%.*s", (int)room - 1, err.text);
        return false;
    }
    const struct lwp_self_sizes sizes = {doctor_cache(&machine, 1, L1), doctor_cache(&machine, 2, L2), doctor_cache(&machine, 0, LAST)};
    int why = lwp_pmu_probe(&events);
    why = why ? why : lwp_self_run(&events, &sizes, (1u << LWP_SELF_FAULTS) - 1, samples);
    snprintf(text, room, "%s", why ? lwp_pmu_probe_text(why) : "");
    return !why;
}

static void doctor_print_answers(const struct doctor_answer *answers, unsigned count, bool json)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++) {
        const char *verdict = doctor_verdicts[answers[i].verdict];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", answers[i].name, "verdict", verdict, "found", answers[i].text));
        if (!json) {
            printf("%-8s %-26s ", verdict, answers[i].name);
            lwp_wrap(stdout, answers[i].text, 36, 36, lwp_columns(stdout));
        }
    }
    if (json) {
        json_t *whole = json_pack("{s:s, s:O}", "schema", "lwp-self-test", "answers", list);
        json_dumpf(whole, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(whole);
    }
    json_decref(list);
}

/* 0: all that the PMU says is right. */
static int doctor_self_test(bool json)
{
    static struct lwp_self_samples samples[LWP_SELF_LOOPS];
    struct doctor_answer answers[LWP_SELF_QUESTIONS + 1];
    struct lwp_pmu_events faults;
    unsigned count = 0, right = 0;
    char why[LWP_ERROR_TEXT - 32];
    bool pmu = doctor_pmu(samples, why, sizeof why);
    if (!pmu) {
        answers[count] = (struct doctor_answer){.name = "PEBS or IBS", .verdict = LWP_SELF_UNKNOWN};
        snprintf(answers[count++].text, sizeof answers->text, "cannot be tested: %s", why);
    }
    for (unsigned i = 0; pmu && i < LWP_SELF_OF_FAULTS; i++, count++) {
        answers[count].name = lwp_self_question_name((enum lwp_self_question)i);
        answers[count].verdict = lwp_self_judge(samples, (enum lwp_self_question)i, answers[count].text, sizeof answers->text);
        right += answers[count].verdict == LWP_SELF_RIGHT;
    }
    lwp_pmu_events_of_faults(&faults);
    answers[count].name = lwp_self_question_name(LWP_SELF_OF_FAULTS);
    answers[count].verdict = LWP_SELF_UNKNOWN;
    int status = lwp_self_run(&faults, &(struct lwp_self_sizes){0}, 1u << LWP_SELF_FAULTS, samples);
    if (status)
        snprintf(answers[count].text, sizeof answers->text, "%s", lwp_pmu_probe_text(status));
    else
        answers[count].verdict = lwp_self_judge(samples, LWP_SELF_OF_FAULTS, answers[count].text, sizeof answers->text);
    doctor_print_answers(answers, count + 1, json);
    return right == LWP_SELF_OF_FAULTS && answers[count].verdict != LWP_SELF_WRONG ? 0 : 1;
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
    if (lwp_options_flag(&options, "self-test"))
        return doctor_self_test(lwp_options_flag(&options, "json"));
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
    .usage = "[--json] [--self-test]",
    .summary = "report what lwp can measure on this machine, and how to fix what it cannot",
    .details = "Exit status: 0 if lwp collect works here, 1 if it does not, 125 wrong usage. With --self-test: 0 if what\n"
               "the processor's PMU reports of loops with known accesses is right, 1 if something is wrong or unknown.",
    .options = doctor_options,
    .run = doctor_run,
};
