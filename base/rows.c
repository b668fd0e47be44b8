/* Commands and options as plain lines, for what completes command lines: completion/ asks for them. */
#include "base/command.h"

#include <stdio.h>

static void rows_option(const char *dashes, const char *name, const struct lwp_option *row)
{
    printf("%s%s ", dashes, name);
    if (row->kind == LWP_OPT_FLAG)
        putchar('-');
    else if (row->kind == LWP_OPT_CHOICE)
        fputs(row->choices, stdout);
    else
        printf("%s%s", row->alone ? "=" : "", row->argument);
    printf(" %s\n", row->help);
}

void lwp_command_rows(const struct lwp_command *command)
{
    for (const struct lwp_option *row = command->options; row && row->name; row++) {
        const char letter[] = {row->letter, '\0'};
        if (row->letter)
            rows_option("-", letter, row);
        rows_option("--", row->name, row);
    }
    puts("-h - show help\n--help - show help");
}

void lwp_overview_rows(const struct lwp_command *const *commands)
{
    for (; *commands; commands++)
        printf("%s %s\n", (*commands)->name, (*commands)->summary);
    puts("help explain a command");
}
