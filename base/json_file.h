/* Reads JSON from untrusted files or memory, within bounds. */
#ifndef LWP_BASE_JSON_FILE_H
#define LWP_BASE_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Bounds of the text, and of the memory that its values take at most, estimated from its characters. A large analysis.json
 * (33 MiB of text) takes a quarter. jansson bounds the nesting (2048). */
enum { LWP_JSON_TEXT_MAX = 256 << 20, LWP_JSON_MEMORY_MAX = 1 << 30 };

/* Like json_load_file, json_loadf and json_loadb; NULL beyond the bounds, with `problem` (may be NULL) set. */
json_t *lwp_json_read(const char *path, size_t flags, json_error_t *problem);
json_t *lwp_json_stream(FILE *from, size_t flags, json_error_t *problem);
json_t *lwp_json_parse(const char *text, size_t size, size_t flags, json_error_t *problem);

/* A count in an object (bytes, ways, cores); 0 where it is not a positive number below 1e15. */
uint64_t lwp_json_natural(const json_t *object, const char *key);

#endif
