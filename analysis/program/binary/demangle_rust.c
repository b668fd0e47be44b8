/* Names of Rust's v0 scheme (_R...), as RFC 2603 and the rustc book ("v0 Symbol Format") describe them: paths with their
 * generic arguments. Hashes of crates are left out, as people read names. What the scheme has and
 * this does not know yields no name, never half of one. Names come from the profiled program: depth, steps and length are
 * bounded. */
#include "analysis/program/binary/module.h"

#include <stdio.h>
#include <string.h>

enum { RUST_DEPTH = 100, RUST_STEPS = 10000 };

struct rust_name {
    const char *text; /* after "_R" */
    size_t at, length;
    char *out;
    size_t used, room;
    unsigned depth, steps;
    bool failed, quiet; /* quiet: parsed without being written */
};

static void rust_path(struct rust_name *name, bool value);
static void rust_type(struct rust_name *name);

static void rust_put(struct rust_name *name, const char *text, size_t length)
{
    if (name->failed || name->quiet)
        return;
    if (length >= name->room - name->used) {
        name->failed = true;
        return;
    }
    memcpy(name->out + name->used, text, length);
    name->used += length;
    name->out[name->used] = '\0';
}

static void rust_say(struct rust_name *name, const char *text)
{
    rust_put(name, text, strlen(text));
}

static char rust_peek(const struct rust_name *name)
{
    return name->failed || name->at >= name->length ? '\0' : name->text[name->at];
}

static bool rust_eat(struct rust_name *name, char c)
{
    if (rust_peek(name) != c || !c)
        return false;
    name->at++;
    return true;
}

static char rust_next(struct rust_name *name)
{
    char c = rust_peek(name);
    if (!c)
        name->failed = true;
    else
        name->at++;
    return c;
}

/* Base 62, ended by "_": "_" is 0, "0_" is 1. */
static uint64_t rust_number62(struct rust_name *name)
{
    uint64_t value = 0;
    if (rust_eat(name, '_'))
        return 0;
    for (;;) {
        char c = rust_next(name);
        if (c == '_')
            return value + 1;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
                                                : 62;
        if (digit == 62 || value > (UINT64_MAX - digit) / 62 - 1) {
            name->failed = true;
            return 0;
        }
        value = value * 62 + digit;
    }
}

static uint64_t rust_optional62(struct rust_name *name, char tag)
{
    return rust_eat(name, tag) ? rust_number62(name) + 1 : 0;
}

/* An identifier, without its "s" number, written as it is; Punycode ("u") is not decoded but its ASCII part is. */
static size_t rust_identifier(struct rust_name *name, bool write)
{
    size_t length = 0;
    bool punycode = rust_eat(name, 'u');
    char c = rust_next(name);
    if (c < '0' || c > '9') {
        name->failed = true;
        return 0;
    }
    for (length = (size_t)(c - '0'); length && (c = rust_peek(name)) >= '0' && c <= '9' && length < name->length; name->at++)
        length = length * 10 + (size_t)(c - '0');
    rust_eat(name, '_');
    if (name->failed || length > name->length - name->at) {
        name->failed = true;
        return 0;
    }
    const char *text = name->text + name->at;
    name->at += length;
    if (write && punycode)
        rust_say(name, "{unicode}");
    else if (write)
        rust_put(name, text, length);
    return length;
}

/* Goes on at the place that a back reference names, and comes back. */
static void rust_back(struct rust_name *name, void (*parse)(struct rust_name *name))
{
    size_t tag = name->at - 1;
    uint64_t target = rust_number62(name);
    if (target >= tag)
        name->failed = true;
    if (name->failed || name->quiet)
        return;
    size_t back = name->at;
    name->at = (size_t)target;
    parse(name);
    name->at = back;
}

static void rust_path_of_type(struct rust_name *name)
{
    rust_path(name, false);
}

static void rust_path_of_value(struct rust_name *name)
{
    rust_path(name, true);
}

static bool rust_enter(struct rust_name *name)
{
    if (++name->depth > RUST_DEPTH || ++name->steps > RUST_STEPS)
        name->failed = true;
    return !name->failed;
}

