/* Man pages, written from the same rows as --help. */
#include "base/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text for mdoc: backslashes doubled, a leading dot or quote hidden, each sentence on a line of its own, an empty line as
 * a paragraph. */
static void manual_text(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && *text == '\n') {
            fputs(".Pp\n", stdout);
            continue;
        }
        if (start && *text == ' ')
            continue;
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        start = *text == '\n';
        if ((*text == '.' || *text == '?') && text[1] == ' ') {
            putchar('\n');
            start = true;
        }
    }
    if (!start)
        putchar('\n');
}

static void manual_head(const char *title)
{
    printf(".Dd November 20, 2026\n.Dt ");
    for (const char *c = title; *c; c++)
        putchar(toupper((unsigned char)*c));
    printf(" 1\n.Os\n.Sh NAME\n.Nm %s\n", title);
}

/* The summary without a final full stop, as mandoc wants it. */
static void manual_description(const char *summary)
{
    printf(".Nd %s\n", summary);
}

static void manual_option(const struct lwp_option *row)
{
    printf(".It ");
    if (row->letter)
        printf("Fl %c , ", row->letter);
    printf("Fl \\-%s", row->name);
    if (row->kind != LWP_OPT_FLAG)
        printf(row->alone ? " Ns Op Ns = Ns Ar %s" : " Ar %s", row->argument);
    putchar('\n');
    manual_text(row->help);
    if (row->kind == LWP_OPT_CHOICE) {
        printf("One of ");
        manual_text(row->choices);
    }
    if (row->initial)
        printf("[%s]\n", row->initial);
}

void lwp_command_manual(const struct lwp_command *command)
{
    char title[64];
    snprintf(title, sizeof title, "lwp-%s", command->name);
    manual_head(title);
    manual_description(command->summary);
    printf(".Sh SYNOPSIS\n.Nm lwp %s\n", command->name);
    manual_text(command->usage);
    printf(".Sh DESCRIPTION\n");
    printf("This command can\n");
    manual_text(command->summary);
    if (command->details) {
        printf(".Pp\n");
        manual_text(command->details);
    }
    printf(".Pp\nThe options are:\n.Bl -tag -width Ds\n");
    for (const struct lwp_option *row = command->options; row && row->name; row++)
        manual_option(row);
    printf(".It Fl h , Fl \\-help\nshow a summary of this page\n.El\n.Sh SEE ALSO\n.Xr lwp 1\n");
}

void lwp_overview_manual(const struct lwp_command *const *commands)
{
    manual_head("lwp");
    manual_description("find data structures that are laid out wrong, and what to change");
    printf(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op options\n.Ar ...\n.Sh DESCRIPTION\n"
           "Runs an unmodified, optimised program once and says which of its data structures are laid out wrong,\n"
           "what they should look like instead, and what that will bring.\nStart with\n.Dl lwp collect ./app args\n"
           "The commands are:\n.Bl -tag -width Ds\n");
    for (; *commands; commands++) {
        printf(".It Cm %s\n", (*commands)->name);
        manual_text((*commands)->summary);
    }
    printf(".El\n.Sh SEE ALSO\n");
    printf(".Xr perf 1\n");
}
