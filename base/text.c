#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- UTF-8 ---- */

size_t lwp_utf8_sequence(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80)
        return 1;
    /* The second byte's range excludes overlong forms, surrogates and what is above U+10FFFF. */
    unsigned char low = 0x80, high = 0xbf;
    size_t length;
    if (c[0] >= 0xc2 && c[0] <= 0xdf) {
        length = 2;
    } else if (c[0] >= 0xe0 && c[0] <= 0xef) {
        length = 3;
        if (c[0] == 0xe0)
            low = 0xa0;
        if (c[0] == 0xed)
            high = 0x9f;
    } else if (c[0] >= 0xf0 && c[0] <= 0xf4) {
        length = 4;
        if (c[0] == 0xf0)
            low = 0x90;
        if (c[0] == 0xf4)
            high = 0x8f;
    } else {
        return 0;
    }
    if (c[1] < low || c[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (c[i] < 0x80 || c[i] > 0xbf)
            return 0;
    return length;
}

char *lwp_utf8_clean(const char *text)
{
    size_t bytes;
    if (__builtin_mul_overflow(strlen(text), (size_t)3, &bytes))
        return NULL;
    char *clean = malloc(bytes + 1), *to = clean;
    if (!clean)
        return NULL;
    while (*text) {
        size_t length = lwp_utf8_sequence(text);
        if (length) {
            memcpy(to, text, length);
            to += length;
            text += length;
        } else {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            text++;
        }
    }
    *to = '\0';
    return clean;
}

/* ---- shown to a person ---- */

struct visible_range {
    uint32_t first, last;
};

/* Unicode: Cc, line and paragraph separators, bidirectional controls, what is drawn as nothing, and what XML forbids. */
static const struct visible_range hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
};

/* The common blocks of East Asian width W and F. */
static const struct visible_range wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6},   {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};

static const struct visible_range combining[] = {
    {0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
};

static bool visible_in(uint32_t code, const struct visible_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}
#define IN(code, ranges) visible_in(code, ranges, sizeof(ranges) / sizeof *(ranges))

/* The character of a valid sequence of `length` bytes. */
static uint32_t visible_code(const char *text, size_t length)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)text[0] & first[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

static size_t visible_width(uint32_t code)
{
    return IN(code, combining) ? 0 : IN(code, wide) ? 2 : 1;
}

size_t lwp_visible_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        size_t length = lwp_utf8_sequence(text);
        columns += length ? visible_width(visible_code(text, length)) : 1;
        text += length ? length : 1;
    }
    return columns;
}

/* Bytes of `text` that take at most `columns`, never a part of a character or of what combines with it. */
static size_t visible_cut(const char *text, size_t columns)
{
    const char *at = text;
    while (*at) {
        size_t length = lwp_utf8_sequence(at), width = visible_width(visible_code(at, length));
        if (width > columns)
            break;
        columns -= width;
        at += length;
    }
    return (size_t)(at - text);
}

/* A run of marks on one letter, as long as it likes, draws over the lines around it: some are left. */
enum { MARKS_MAX = 4 };

static void visible_write(char *to, const char *text, bool line_breaks)
{
    unsigned marks = 0;
    while (*text) {
        size_t length = lwp_utf8_sequence(text);
        uint32_t code = length ? visible_code(text, length) : (unsigned char)*text;
        marks = length && IN(code, combining) ? marks + 1 : 0;
        if (*text == '\t')
            *to++ = ' ';
        else if (!length || (IN(code, hidden) && !(line_breaks && code == '\n')))
            to += sprintf(to, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)code);
        else if (marks <= MARKS_MAX)
            to = (char *)memcpy(to, text, length) + length;
        text += length ? length : 1;
    }
    *to = '\0';
}

