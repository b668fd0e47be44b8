#include "base/command.h"

#include "base/arena.h"
#include "base/columns.h"
#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t command_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], la = strlen(a), lb = strlen(b);
    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[lb];
}

const char *lwp_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t distance = 3;
    for (; *names; names++) {
        size_t d = command_distance(word, *names);
        if (d < distance) {
            distance = d;
            best = *names;
        }
    }
    return best;
}

static int option_unknown(const struct lwp_command *command, const char *word, struct lwp_error *err)
{
    const char *names[LWP_OPTIONS_MAX + 2];
    size_t count = 0;
    for (const struct lwp_option *row = command->options; row && row->name; row++)
        names[count++] = row->name;
    names[count++] = "help";
    names[count] = NULL;
    const char *bare = word;
    while (*bare == '-')
        bare++;
    const char *near = word[1] == '-' ? lwp_nearest(bare, names) : NULL;
    if (near)
        return lwp_error_set(err, LWP_ERR_USAGE, "%s: unknown option '%s'; did you mean '--%s'?", command->name, word, near);
    return lwp_error_set(err, LWP_ERR_USAGE, "%s: unknown option '%s'; 'lwp help %s' lists them", command->name, word, command->name);
}

/* `name`: as it was given. */
static int option_check(const struct lwp_command *command, const struct lwp_option *row, const char *name, const char *value,
                        struct lwp_error *err)
{
    if (row->kind == LWP_OPT_NUMBER) {
        char *end;
        double number = strtod(value, &end);
        bool decimal = strspn(value, "-.0123456789") && !strpbrk(value, "xX") && *end == '\0';
        if (!decimal || !isfinite(number) || number < row->min || number > row->max)
            return lwp_error_set(err, LWP_ERR_USAGE, "%s: %s wants a number from %.15g to %.15g, not '%s'", command->name, name,
                                 row->min, row->max, value);
    } else if (row->kind == LWP_OPT_CHOICE) {
        size_t length = strlen(value);
        for (const char *choice = row->choices; choice; choice = strchr(choice, '|')) {
            choice += *choice == '|';
            if (length && strcspn(choice, "|") == length && strncmp(choice, value, length) == 0)
                return LWP_OK;
        }
        return lwp_error_set(err, LWP_ERR_USAGE, "%s: %s wants one of %s, not '%s'", command->name, name, row->choices, value);
    }
    return LWP_OK;
}

static int option_default(const struct lwp_command *command, const struct lwp_option *row, const char **value, struct lwp_error *err)
{
    const char *variable = row->variable ? getenv(row->variable) : NULL;
    bool set = variable && *variable;
    *value = set ? variable : row->initial;
    return set ? option_check(command, row, row->variable, variable, err) : LWP_OK;
}

static const struct lwp_option *option_find(const struct lwp_command *command, const char *word, const char **attached)
{
    *attached = NULL;
    for (const struct lwp_option *row = command->options; row && row->name; row++) {
        if (word[1] == '-') {
            size_t length = strlen(row->name);
            if (strncmp(word + 2, row->name, length) == 0 && (word[2 + length] == '\0' || word[2 + length] == '=')) {
                if (word[2 + length] == '=')
                    *attached = word + 3 + length;
                return row;
            }
        } else if (row->letter && word[1] == row->letter) {
            if (word[2])
                *attached = word + 2;
            return row;
        }
    }
    return NULL;
}

