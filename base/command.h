/* A subcommand is one row: its name, what it does, its option rows, its function.
 * The parser, `lwp help`, `--help`, the man pages and completion all come from the rows. */
#ifndef LWP_BASE_COMMAND_H
#define LWP_BASE_COMMAND_H

#include "base/error.h"

#include <stdbool.h>

enum lwp_option_kind {
    LWP_OPT_FLAG,   /* no argument; value becomes "1" */
    LWP_OPT_TEXT,   /* any text */
    LWP_OPT_NUMBER, /* a decimal number within [min, max], strictly parsed */
    LWP_OPT_CHOICE, /* one of `choices`, separated by '|' */
};

struct lwp_option {
    const char *name;   /* long name without dashes; NULL ends the table */
    char letter;        /* short form, or 0 */
    enum lwp_option_kind kind;
    const char *argument; /* what --help calls the argument */
    double min, max;      /* LWP_OPT_NUMBER */
    const char *choices;  /* LWP_OPT_CHOICE; of a text: what its parts between commas may be, for completion */
    const char *initial;  /* default as text, or NULL */
    const char *variable; /* of the environment, which takes the default's place; or NULL */
    const char *alone;    /* value without "=ARGUMENT"; NULL: the argument must follow */
    const char *help;
};

struct lwp_command {
    const char *name;
    const char *usage;   /* what follows "lwp <name>" */
    const char *summary; /* one line */
    const char *details; /* paragraphs for help and the man page, or NULL */
    const struct lwp_option *options;
    bool stops_at_first; /* the first operand ends option parsing (collect) */
    int (*run)(int argc, char **argv, const struct lwp_command *self); /* exit status */
};

/* The exit status for wrong use, of all commands: small numbers have meanings of their own, and are the program's with lwp collect. */
enum { LWP_WRONG_USE = 125 };

enum { LWP_OPTIONS_MAX = 32 };

/* Values by row of the table: the text given, that of the row's variable, its default, or NULL. */
struct lwp_options {
    const struct lwp_option *rows;
    const char *value[LWP_OPTIONS_MAX];
    bool given[LWP_OPTIONS_MAX];
    int operands;         /* argv[operands..argc) are the operands */
    bool help;            /* --help or -h was given: print and leave */
};

/* Parses argv[1..]; options and operands may mix (operands are moved to the end) unless stops_at_first. */
int lwp_options_parse(struct lwp_options *options, const struct lwp_command *command, int argc, char **argv,
                      struct lwp_error *err);
const char *lwp_options_text(const struct lwp_options *options, const char *name);
double lwp_options_number(const struct lwp_options *options, const char *name);
bool lwp_options_flag(const struct lwp_options *options, const char *name);
/* Whether it was on the command line. */
bool lwp_options_given(const struct lwp_options *options, const char *name);

/* `lwp <name> --help` on stdout. */
void lwp_command_help(const struct lwp_command *command);

/* The same as a man page (mdoc) on stdout. */
void lwp_command_manual(const struct lwp_command *command);

/* `lwp help` as a man page: what `commands` (NULL-ended) do. */
void lwp_overview_manual(const struct lwp_command *const *commands);

/* For completion, a line each: "OPTION ARGUMENT HELP", where ARGUMENT is - for none, its name, =NAME when it may only
 * follow "OPTION=", or its choices separated by '|', with a comma before them where several may be given; and of all commands "NAME SUMMARY". */
void lwp_command_rows(const struct lwp_command *command);
void lwp_overview_rows(const struct lwp_command *const *commands);

/* The start of every run function: parses, answers --help, prints errors.
 * Returns false when the command is to leave with *exit_status (0 after --help, LWP_WRONG_USE after an error). */
bool lwp_command_begin(struct lwp_options *options, const struct lwp_command *self, int argc, char **argv, int *exit_status);

/* The result that a command is about: its one operand; without any the newest in the current folder (lwp-*), and says which. NULL: neither,
 * or several operands, and that was said. Valid until the next call. */
const char *lwp_result_operand(const char *command, int count, char **operands);

/* The name in a NULL-ended list nearest to `word` (edit distance <= 2), or NULL. */
const char *lwp_nearest(const char *word, const char *const *names);

#endif
