/* Man pages (mdoc) and the rows for completion/, printed from the same rows as --help. make appends man/<command>.mdoc, which
 * has what --help has no room for, such as examples. */
#include "base/command.h"
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char manual_exit[] = "Exit status: ";

static void manual_character(char c)
{
    if (c == '\\')
        fputs("\\e", stdout);
    else if (c == '-')
        fputs("\\-", stdout);
    else
        putchar(c);
}

/* Text up to `end`: each sentence on a line of its own, an empty line as a paragraph, an indented line as it is. */
static void manual_text(const char *text, const char *end)
{
    while (end > text && end[-1] == '\n')
        end--;
    bool start = true;
    for (; text < end; text++) {
        if (start && *text == '\n') {
            fputs(".Pp\n", stdout);
            continue;
        }
        if (start && strncmp(text, "    ", 4) == 0)
            fputs(".Dl ", stdout);
        while (start && text < end && *text == ' ')
            text++;
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        manual_character(*text);
        start = *text == '\n';
        if ((*text == '.' || *text == '?') && text[1] == ' ') {
            putchar('\n');
            start = true;
        }
    }
    if (!start)
        putchar('\n');
}

static void manual_line(const char *text)
{
    manual_text(text, text + strlen(text));
}

/* The summary of a command as a sentence. */
static void manual_sentence(const char *summary)
{
    printf("%c%s.\n", toupper((unsigned char)summary[0]), summary + 1);
}

static void manual_head(const char *title, const char *description)
{
    struct tm day = {0};
    char date[64] = LWP_DATE;
    if (strptime(LWP_DATE, "%Y-%m-%d", &day))
        strftime(date, sizeof date, "%B %-d, %Y", &day);
    printf(".Dd %s\n.Dt ", date);
    for (const char *c = title; *c; c++)
        putchar(toupper((unsigned char)*c));
    printf(" 1\n.Os lwp %s\n.Sh NAME\n.Nm %s\n.Nd %s\n", LWP_VERSION, title, description);
}

/* One word of a usage line: [options], --diff, DIR…, or | before another form. */
static void manual_usage_word(const struct lwp_command *command, const char *word, size_t length)
{
    static const char more[] = "…";
    if (*word == '|') {
        printf(".Nm lwp %s\n", command->name);
        return;
    }
    bool optional = *word == '[';
    const char *tail = "";
    if (optional)
        word++, length -= 2;
    if (length > sizeof more - 1 && strncmp(word + length - (sizeof more - 1), more, sizeof more - 1) == 0)
        tail = " ...", length -= sizeof more - 1;
    printf(".%s", optional ? "Op " : "");
    if (*word == '-') /* mdoc's Fl brings the first dash itself */
        printf("Fl %s%.*s%s\n", length > 1 ? "\\-" : "", length > 2 ? (int)length - 2 : 0, word + 2, tail);
    else
        printf("Ar %.*s%s\n", (int)length, word, tail);
}

static void manual_usage(const struct lwp_command *command)
{
    printf(".Sh SYNOPSIS\n.Nm lwp %s\n", command->name);
    for (const char *word = command->usage; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        manual_usage_word(command, word, length);
        word += length;
    }
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
    manual_line(row->help);
    if (row->kind == LWP_OPT_CHOICE)
        printf("(%s)\n", row->choices);
    if (row->initial)
        printf("[%s]\n", row->initial);
}

void lwp_command_manual(const struct lwp_command *command)
{
    char title[64];
    snprintf(title, sizeof title, "lwp-%s", command->name);
    manual_head(title, command->summary);
    manual_usage(command);
    printf(".Sh DESCRIPTION\n");
    manual_sentence(command->summary);
    const char *details = command->details ? command->details : "", *status = strstr(details, manual_exit);
    const char *end = status ? status : details + strlen(details);
    if (end > details)
        printf(".Pp\n");
    manual_text(details, end);
    printf(".Pp\nThe options are:\n.Bl -tag -width Ds\n");
    for (const struct lwp_option *row = command->options; row && row->name; row++)
        manual_option(row);
    printf(".It Fl h , Fl \\-help\nshow a summary of this page\n.El\n");
    if (status) {
        printf(".Sh EXIT STATUS\n");
        manual_line(status + strlen(manual_exit));
    }
}

void lwp_overview_manual(const struct lwp_command *const *commands)
{
    manual_head("lwp", "find data structures that are laid out wrong, and what to change");
    printf(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Op Ar arguments ...\n"
           ".Nm\n.Cm help\n.Op Ar command\n.Nm\n.Fl \\-version\n.Sh DESCRIPTION\n"
           "Runs an unmodified, optimised program once and says which of its data structures are laid out wrong,\n"
           "what they should look like instead, and what that will bring.\nStart with\n.Pp\n.Dl lwp collect ./app args\n.Pp\n"
           "The commands, each with a page of its own, are:\n.Bl -tag -width Ds\n");
    for (; *commands; commands++) {
        printf(".It Xr lwp-%s 1\n", (*commands)->name);
        manual_sentence((*commands)->summary);
    }
    printf(".El\n");
}

/* ---- completion ---- */

static void rows_option(const char *dashes, const char *name, const struct lwp_option *row)
{
    printf("%s%s ", dashes, name);
    if (row->kind == LWP_OPT_FLAG)
        putchar('-');
    else if (row->kind == LWP_OPT_CHOICE)
        fputs(row->choices, stdout);
    else if (row->choices)
        printf(",%s", row->choices);
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