/* A constant among the generic arguments. */
static void rust_constant(struct rust_name *name)
{
    if (rust_eat(name, 'B')) {
        rust_back(name, rust_constant);
        return;
    }
    char type = rust_next(name);
    bool negative = rust_eat(name, 'n');
    size_t from = name->at;
    if (type == 'p') {
        rust_say(name, "_");
        return;
    }
    while (rust_peek(name) && rust_peek(name) != '_')
        name->at++;
    size_t digits = name->at - from;
    if (!rust_eat(name, '_') || digits > 16 || !strchr("ahsltmxyijbc", type)) {
        name->failed = true;
        return;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = name->text[from + i];
        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    char text[40];
    if (type == 'b')
        snprintf(text, sizeof text, "%s", value ? "true" : "false");
    else
        snprintf(text, sizeof text, "%s%llu", negative ? "-" : "", (unsigned long long)value);
    rust_say(name, text);
}

/* Types, lifetimes or constants up to "E". */
static void rust_arguments(struct rust_name *name)
{
    for (bool first = true; !name->failed && !rust_eat(name, 'E');) {
        if (rust_eat(name, 'L')) { /* lifetimes are left out */
            rust_number62(name);
            continue;
        }
        if (!first)
            rust_say(name, ", ");
        first = false;
        if (rust_eat(name, 'K'))
            rust_constant(name);
        else
            rust_type(name);
    }
}

static void rust_function(struct rust_name *name)
{
    rust_optional62(name, 'G');
    if (rust_eat(name, 'U'))
        rust_say(name, "unsafe ");
    if (rust_eat(name, 'K')) {
        rust_say(name, "extern \"");
        if (rust_eat(name, 'C'))
            rust_say(name, "C");
        else
            rust_identifier(name, true);
        rust_say(name, "\" ");
    }
    rust_say(name, "fn(");
    for (bool first = true; !name->failed && !rust_eat(name, 'E'); first = false) {
        if (!first)
            rust_say(name, ", ");
        rust_type(name);
    }
    rust_say(name, ")");
    if (!rust_eat(name, 'u')) {
        rust_say(name, " -> ");
        rust_type(name);
    }
}

/* A trait, whose arguments may go on with "p" and the types that it is bound to. */
static void rust_trait(struct rust_name *name)
{
    rust_path(name, false);
    while (rust_eat(name, 'p')) {
        bool more = !name->quiet && name->used && name->out[name->used - 1] == '>';
        name->used -= more; /* among the arguments that are there */
        rust_say(name, more ? ", " : "<");
        rust_identifier(name, true);
        rust_say(name, " = ");
        rust_type(name);
        rust_say(name, ">");
    }
}

static void rust_dynamic(struct rust_name *name)
{
    rust_say(name, "dyn ");
    rust_optional62(name, 'G');
    for (bool first = true; !name->failed && !rust_eat(name, 'E'); first = false) {
        if (!first)
            rust_say(name, " + ");
        rust_trait(name);
    }
    if (rust_eat(name, 'L'))
        rust_number62(name);
    else
        name->failed = true;
}

static const char *rust_basic(char tag)
{
    static const struct {
        char tag;
        const char *name;
    } basic[] = {{'a', "i8"},    {'b', "bool"},  {'c', "char"}, {'d', "f64"}, {'e', "str"},  {'f', "f32"},  {'h', "u8"},
                 {'i', "isize"}, {'j', "usize"}, {'l', "i32"},  {'m', "u32"}, {'n', "i128"}, {'o', "u128"}, {'s', "i16"},
                 {'t', "u16"},   {'u', "()"},    {'v', "..."},  {'x', "i64"}, {'y', "u64"},  {'z', "!"},    {'p', "_"}};
    for (size_t i = 0; i < sizeof basic / sizeof *basic; i++)
        if (basic[i].tag == tag)
            return basic[i].name;
    return NULL;
}

static void rust_tuple(struct rust_name *name)
{
    size_t count = 0;
    rust_say(name, "(");
    for (; !name->failed && !rust_eat(name, 'E'); count++) {
        if (count)
            rust_say(name, ", ");
        rust_type(name);
    }
    rust_say(name, count == 1 ? ",)" : ")");
}

static void rust_type(struct rust_name *name)
{
    if (!rust_enter(name))
        return;
    char tag = rust_peek(name);
    const char *basic = rust_basic(tag);
    name->at += tag != '\0';
    if (basic)
        rust_say(name, basic);
    else if (tag == 'R' || tag == 'Q') {
        if (rust_eat(name, 'L'))
            rust_number62(name);
        rust_say(name, tag == 'R' ? "&" : "&mut ");
        rust_type(name);
    } else if (tag == 'P' || tag == 'O') {
        rust_say(name, tag == 'P' ? "*const " : "*mut ");
        rust_type(name);
    } else if (tag == 'A' || tag == 'S') {
        rust_say(name, "[");
        rust_type(name);
        if (tag == 'A') {
            rust_say(name, "; ");
            rust_constant(name);
        }
        rust_say(name, "]");
    } else if (tag == 'T')
        rust_tuple(name);
    else if (tag == 'F')
        rust_function(name);
    else if (tag == 'D')
        rust_dynamic(name);
    else if (tag == 'B')
        rust_back(name, rust_type);
    else {
        name->at -= tag != '\0';
        rust_path(name, false);
    }
    name->depth--;
}

/* An "impl" has the path of where it stands first: not written. */
static void rust_implementation_path(struct rust_name *name)
{
    bool quiet = name->quiet;
    rust_optional62(name, 's');
    name->quiet = true;
    rust_path(name, false);
    name->quiet = quiet;
}

static void rust_nested(struct rust_name *name, bool value)
{
    char space = rust_next(name);
    rust_path(name, value);
    unsigned long long number = rust_optional62(name, 's');
    size_t mark = name->used;
    if (space >= 'a' && space <= 'z') {
        rust_say(name, "::");
        if (!rust_identifier(name, true) && !name->failed && !name->quiet)
            name->used = mark;
    } else {
        char kind[48], end[24];
        snprintf(kind, sizeof kind, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{%c", space);
        snprintf(end, sizeof end, "#%llu}", number);
        rust_say(name, kind);
        mark = name->used;
        rust_say(name, ":");
        if (!rust_identifier(name, true) && !name->failed && !name->quiet)
            name->used = mark;
        rust_say(name, end);
    }
    if (!name->failed && !name->quiet)
        name->out[name->used] = '\0';
}

static void rust_path(struct rust_name *name, bool value)
{
    if (!rust_enter(name))
        return;
    char tag = rust_next(name);
    if (tag == 'C') {
        rust_optional62(name, 's');
        rust_identifier(name, true);
    } else if (tag == 'M') {
        rust_implementation_path(name);
        rust_say(name, "<");
        rust_type(name);
        rust_say(name, ">");
    } else if (tag == 'X' || tag == 'Y') {
        if (tag == 'X')
            rust_implementation_path(name);
        rust_say(name, "<");
        rust_type(name);
        rust_say(name, " as ");
        rust_path(name, false);
        rust_say(name, ">");
    } else if (tag == 'N')
        rust_nested(name, value);
    else if (tag == 'I') {
        rust_path(name, value);
        size_t mark = name->used;
        rust_say(name, value ? "::<" : "<");
        size_t begun = name->used;
        rust_arguments(name);
        if (name->used > begun)
            rust_say(name, ">");
        else if (!name->failed && !name->quiet)
            name->out[name->used = mark] = '\0';
    } else if (tag == 'B')
        rust_back(name, value ? rust_path_of_value : rust_path_of_type);
    else
        name->failed = true;
    name->depth--;
}

bool code_demangle_rust(const char *symbol, char *out, size_t room)
{
    struct rust_name name = {.text = symbol + 2, .length = strlen(symbol) < 2 ? 0 : strlen(symbol) - 2, .out = out, .room = room};
    if (strncmp(symbol, "_R", 2) != 0 || room < 2)
        return false;
    *out = '\0';
    if (rust_peek(&name) >= '0' && rust_peek(&name) <= '9') /* a version: there is no other yet */
        return false;
    rust_path(&name, true);
    return !name.failed && name.used > 0; /* the crate that made the instance may follow */
}
