#include "base/columns.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int lwp_columns(FILE *out)
{
    enum { LEAST = 40, USUAL = 80, MOST = 100 };
    struct winsize size;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
        return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col > MOST ? MOST : size.ws_col;
}

void lwp_wrap(FILE *out, const char *text, int column, int indent, int columns)
{
    int start = column;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        char *word = strndup(text, bytes),
             *shown = word ? lwp_visible(word, false, columns > indent ? (size_t)(columns - indent) : 1) : NULL;
        int wide = shown ? (int)lwp_visible_columns(shown) : (int)bytes;
        if (column > start && column + 1 + wide > columns) {
            fprintf(out, "\n%*s", indent, "");
            column = start = indent;
        } else if (column > start) {
            putc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", shown ? (int)strlen(shown) : (int)bytes, shown ? shown : text);
        column += wide;
        text += bytes;
        free(shown);
        free(word);
    }
    putc('\n', out);
}

void lwp_wrap_paragraphs(FILE *out, const char *text, int columns)
{
    static const char as_is[] = "    ";
    while (*text) {
        size_t bytes = strcspn(text, "\n"), end = bytes;
        if (bytes == 0 || strncmp(text, as_is, strlen(as_is)) == 0) {
            fprintf(out, "%.*s\n", (int)bytes, text);
        } else {
            while (text[end] && text[end + 1] != '\n' && strncmp(text + end + 1, as_is, strlen(as_is)) != 0)
                end += 1 + strcspn(text + end + 1, "\n");
            char *paragraph = strndup(text, end);
            lwp_wrap(out, paragraph ? paragraph : "", 0, 0, columns);
            free(paragraph);
        }
        text += end + (text[end] == '\n');
    }
}

/* Columns of a word, which colours may stand in. */
static int lines_columns(const char *word, size_t bytes)
{
    char *plain = strndup(word, bytes), *to = plain;
    if (!plain)
        return (int)bytes;
    for (const char *from = plain; *from; from++) {
        if (*from == '\033')
            from += strcspn(from, "m");
        else
            *to++ = *from;
        if (!*from)
            break;
    }
    *to = '\0';
    int columns = (int)lwp_visible_columns(plain);
    free(plain);
    return columns;
}

static void lines_fold(FILE *out, const char *line, const char *end, int columns)
{
    enum { FURTHER_IN = 4 };
    const int indent = (int)strspn(line, " ") + FURTHER_IN;
    int start = indent - FURTHER_IN, column = 0;
    for (const char *word = line; word < end;) {
        size_t gap = strspn(word, " "), bytes = strcspn(word + gap, " \n");
        int wide = lines_columns(word + gap, bytes);
        if (column > start && column + (int)gap + wide > columns) {
            fprintf(out, "\n%*s", indent, "");
            column = start = indent;
            word += gap;
            gap = 0;
        }
        fprintf(out, "%.*s", (int)(gap + bytes), word);
        column += (int)gap + wide;
        word += gap + bytes;
    }
    putc('\n', out);
}

static void lines_wrap(FILE *out, const char *text, int columns)
{
    while (*text) {
        const char *end = text + strcspn(text, "\n");
        if (lines_columns(text, (size_t)(end - text)) <= columns)
            fprintf(out, "%.*s%s", (int)(end - text), text, *end ? "\n" : "");
        else
            lines_fold(out, text, end, columns);
        text = end + (*end == '\n');
    }
}

FILE *lwp_wrapped_open(struct lwp_wrapped *wrapped, FILE *out)
{
    *wrapped = (struct lwp_wrapped){.out = out};
    wrapped->to = open_memstream(&wrapped->text, &wrapped->length);
    return wrapped->to ? wrapped->to : out;
}

void lwp_wrapped_close(struct lwp_wrapped *wrapped)
{
    if (!wrapped->to)
        return;
    fclose(wrapped->to);
    if (wrapped->text)
        lines_wrap(wrapped->out, wrapped->text, lwp_columns(wrapped->out));
    free(wrapped->text);
}
