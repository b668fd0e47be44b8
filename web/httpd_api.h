/* libmicrohttpd's functions, loaded by name when the server starts: with what it needs itself it takes most of the time that lwp needs to
 * start, and only `lwp serve` answers requests. */
#ifndef LWP_WEB_HTTPD_API_H
#define LWP_WEB_HTTPD_API_H

#include "base/error.h"

#include <microhttpd.h>

#define LWP_HTTPD_FUNCTIONS(F)                                                                                                             \
    F(start_daemon)                                                                                                                        \
    F(stop_daemon)                                                                                                                         \
    F(lookup_connection_value)                                                                                                             \
    F(create_response_from_buffer)                                                                                                         \
    F(create_response_from_buffer_with_free_callback_cls)                                                                                  \
    F(add_response_header)                                                                                                                 \
    F(queue_response)                                                                                                                      \
    F(destroy_response)                                                                                                                    \
    F(http_unescape)

extern struct lwp_httpd {
#define LWP_HTTPD_DECLARE(name) __typeof__(&MHD_##name) name;
    LWP_HTTPD_FUNCTIONS(LWP_HTTPD_DECLARE)
#undef LWP_HTTPD_DECLARE
} httpd;

/* Once. Nothing of it may be called before that has succeeded. */
int lwp_httpd_load(struct lwp_error *err);

#endif