/* Of "stack of one::two::three()" the outer scopes go first, as few as make it fit: "stack of ...two::three()". */
static void visible_drop_scopes(char *shown, size_t columns, size_t most)
{
    char *name = strstr(shown, "::"), *kept, *end;
    while (name && name > shown && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    for (kept = name; kept && (kept == name || columns + 3 - (size_t)(kept - name) > most); kept = end + 2) {
        for (end = kept; isalnum((unsigned char)*end) || *end == '_'; end++)
            ;
        if (end == kept || strncmp(end, "::", 2) != 0 || !(isalnum((unsigned char)end[2]) || end[2] == '_'))
            break;
    }
    if (kept == name)
        return;
    memcpy(name, "...", 3);
    memmove(name + 3, kept, strlen(kept) + 1);
}

char *lwp_visible(const char *text, bool line_breaks, size_t most)
{
    size_t bytes;
    if (__builtin_mul_overflow(strlen(text), (size_t)4, &bytes)) /* a byte becomes "\x1b", four become "\U000e0001" */
        return NULL;
    char *shown = malloc(bytes + 1);
    if (!shown)
        return NULL;
    visible_write(shown, text, line_breaks);
    size_t columns = lwp_visible_columns(shown);
    if (!most || columns <= most || most < 8)
        return shown;
    visible_drop_scopes(shown, columns, most);
    if ((columns = lwp_visible_columns(shown)) <= most)
        return shown;
    size_t end = (most - 3) / 3, start = visible_cut(shown, most - 3 - end), from = visible_cut(shown, columns - end);
    memmove(shown + start, "...", 3);
    memmove(shown + start + 3, shown + from, strlen(shown + from) + 1);
    return shown;
}

/* ---- names of functions ---- */

static bool brief_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* To behind the bracket that closes the one at `at`; the end of the text where none does. */
static const char *brief_after(const char *at)
{
    const char open = *at, close = open == '<' ? '>' : open == '(' ? ')' : '}';
    int depth = 0;
    for (; *at; at++) {
        if (open == '<' && (brief_begins(at, "->") || brief_begins(at, "operator"))) {
            at += *at == 'o' ? strlen("operator") : 1;
            at += strspn(at, "<>=-");
            at--;
        } else if (open == '<' && *at == '(')
            at = brief_after(at) - 1;
        else
            depth += (*at == open) - (*at == close);
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/* An operator's name may be made of brackets, or, of a conversion, have spaces. */
static size_t brief_operator(const char *at)
{
    const char *end = at + strlen("operator");
    if (brief_begins(end, "()"))
        return strlen("operator()");
    size_t symbols = strspn(end, "<>=!+-*/%&|^~,[]");
    bool spaced = brief_begins(end + symbols, " <"); /* and arguments of a template */
    return (size_t)(end - at) + (symbols ? symbols + spaced : strcspn(end, "("));
}

/* Whether nothing but what is said of a method itself follows its parameters. */
static bool brief_ends(const char *behind)
{
    return !*behind || brief_begins(behind, " const") || brief_begins(behind, " &") || brief_begins(behind, " volatile") ||
           brief_begins(behind, " [");
}

/* What stands for the part from `at` to `end`; NULL: itself. */
static const char *brief_part(const char *at, const char *end)
{
    enum { SHORT = 12 }; /* arguments that say something in little space */
    switch (*at) {
    case '(': /* a function that something is local to, or of decltype() */
        return brief_begins(at, "(anonymous") ? NULL : brief_begins(end, "::") ? "()" : "";
    case '<':
        return end - at > SHORT ? "<...>" : NULL;
    case '{':
        return brief_begins(at, "{lambda") ? "{lambda}" : NULL;
    default:
        return NULL;
    }
}

char *lwp_function_brief(const char *name)
{
    char *brief = malloc(2 * strlen(name) + 1), *to = brief; /* "{lambda" alone becomes longer */
    for (const char *at = name, *end; brief && *at; at = end) {
        bool starts = to == brief || to[-1] == ':';
        if (starts && brief_begins(at, "operator") && !isalnum((unsigned char)at[8]) && at[8] != '_')
            end = at + brief_operator(at);
        else
            end = strchr("<({", *at) ? brief_after(at) : at + 1;
        if (to > brief && ((*at == '(' && brief_ends(end)) || brief_begins(at, " [")))
            break;
        const bool receiver = *at == '(' && at > name && at[-1] == '.'; /* of a Go method */
        const char *part = receiver ? NULL : brief_part(at, end);
        if (*at == ' ') /* what comes before is the type of the result */
            to = brief;
        else {
            size_t length = part ? strlen(part) : (size_t)(end - at);
            to = (char *)memcpy(to, part ? part : at, length) + length;
        }
    }
    if (brief)
        *to = '\0';
    return brief;
}

/* ---- markup ---- */

void lwp_markup_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>': /* XML does not allow "]]>" */
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        case '\n': /* an attribute would make a space of it */
            fputs("&#10;", to);
            break;
        default:
            putc((unsigned char)*text < 0x20 ? ' ' : *text, to);
        }
}
