/* JSON that anybody may have written, from a file or from memory, within bounds. */
#ifndef LWP_BASE_JSON_FILE_H
#define LWP_BASE_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* What a text and the values made of it may take, by what each sign of the text can cost at most. A large analysis.json
 * (33 MiB of text) takes a quarter of it. Nesting is bounded by jansson (2048). */
enum { LWP_JSON_TEXT_MAX = 256 << 20, LWP_JSON_MEMORY_MAX = 1 << 30 };

/* As json_load_file, json_loadf and json_loadb; what is beyond the bounds is NULL, with `problem`
 * (may be NULL) set. */
json_t *lwp_json_read(const char *path, size_t flags, json_error_t *problem);
json_t *lwp_json_stream(FILE *from, size_t flags, json_error_t *problem);
json_t *lwp_json_parse(const char *text, size_t size, size_t flags, json_error_t *problem);

/* What a key of an object counts (bytes, ways, cores): 0 where it is no positive number below 1e15. */
uint64_t lwp_json_natural(const json_t *object, const char *key);

#endif
