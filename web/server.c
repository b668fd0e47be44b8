/* Access checks and the transport of answers; site.c makes their content. Only GET and HEAD are answered. Requests by pages of
 * other sites are refused: they carry a foreign name as Host (DNS rebinding) or as Origin.
 *
 * Sockets never block. A connection that says nothing is closed after a while; there may be thousands of them before a
 * new one has to wait. Text that is sent is shared by all who receive it: slow readers cost a connection, not a copy. */
#include "web/server.h"

#include "base/arena.h"
#include "web/httpd_api.h"
#include "web/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    SERVER_CONNECTIONS_MAX = 4096,
    SERVER_OWN_FILES = 64,     /* kept free of connections */
    SERVER_IDLE_S = 15,
    SERVER_REQUEST_BYTES = 16 << 10, /* of a request's line and headers, and of an answer's headers */
};

struct lwp_server {
    struct MHD_Daemon *daemon;
    struct lwp_site *site;
    bool loopback;
    const char *secret;
};

static const char *server_header(struct MHD_Connection *connection, const char *name)
{
    return httpd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* "host:port" or "[v6]:port" without the port, compared with the names of this machine. */
static bool server_host_is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(host, names[i], length) == 0)
            return true;
    return false;
}

/* A browser names the page that asks wherever that is another site's, and sometimes where it is this one's. */
static bool server_origin_is(const char *origin, const char *host)
{
    return strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

static bool server_is_read(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

/* The path behind the secret, or NULL where that is wrong; takes the same time wherever it is. */
static const char *server_path(const struct lwp_server *server, const char *url)
{
    size_t length = server->secret ? strlen(server->secret) : 0;
    unsigned char differs = 0;
    if (!length)
        return url;
    if (*url != '/' || strlen(url) < length + 2 || url[length + 1] != '/')
        return NULL;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)(url[i + 1] ^ server->secret[i]);
    return differs ? NULL : url + length + 1;
}

static struct lwp_answer server_answer(const struct lwp_server *server, struct MHD_Connection *connection, const char *url,
                                       const char *method)
{
    const char *host = server_header(connection, MHD_HTTP_HEADER_HOST), *origin = server_header(connection, MHD_HTTP_HEADER_ORIGIN);
    const char *path = server_path(server, url);
    if (!server_is_read(method))
        return lwp_answer_say(MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.");
    if (!host)
        return lwp_answer_say(MHD_HTTP_BAD_REQUEST, "A request needs a Host header.");
    if (server->loopback && !server_host_is_local(host))
        return lwp_answer_say(MHD_HTTP_FORBIDDEN, "This report is served to this machine only.");
    if (origin && !server_origin_is(origin, host))
        return lwp_answer_say(MHD_HTTP_FORBIDDEN, "This report is not for other pages.");
    if (!path)
        return lwp_answer_say(MHD_HTTP_NOT_FOUND, "There is nothing here; take the whole address that lwp has printed.");
    return lwp_site_get(server->site, path);
}

static void server_release(void *text)
{
    lwp_text_drop(text);
}

static struct MHD_Response *server_body(struct lwp_text *text, bool packed)
{
    struct MHD_Response *response = httpd.create_response_from_buffer_with_free_callback_cls(
        packed ? text->packed_length : text->length, packed ? text->packed : text->body, server_release, text);
    if (response)
        lwp_text_hold(text);
    if (packed && response)
        httpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "zstd");
    return response;
}

static bool server_header_has(struct MHD_Connection *connection, const char *name, const char *word)
{
    const char *value = server_header(connection, name);
    return value && strstr(value, word); /* neither word is part of another one */
}

static void server_add_headers(struct MHD_Response *response, unsigned status, const struct lwp_text *text)
{
    static const char *const all[][2] = {
        {"Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
                                    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        httpd.add_response_header(response, all[i][0], all[i][1]);
    httpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, text->type);
    if (text->packed)
        httpd.add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (status == MHD_HTTP_OK || status == MHD_HTTP_NOT_MODIFIED)
        httpd.add_response_header(response, MHD_HTTP_HEADER_ETAG, text->tag);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        httpd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

/* Called when a request's headers are there, and again when it has ended: only then may more requests of the same
 * connection follow. What is refused is refused at once; a body that nobody asked for ends the connection. */
static enum MHD_Result server_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                      const char *version, const char *upload, size_t *upload_size, void **state)
{
    (void)version, (void)upload;
    static char begun;
    if (*upload_size)
        return MHD_NO;
    if (!*state && server_is_read(method)) {
        *state = &begun;
        return MHD_YES;
    }
    struct lwp_answer answer = server_answer(context, connection, url, method);
    if (!answer.text)
        return MHD_NO;
    struct MHD_Response *response;
    if (answer.status == MHD_HTTP_OK && server_header_has(connection, MHD_HTTP_HEADER_IF_NONE_MATCH, answer.text->tag)) {
        answer.status = MHD_HTTP_NOT_MODIFIED;
        response = httpd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else {
        response = server_body(answer.text, answer.text->packed && server_header_has(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING, "zstd"));
    }
    enum MHD_Result result = MHD_NO;
    if (response) {
        server_add_headers(response, answer.status, answer.text);
        result = httpd.queue_response(connection, answer.status, response);
        httpd.destroy_response(response);
    }
    lwp_text_drop(answer.text);
    return result;
}

/* What %00 stands for must not end the path. */
static size_t server_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    size_t length = httpd.http_unescape(text);
    for (size_t i = 0; i < length; i++)
        if (!text[i])
            text[i] = '\1';
    return length;
}

/* As many connections as files may be open, which may often be raised. */
static unsigned server_connections(void)
{
    struct rlimit files;
    const rlim_t wanted = SERVER_CONNECTIONS_MAX + SERVER_OWN_FILES;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return SERVER_OWN_FILES;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    return files.rlim_cur >= wanted ? SERVER_CONNECTIONS_MAX
                                    : files.rlim_cur > 2 * SERVER_OWN_FILES ? (unsigned)files.rlim_cur - SERVER_OWN_FILES : SERVER_OWN_FILES;
}

int lwp_server_start(struct lwp_server **made, struct lwp_site *site, int fd, bool loopback, const char *secret,
                     struct lwp_error *err)
{
    int status = lwp_httpd_load(err);
    *made = NULL;
    if (status) {
        close(fd);
        return status;
    }
    struct lwp_server *server = lwp_allocated(malloc(sizeof *server));
    *server = (struct lwp_server){.site = site, .loopback = loopback, .secret = secret};
    server->daemon =
        httpd.start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, server_request, server, MHD_OPTION_LISTEN_SOCKET,
                           fd, MHD_OPTION_CONNECTION_LIMIT, server_connections(), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVER_IDLE_S,
                           MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_REQUEST_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                           MHD_OPTION_UNESCAPE_CALLBACK, server_unescape, NULL, MHD_OPTION_END);
    if (!server->daemon) {
        free(server);
        close(fd);
        return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot start the server");
    }
    *made = server;
    return 0;
}

void lwp_server_stop(struct lwp_server *server)
{
    if (!server)
        return;
    httpd.stop_daemon(server->daemon);
    free(server);
}

int lwp_server_secret(char secret[LWP_SERVER_SECRET_BYTES], struct lwp_error *err)
{
    unsigned char bytes[(LWP_SERVER_SECRET_BYTES - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return lwp_error_errno(err, "cannot get random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}
