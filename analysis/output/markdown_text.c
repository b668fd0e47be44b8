/* Text that comes from the profiled program must appear as text. Backslashes and character references stop the markup;
 * what GitHub and GitLab make of the rendered text (mentions, references to issues, links, emoji) is stopped by a space of
 * no width. */
#include "analysis/output/formats.h"

#include <ctype.h>
#include <string.h>

static const char no_width[] = "&#8203;";

static bool text_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* "@name", "#12", "!12", "~label", "%milestone", "$12", "^note" and the like. */
static bool text_refers(const char *at)
{
    return strchr("@#!~%$^&", *at) && (text_word(at[1]) || at[1] == '"' || at[1] == '_' || at[1] == '{' || at[1] == '\'');
}

/* ":name:", but not within "std::name::other". */
static bool text_emoji(const char *at, char before)
{
    size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_+-");
    return *at == ':' && before != ':' && length && at[1 + length] == ':';
}

/* After the ':' of "http://" and the first w of "www.". */
static bool text_links(const char *at)
{
    return strncmp(at, "://", 3) == 0 || strncasecmp(at, "www.", 4) == 0;
}

static void text_character(FILE *out, const char *at, char before)
{
    char c = *at;
    if (c == '<' || c == '>' || c == '&' || c == '"')
        fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;", out);
    else if (strchr("\\`*[]|~$", c) || (c == '_' && !(text_word(before) && text_word(at[1]))))
        fprintf(out, "\\%c", c);
    else
        putc(c, out);
}

/* At the start of a paragraph: a list or a heading. */
static bool text_begins_block(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    bool number = digits && (text[digits] == '.' || text[digits] == ')') && (text[digits + 1] == ' ' || !text[digits + 1]);
    return (*text && strchr("-+=#", *text)) || number;
}

void lwp_markdown_text(FILE *out, const char *text)
{
    char before = ' ';
    if (text_begins_block(text))
        fputs(no_width, out);
    for (const char *at = text; *at; before = *at++) {
        text_character(out, at, before);
        if (text_refers(at) || text_emoji(at, before) || text_links(at))
            fputs(no_width, out);
    }
}

void lwp_markdown_code(FILE *out, const char *text)
{
    if (*text && !strpbrk(text, "`|\\\n")) {
        fprintf(out, *text == ' ' || text[strlen(text) - 1] == ' ' ? "` %s `" : "`%s`", text);
        return;
    }
    fputs("<code>", out);
    for (; *text; text++)
        if (text_word(*text) || *text == ' ')
            putc(*text, out);
        else
            fprintf(out, "&#%u;%s", (unsigned)(unsigned char)*text, *text == '@' ? no_width : ""); /* an address is linked even here */
    fputs("</code>", out);
}
