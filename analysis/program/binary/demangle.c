/* Names as people write them: C++ through libstdc++'s __cxa_demangle, Rust's older scheme on top of it, its newer one
 * (demangle_rust.c), procedures and variables of Fortran modules, and the suffixes that compilers add to copies and parts of
 * one function or variable taken off: what is outlined for OpenMP is code of the function that it stands in. Names come from the profiled
 * program: very long ones are cut. */
#include "analysis/program/binary/module.h"
#include "base/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LIMIT = 4096, NAME_SHOWN = 1024 };

/* Loaded at the first name of C++: to load it always takes a fifth of the time of lwp collect. */
static char *(*demangle_cxx)(const char *mangled, char *buffer, size_t *length, int *status);

static void demangle_load(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    demangle_cxx = library ? (__typeof__(demangle_cxx))dlsym(library, "__cxa_demangle") : NULL;
}

/* The length without ".part.0", ".cold", ".constprop.1", ".isra.0", ".lto_priv.3", ".llvm.123", ".7" … */
static size_t name_plain_length(const char *name)
{
    static const char *const suffixes[] = {
        "cold",       "part",  "isra",    "constprop", "lto_priv",   "llvm",         "clone",
        "localalias", "str",   "resume",  "_omp_fn",   "_omp_cpyfn", "omp_outlined", "omp_outlined_debug__",
        "destroy",    "actor", "cleanup", "simdclone", "default",    "warm",         "Frame"};
    size_t length = strlen(name);
    for (;;) {
        size_t dot = length;
        while (dot > 0 && name[dot - 1] != '.')
            dot--;
        if (dot <= 1 || dot == length)
            return length;
        size_t word = length - dot;
        bool known = strspn(name + dot, "0123456789") >= word;
        for (size_t i = 0; !known && i < sizeof suffixes / sizeof *suffixes; i++)
            known = strlen(suffixes[i]) == word && !strncmp(name + dot, suffixes[i], word);
        if (!known)
            return length;
        length = dot - 1;
    }
}

/* Rust's older scheme is C++'s with escapes for what an identifier cannot hold, and a hash at the end. */
static bool name_is_rust(const char *name)
{
    size_t length = strlen(name);
    return length >= 20 && !strncmp(name + length - 19, "::h", 3) &&
           strspn(name + length - 16, "0123456789abcdefABCDEF") == 16;
}

static void name_unescape_rust(char *name)
{
    static const struct {
        const char *code, *text;
    } escapes[] = {{"$SP$", "@"},  {"$BP$", "*"},  {"$RF$", "&"},  {"$LT$", "<"},  {"$GT$", ">"},  {"$LP$", "("},
                   {"$RP$", ")"},  {"$C$", ","},   {"$u20$", " "}, {"$u27$", "'"}, {"$u5b$", "["}, {"$u5d$", "]"},
                   {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"$u3b$", ";"}, {"$u2b$", "+"}, {"..", "::"}};
    name[strlen(name) - 19] = '\0';
    char *out = name;
    for (const char *in = name; *in;) {
        size_t i = 0, count = sizeof escapes / sizeof *escapes;
        if (in[0] == '_' && in[1] == '$' && (in == name || in[-1] == ':')) {
            in++;
            continue;
        }
        for (; i < count && strncmp(in, escapes[i].code, strlen(escapes[i].code)); i++)
            ;
        if (i == count) {
            *out++ = *in++;
            continue;
        }
        in += strlen(escapes[i].code); /* no text is longer than its code: out never passes in */
        for (const char *text = escapes[i].text; *text; text++)
            *out++ = *text;
    }
    *out = '\0';
}

/* __bodies_MOD_kinetic, as gfortran calls it: bodies::kinetic. */
static void name_of_fortran(char *name)
{
    char *mark = strncmp(name, "__", 2) ? NULL : strstr(name + 2, "_MOD_");
    if (!mark || mark == name + 2 || !mark[5])
        return;
    size_t module = (size_t)(mark - name) - 2;
    memmove(name, name + 2, module);
    memcpy(name + module, "::", 2);
    memmove(name + module + 2, mark + 5, strlen(mark + 5) + 1);
}

const char *code_demangle(struct lwp_code *code, const char *raw)
{
    char plain[NAME_LIMIT];
    size_t length = strnlen(raw, NAME_LIMIT);
    if (length == NAME_LIMIT) {
        snprintf(plain, sizeof plain, "%.*s...", NAME_SHOWN - 3, raw);
        return code_intern(code, plain);
    }
    length = name_plain_length(raw);
    memcpy(plain, raw, length);
    plain[length] = '\0';
    char *at = strchr(plain, '@'); /* versioned: memcpy@@GLIBC_2.14 */
    if (at && at != plain)
        *at = '\0';
    name_of_fortran(plain);
    char rust[NAME_LIMIT];
    if (code_demangle_rust(plain, rust, sizeof rust)) {
        if (strlen(rust) > NAME_SHOWN)
            memcpy(rust + NAME_SHOWN - 3, "...", sizeof "...");
        return code_intern(code, rust);
    }
    if (strncmp(plain, "_Z", 2))
        return code_intern(code, plain);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, demangle_load);
    int status = 0;
    char *name = demangle_cxx ? demangle_cxx(plain, NULL, NULL, &status) : NULL;
    if (!name || status) {
        free(name);
        return code_intern(code, plain);
    }
    if (name_is_rust(name))
        name_unescape_rust(name);
    char *brief = strlen(name) > NAME_SHOWN ? lwp_function_brief(name) : NULL; /* what is cut off would be the function itself */
    if (brief) {
        free(name);
        name = brief;
    }
    if (strlen(name) > NAME_SHOWN)
        memcpy(name + NAME_SHOWN - 3, "...", sizeof "...");
    const char *result = code_intern(code, name);
    free(name);
    return result;
}
