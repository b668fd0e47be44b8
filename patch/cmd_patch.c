/* lwp patch: the change that a finding asks for, as a diff. */
#include "base/command.h"
#include "base/log.h"
#include "patch/patch.h"
#include <config.h>

static const struct lwp_option patch_options[] = {
    {.name = "finding",
     .kind = LWP_OPT_TEXT,
     .argument = "N",
     .initial = "1",
     .help = "the finding: its number in 'lwp report', or its id"},
    {.name = "database",
     .letter = 'p',
     .kind = LWP_OPT_TEXT,
     .argument = "FILE",
     .help = "compile_commands.json: all sources of the program and how they are compiled (cmake, meson and bear write one)"},
    {.name = "cc",
     .kind = LWP_OPT_TEXT,
     .argument = "COMMAND",
     .help = "instead: one command that compiles all sources, 'gcc -O2 a.c b.c'"},
    {.name = "try",
     .kind = LWP_OPT_TEXT,
     .argument = "COMMANDS",
     .help = "'BUILD && RUN': instead of printing the patch, build and run the program with and without it in copies, and print its gain"},
    {.name = "seconds",
     .kind = LWP_OPT_NUMBER,
     .argument = "S",
     .min = 1,
     .max = 3600,
     .initial = "120",
     .help = "how long --try measures at most"},
    {.name = "partial", .kind = LWP_OPT_FLAG, .help = "print what there is of the patch though some uses forbid it; finish it by hand"},
    {0},
};

static int run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    int status = 0;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
#ifdef LWP_LIBCLANG
    struct lwp_patch_request request = {
        .finding = lwp_options_text(&options, "finding"),
        .database = lwp_options_text(&options, "database"),
        .command = lwp_options_text(&options, "cc"),
        .trial = lwp_options_text(&options, "try"),
        .seconds = lwp_options_number(&options, "seconds"),
        .partial = lwp_options_flag(&options, "partial"),
    };
    return lwp_patch(&request, argc - options.operands, argv + options.operands);
#else
    lwp_log(LWP_LOG_ERROR, "patch: lwp was built without libclang: install libclang-dev, then configure and build again");
    return LWP_WRONG_USE;
#endif
}

const struct lwp_command lwp_cmd_patch = {
    .name = "patch",
    .usage = "[options] [DIR]",
    .summary = "write the change that a finding asks for, as a patch",
    .details =
        "Reorders the fields of a C structure, splits or pads it, regroups arrays or interchanges loops, as finding N advises, in all "
        "sources, and prints the change "
        "as a unified diff for 'patch -p1' or 'git apply'. No file is changed. libclang reads the sources, so each use is found by its "
        "declaration, not by its name.\n\n"
        "A split of one array makes an array of each group; of nodes, or of arrays that pointers lead into, a pool (lwp_split.h, which the "
        "patch adds) keeps hot and cold parts in two runs of memory, and finds the cold part from the pointer by arithmetic. If only a "
        "pool "
        "is advised, nodes come from one and stay as they are.\n\n"
        "Two loops are interchanged only if the program certainly does the same afterwards: no iteration may use what another one writes "
        "in an order that would change. Pointers are taken to lead to different memory only if each is given nothing but new memory in all "
        "of the sources, or both are restrict.\n\n"
        "Arrays that loops use at the same index become one array of structures if they are allocated and freed together and only "
        "their elements are used. Arrays that fall into the same sets of a cache are moved apart if all code that may free them is in one "
        "source.\n\n"
        "A use that the change could break and that cannot be rewritten is a reason to refuse: bytes that are written to a file or "
        "compared, casts, unions, sizes written as numbers, and others. All of them are listed with their line, a name and the reason, and "
        "nothing is printed as a patch unless --partial is given.\n\n"
        "--try copies the project's folder, as it is and patched, builds both with three placements of code (alignment of functions, order "
        "of linking) and runs them alternately with environments of varied size, until the 95 % interval of the gain is below 3 % or "
        "--seconds "
        "have passed. Output and exit status must agree. The gain is that of CPU time. It is printed beside the predicted one; the "
        "patch and the gain are kept in DIR/tried.json, and lwp report, lwp diff and the page show them. Only the commands given are "
        "run, in the copies of the current folder.\n\n"
        "Exit status: 0 the patch is on standard output, 1 some use forbids it or something could not be read, 125 wrong usage.",
    .options = patch_options,
    .run = run,
};
