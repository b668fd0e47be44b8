/* Whose declaration a type is: the program's, or one of the system, the compiler or a library, by the file that it is in. */
#include "analysis/program/types/type_die.h"

#include <dwarf.h>
#include <string.h>

/* A program that is itself built there (a package of the distribution) is a project like others. */
static enum lwp_type_owner type_owner_of_file(const char *file, Dwarf_Die *unit)
{
    static const char *const folders[] = {"/usr/include/", "/usr/lib/",    "/usr/local/include/", "/usr/local/lib/",   "/opt/",
                                          "/nix/store/",   "/rustc/",      "/rust/deps/",         "/.cargo/registry/", "/lib/gcc/",
                                          "/lib/rustlib/", "/include/c++/"};
    const char *source = dwarf_diename(unit);
    if (!file || *file != '/')
        return LWP_TYPE_OWNER_UNKNOWN;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *found = strstr(file, folders[i]);
        if (found && (found == file || i >= 6) && !(source && strstr(source, folders[i])))
            return LWP_TYPE_OF_SYSTEM;
    }
    return LWP_TYPE_OF_PROJECT;
}

/* Boost is where the program's makers put it, and no more theirs to change. */
static bool type_of_boost(struct lwp_code *code, const char *file, Dwarf_Die *die)
{
    const char *name = file && strstr(file, "/boost/") ? code_die_name(code, die) : NULL;
    return name && strncmp(name, "boost::", strlen("boost::")) == 0;
}

/* Rust's compiler does not say where types are declared: alloc::rc::RcInner<app::Node>. */
static bool type_of_crate(const char *name)
{
    static const char *const crates[] = {"alloc::", "core::", "std::", "hashbrown::"};
    for (size_t i = 0; name && i < sizeof crates / sizeof *crates; i++)
        if (strncmp(name, crates[i], strlen(crates[i])) == 0)
            return true;
    return false;
}

enum lwp_type_owner type_die_owner(struct lwp_code *code, Dwarf_Die *die, Dwarf_Die *unit)
{
    const char *file = code_die_file(code, die, DW_AT_decl_file);
    const enum lwp_language language = type_die_language(unit);
    const enum lwp_type_owner owner = type_owner_of_file(file, unit);
    const bool crate = language == LWP_LANGUAGE_RUST && !file && code_die_is_struct(die) && type_of_crate(code_die_name(code, die));
    const bool boost = owner == LWP_TYPE_OF_PROJECT && language == LWP_LANGUAGE_CXX && type_of_boost(code, file, die);
    const bool frame = language == LWP_LANGUAGE_CXX && dwarf_diename(die) && lwp_types_is_coroutine(dwarf_diename(die));
    return crate || boost || frame ? LWP_TYPE_OF_SYSTEM : owner;
}
