/* A site on a socket: HTTP as libmicrohttpd speaks it, in one thread that answers one request after the other. */
#ifndef LWP_WEB_SERVER_H
#define LWP_WEB_SERVER_H

#include "base/error.h"
#include "web/site.h"

#include <stdbool.h>

enum { LWP_SERVER_SECRET_BYTES = 33 };

struct lwp_server;

/* Answers what comes to `fd`, a listening socket, from now on. `loopback`: only this machine can reach it; then requests for
 * other hosts' names are refused, since they are some page's DNS trick. `secret`: the first part of every path, or NULL.
 * `site` and `secret` are borrowed until lwp_server_stop, `fd` is the server's. */
int lwp_server_start(struct lwp_server **server, struct lwp_site *site, int fd, bool loopback, const char *secret,
                     struct lwp_error *err);
void lwp_server_stop(struct lwp_server *server); /* NULL is fine */

/* 128 bits that nobody can guess, in hexadecimal digits. */
int lwp_server_secret(char secret[LWP_SERVER_SECRET_BYTES], struct lwp_error *err);

#endif
