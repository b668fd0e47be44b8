/* lwp: finds the subcommand and runs it. */
#include "base/columns.h"
#include "base/command.h"
#include "base/log.h"
#include <config.h> /* of the build folder, whatever lies beside this file */

#include <stdio.h>
#include <string.h>

extern const struct lwp_command lwp_cmd_collect, lwp_cmd_analyze, lwp_cmd_report, lwp_cmd_annotate, lwp_cmd_serve, lwp_cmd_export,
    lwp_cmd_doctor, lwp_cmd_dump, lwp_cmd_diff, lwp_cmd_import, lwp_cmd_check, lwp_cmd_start, lwp_cmd_stop, lwp_cmd_status, lwp_cmd_patch;

static const struct lwp_command *const lwp_commands[] = {
    &lwp_cmd_collect, &lwp_cmd_analyze, &lwp_cmd_report, &lwp_cmd_annotate, &lwp_cmd_diff,
    &lwp_cmd_check,   &lwp_cmd_serve,   &lwp_cmd_export, &lwp_cmd_start,    &lwp_cmd_stop,
    &lwp_cmd_status,  &lwp_cmd_import,  &lwp_cmd_doctor, &lwp_cmd_dump,     &lwp_cmd_patch,
};

enum { COMMANDS = sizeof lwp_commands / sizeof *lwp_commands };

static const struct lwp_command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(lwp_commands[i]->name, name) == 0)
            return lwp_commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMANDS + 2];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = lwp_commands[i]->name;
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    const char *near = lwp_nearest(name, names);
    if (near)
        lwp_log(LWP_LOG_ERROR, "unknown command '%s'; did you mean 'lwp %s'?", name, near);
    else
        lwp_log(LWP_LOG_ERROR, "unknown command '%s'; 'lwp help' lists them", name);
    return LWP_WRONG_USE;
}

static void overview(const struct lwp_command *const *commands)
{
    enum { SUMMARY = 12 };
    const int columns = lwp_columns(stdout);
    lwp_wrap(stdout, "lwp finds data structures that are laid out wrong, says what to change, and what it will bring.", 0, 0, columns);
    puts("\nUsage: lwp COMMAND [options] …\n\nCommands:");
    for (; *commands; commands++) {
        printf("  %-9s ", (*commands)->name);
        lwp_wrap(stdout, (*commands)->summary, SUMMARY, SUMMARY, columns);
    }
    puts("  help      explain a command: lwp help collect\n\nStart with:  lwp collect ./app args");
}

/* Prints the command `name` with `one`, or all commands with `all` when there is no name. */
static int print_help(const char *name, void (*one)(const struct lwp_command *), void (*all)(const struct lwp_command *const *))
{
    const struct lwp_command *list[COMMANDS + 1] = {0};
    memcpy(list, lwp_commands, sizeof lwp_commands);
    const struct lwp_command *command = name ? find(name) : NULL;
    if (name && !command)
        return unknown(name);
    if (command)
        one(command);
    else
        all(list);
    return 0;
}

static int help(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "--man") == 0)
        return print_help(argv[1], lwp_command_manual, lwp_overview_manual);
    if (argc > 0 && strcmp(argv[0], "--rows") == 0)
        return print_help(argv[1], lwp_command_rows, lwp_overview_rows);
    return print_help(argc > 0 ? argv[0] : NULL, lwp_command_help, overview);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(0, argv);
        return LWP_WRONG_USE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        puts("lwp " LWP_VERSION);
        return 0;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 2, argv + 2);
    const struct lwp_command *command = find(name);
    if (!command)
        return unknown(name);
    return command->run(argc - 1, argv + 1, command);
}
