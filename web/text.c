#include "web/text.h"

#include "base/arena.h"
#include "web/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { TEXT_PACKED_LEAST = 1024, TEXT_ZSTD_LEVEL = 3 };

static void text_pack(struct lwp_text *text)
{
    size_t room = ZSTD_compressBound(text->length);
    if (text->length < TEXT_PACKED_LEAST || !(text->packed = malloc(room)))
        return;
    text->packed_length = ZSTD_compress(text->packed, room, text->body, text->length, TEXT_ZSTD_LEVEL);
    char *fitting = ZSTD_isError(text->packed_length) ? NULL : realloc(text->packed, text->packed_length);
    if (!fitting)
        free(text->packed);
    text->packed = fitting;
}

struct lwp_text *lwp_text_new(const char *type, char *body, size_t length)
{
    char digest[45];
    struct lwp_text *text = lwp_allocated(malloc(sizeof *text));
    *text = (struct lwp_text){.type = type, .body = body, .length = length, .holders = 1};
    lwp_sha256_base64(body, length, digest);
    snprintf(text->tag, sizeof text->tag, "W/\"%s\"", digest);
    text_pack(text);
    return text;
}

struct lwp_text *lwp_text_hold(struct lwp_text *text)
{
    if (text)
        text->holders++;
    return text;
}

void lwp_text_drop(struct lwp_text *text)
{
    if (!text || --text->holders)
        return;
    free(text->body);
    free(text->packed);
    free(text);
}

struct lwp_answer lwp_answer_say(unsigned status, const char *sentence)
{
    size_t length = strlen(sentence);
    char *body = lwp_allocated(malloc(length + 2));
    memcpy(body, sentence, length);
    memcpy(body + length, "\n", 2);
    return (struct lwp_answer){status, lwp_text_new("text/plain; charset=utf-8", body, length + 1)};
}