int lwp_options_parse(struct lwp_options *options, const struct lwp_command *command, int argc, char **argv, struct lwp_error *err)
{
    *options = (struct lwp_options){.rows = command->options};
    for (const struct lwp_option *row = command->options; row && row->name; row++)
        if (option_default(command, row, &options->value[row - command->options], err))
            return err->status;

    char **rest = lwp_zeroed((size_t)argc, sizeof *rest);
    int kept = 0, used = 0, i = 1, status = LWP_OK; /* argv[1..used] becomes the options, then the operands follow */
    while (i < argc) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (command->stops_at_first)
                break;
            rest[kept++] = argv[i++];
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            options->help = true;
            i++;
            continue;
        }
        const char *value;
        const struct lwp_option *row = option_find(command, word, &value);
        if (!row || (row->kind == LWP_OPT_FLAG && value)) {
            status = option_unknown(command, word, err);
            goto out;
        }
        if (row->kind == LWP_OPT_FLAG) {
            value = "1";
        } else if (!value && row->alone) {
            value = row->alone;
        } else if (!value) {
            if (i + 1 >= argc) {
                status = lwp_error_set(err, LWP_ERR_USAGE, "%s: --%s needs %s after it", command->name, row->name, row->argument);
                goto out;
            }
            value = argv[++i];
        }
        char name[64];
        snprintf(name, sizeof name, "--%s", row->name);
        status = option_check(command, row, name, value, err);
        if (status)
            goto out;
        options->value[row - command->options] = value;
        options->given[row - command->options] = true;
        i++;
    }
    while (i < argc)
        rest[kept++] = argv[i++];
    used = argc - kept;
    for (int k = 0; k < kept; k++)
        argv[used + k] = rest[k];
    options->operands = used;
out:
    free(rest);
    return status;
}

static int option_index(const struct lwp_options *options, const char *name)
{
    for (int i = 0;; i++) {
        assert(options->rows[i].name); /* asked for by a name that is not in the table */
        if (strcmp(options->rows[i].name, name) == 0)
            return i;
    }
}

const char *lwp_options_text(const struct lwp_options *options, const char *name)
{
    return options->value[option_index(options, name)];
}

double lwp_options_number(const struct lwp_options *options, const char *name)
{
    const char *value = lwp_options_text(options, name);
    return value ? strtod(value, NULL) : 0;
}

bool lwp_options_flag(const struct lwp_options *options, const char *name)
{
    return lwp_options_text(options, name) != NULL;
}

bool lwp_options_given(const struct lwp_options *options, const char *name)
{
    return options->given[option_index(options, name)];
}

/* What is known of an option on the right of its name, or below it where that is long. */
static void help_option(const char *name, const char *text, int columns)
{
    enum { RIGHT = 30, NARROW = 70, BELOW = 10 };
    int indent = columns < NARROW ? BELOW : RIGHT, used = printf("%s", name);
    if (used + 1 > indent) {
        putchar('\n');
        used = 0;
    }
    printf("%*s", indent - used, "");
    lwp_wrap(stdout, text, indent, indent, columns);
}

void lwp_command_help(const struct lwp_command *command)
{
    int columns = lwp_columns(stdout), indent = printf("Usage: lwp %s ", command->name);
    lwp_wrap(stdout, command->usage, indent, indent, columns);
    putchar('\n');
    char summary[256];
    snprintf(summary, sizeof summary, "%s.", command->summary);
    lwp_wrap(stdout, summary, 0, 0, columns);
    if (command->details) {
        putchar('\n');
        lwp_wrap_paragraphs(stdout, command->details, columns);
    }
    printf("\nOptions:\n");
    for (const struct lwp_option *row = command->options; row && row->name; row++) {
        char left[64], text[1024];
        int used = row->letter ? snprintf(left, sizeof left, "  -%c, --%s", row->letter, row->name)
                               : snprintf(left, sizeof left, "      --%s", row->name);
        if (row->kind != LWP_OPT_FLAG && used > 0 && (size_t)used < sizeof left)
            snprintf(left + used, sizeof left - (size_t)used, row->alone ? "[=%s]" : " %s", row->argument);
        bool choice = row->kind == LWP_OPT_CHOICE;
        snprintf(text, sizeof text, "%s%s%s%s%s%s%s", row->help, choice ? " (" : "", choice ? row->choices : "", choice ? ")" : "",
                 row->initial ? " [" : "", row->initial ? row->initial : "", row->initial ? "]" : "");
        help_option(left, text, columns);
    }
    help_option("  -h, --help", "show this text", columns);
}

bool lwp_command_begin(struct lwp_options *options, const struct lwp_command *self, int argc, char **argv, int *exit_status)
{
    struct lwp_error err;
    if (lwp_options_parse(options, self, argc, argv, &err)) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        *exit_status = LWP_WRONG_USE;
        return false;
    }
    if (options->help) {
        lwp_command_help(self);
        *exit_status = 0;
        return false;
    }
    return true;
}
