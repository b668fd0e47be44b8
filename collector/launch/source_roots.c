/* The folders of the program's source: the work tree around, or else the folder itself, of where it was started, of its file,
 * and of the sources in its debug information, if they exist here. Debug information is untrusted: it may name neither a home
 * directory nor a folder above one, and is read by a process of its own. */
#include "collector/launch/run_json.h"

#include "base/path.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOTS_MOST = 32, UNITS_MOST = 4096, READING_S = 5, READING_BYTES = 1 << 30 };

/* "/", what is above the user's home directory and, unless the user went there, that itself. */
static bool roots_is_too_wide(const char *folder, bool untrusted)
{
    const char *home = getenv("HOME");
    char real[PATH_MAX];
    if (strcmp(folder, "/") == 0)
        return true;
    return home && realpath(home, real) && lwp_path_is_below(real, folder) && (untrusted || strcmp(real, folder) != 0);
}

/* Here and below: names without links. */
static void roots_add(json_t *roots, const char *folder, bool untrusted)
{
    char tree[PATH_MAX];
    size_t i;
    const json_t *root;
    snprintf(tree, sizeof tree, "%s", folder);
    if (lwp_path_work_tree(tree) && !roots_is_too_wide(tree, untrusted))
        folder = tree;
    if (roots_is_too_wide(folder, untrusted) || json_array_size(roots) >= ROOTS_MOST)
        return;
    json_array_foreach(roots, i, root)
    {
        if (lwp_path_is_below(folder, json_string_value(root)))
            return;
    }
    json_t *added = json_string(folder); /* NULL: not UTF-8 */
    if (added)
        json_array_append_new(roots, added);
}

static void roots_add_folder_of(json_t *roots, char *file, bool untrusted)
{
    char *last = strrchr(file, '/');
    last[last == file] = '\0';
    roots_add(roots, file, untrusted);
}

/* The first source of each unit of the program's file that is here, one a line. */
static void roots_tell_units(int fd, FILE *to)
{
    Dwarf *debug = dwarf_begin(fd, DWARF_C_READ);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    for (int i = 0; debug && i < UNITS_MOST && dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL) == 0; i++) {
        Dwarf_Attribute attribute;
        const char *folder = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute)), *name = dwarf_diename(&die);
        char path[PATH_MAX], real[PATH_MAX];
        if (name && snprintf(path, sizeof path, "%s%s%s", *name == '/' || !folder ? "" : folder, *name == '/' ? "" : "/", name) < (int)sizeof path &&
            *path == '/' && realpath(path, real) && !strchr(real, '\n'))
            fprintf(to, "%s\n", real);
    }
    dwarf_end(debug);
}

/* Whatever that file does to who reads it. */
static void roots_add_units(json_t *roots, const char *program)
{
    int ends[2], fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    pid_t child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){READING_S, READING_S}); /* an alarm may be blocked or ignored */
        setrlimit(RLIMIT_DATA, &(struct rlimit){READING_BYTES, READING_BYTES}); /* packed sections say how large they are */
        FILE *to = fdopen(ends[1], "w");
        if (to) {
            roots_tell_units(fd, to);
            fclose(to);
        }
        _exit(0);
    }
    close(fd);
    if (child < 0)
        return;
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    char line[PATH_MAX + 1], real[PATH_MAX];
    while (from && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        if (realpath(line, real)) /* as that process may say anything */
            roots_add_folder_of(roots, real, true);
    }
    if (from)
        fclose(from);
    waitpid(child, NULL, 0);
}

json_t *lwp_source_roots_find(const char *program, const char *cwd)
{
    /* the compiler's own and libraries' headers */
    json_t *roots = json_pack("[s, s]", "/usr/include", "/usr/lib/gcc");
    char real[PATH_MAX];
    if (!roots)
        return NULL;
    if (realpath(cwd, real))
        roots_add(roots, real, false);
    if (realpath(program, real))
        roots_add_folder_of(roots, real, false);
    roots_add_units(roots, program);
    return roots;
}
