/* lwp serve: the report of a result, or an index of several, in a browser.
 * One thread answers all requests one after the other; only GET and HEAD, only the paths of web/site.c. */
#include "base/command.h"
#include "base/log.h"
#include "web/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

static const struct lwp_option serve_options[] = {
    {.name = "port",
     .letter = 'p',
     .kind = LWP_OPT_NUMBER,
     .argument = "PORT",
     .min = 0,
     .max = 65535,
     .initial = "8080",
     .help = "port to listen on; 0 takes a free one"},
    {.name = "bind",
     .kind = LWP_OPT_TEXT,
     .argument = "ADDR",
     .initial = "127.0.0.1",
     .help = "address to listen on; any but the default lets others read the report"},
    {.name = "open", .kind = LWP_OPT_FLAG, .help = "open the page in the desktop's browser"},
    {.name = "templates",
     .kind = LWP_OPT_TEXT,
     .argument = "FOLDER",
     .help = "take the page's HTML, style and scripts from there, read anew for each page"},
    {0},
};

struct serve {
    struct lwp_site *site;
    bool local_only; /* bound to loopback: other hosts' names are someone's DNS trick */
};

/* "host:port" or "[v6]:port" without the port, compared with the names of this machine. */
static bool serve_host_is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(host, names[i], length) == 0)
            return true;
    return false;
}

/* Whether the request's header has the word; none is part of another here. */
static bool serve_header_has(struct MHD_Connection *connection, const char *header, const char *word)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, header);
    return value && word && strstr(value, word);
}

static enum MHD_Result serve_send(struct MHD_Connection *connection, struct lwp_answer answer)
{
    bool packed = answer.packed && serve_header_has(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING, "zstd");
    if (packed) {
        answer.body = answer.packed;
        answer.length = answer.packed_length;
    }
    if (serve_header_has(connection, MHD_HTTP_HEADER_IF_NONE_MATCH, answer.tag)) {
        answer.status = MHD_HTTP_NOT_MODIFIED;
        answer.length = 0;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer.length, (void *)(uintptr_t)answer.body, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    if (packed)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "zstd");
    if (answer.packed)
        MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (answer.tag)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer.tag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, answer.status, response);
    MHD_destroy_response(response);
    return result;
}

static struct lwp_answer serve_text(unsigned status, const char *text)
{
    return (struct lwp_answer){.status = status, .type = "text/plain; charset=utf-8", .body = text, .length = strlen(text)};
}

static enum MHD_Result serve_request(void *context, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *upload, size_t *upload_size,
                                     void **state)
{
    (void)version, (void)upload, (void)upload_size, (void)state;
    struct serve *serve = context;
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return serve_send(connection, serve_text(MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n"));
    if (serve->local_only && host && !serve_host_is_local(host))
        return serve_send(connection, serve_text(MHD_HTTP_FORBIDDEN, "This report is served to this machine only.\n"));
    return serve_send(connection, lwp_site_get(serve->site, url));
}

static bool serve_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* A listening socket; *port becomes the real one. */
static int serve_listen(const char *bind_to, int *port, bool *loopback, struct lwp_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", *port);
    int failed = getaddrinfo(strcmp(bind_to, "localhost") == 0 ? "127.0.0.1" : bind_to, service, &hints, &found);
    if (failed)
        return lwp_error_set(err, LWP_ERR_USAGE, "--bind takes an IP address, and %s is none (%s)", bind_to,
                             gai_strerror(failed));
    int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol), yes = 1, status = 0;
    *loopback = serve_is_loopback(found->ai_addr);
    if (fd < 0)
        status = lwp_error_errno(err, "cannot open a socket");
    else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
             bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 64)) {
        if (errno == EADDRINUSE)
            status = lwp_error_set(err, LWP_ERR_SYSTEM,
                                   "port %d on %s is in use; choose another with -p PORT, or -p 0 for any free one",
                                   *port, bind_to);
        else if (errno == EACCES)
            status = lwp_error_set(err, LWP_ERR_SYSTEM, "port %d needs more rights; choose one above 1023 with -p PORT",
                                   *port);
        else
            status = lwp_error_errno(err, "cannot listen on port %d of %s", *port, bind_to);
    }
    freeaddrinfo(found);
    if (status) {
        if (fd >= 0)
            close(fd);
        return status;
    }
    struct sockaddr_storage own;
    socklen_t own_length = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &own_length) == 0)
        *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                                : ((struct sockaddr_in *)&own)->sin_port);
    return fd;
}

static void serve_open_browser(const char *url)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const char *argv[] = {"xdg-open", url, NULL};
    if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ))
        lwp_log(LWP_LOG_WARNING, "no xdg-open here: open %s yourself", url);
    posix_spawn_file_actions_destroy(&actions);
}

static void serve_nothing(int number)
{
    (void)number;
}

static int serve_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    struct serve serve = {0};
    int exit_status;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &exit_status))
        return exit_status;
    if (argc - options.operands != 1) {
        lwp_log(LWP_LOG_ERROR, "serve: name the folder that 'lwp collect' has written: lwp serve DIR");
        return 2;
    }
    const char *bind_to = lwp_options_text(&options, "bind");
    int port = (int)lwp_options_number(&options, "port");
    int fd = serve_listen(bind_to, &port, &serve.local_only, &err);
    if (fd < 0 || lwp_site_new(&serve.site, argv[options.operands], lwp_options_text(&options, "templates"), &err)) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        if (fd >= 0)
            close(fd);
        return 1;
    }

    /* Caught even where the shell started us with SIGINT ignored; blocked before the server's thread is born. */
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    signal(SIGINT, serve_nothing);
    signal(SIGTERM, serve_nothing);
    signal(SIGPIPE, SIG_IGN);

    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, serve_request, &serve, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END);
    if (!daemon) {
        lwp_log(LWP_LOG_ERROR, "cannot start the server");
        close(fd);
        lwp_site_free(serve.site);
        return 1;
    }
    char url[300];
    bool anywhere = strcmp(bind_to, "0.0.0.0") == 0 || strcmp(bind_to, "::") == 0;
    const char *shown = anywhere ? "localhost" : bind_to;
    snprintf(url, sizeof url, strchr(shown, ':') ? "http://[%s]:%d/" : "http://%s:%d/", shown, port);
    printf("%s\n", url);
    fflush(stdout);
    size_t results = lwp_site_results(serve.site);
    if (results > 1)
        lwp_log(LWP_LOG_NOTE, "serving %zu results; Ctrl-C ends it", results);
    else
        lwp_log(LWP_LOG_NOTE, "serving; Ctrl-C ends it");
    if (lwp_options_flag(&options, "open"))
        serve_open_browser(url);
    int number;
    sigwait(&stop, &number);
    MHD_stop_daemon(daemon);
    lwp_site_free(serve.site);
    return 0;
}

const struct lwp_command lwp_cmd_serve = {
    .name = "serve",
    .usage = "[options] DIR",
    .summary = "show the report of a result in a browser",
    .details =
        "DIR is what 'lwp collect' has written, or a folder that holds several of them: then the first page lists "
        "them.\n"
        "The URL is printed on stdout. An open page loads itself again when its result has changed. From another machine, forward\n"
        "the port: ssh -L 8080:localhost:8080 HOST.\n\n"
        "Exit status: 0 ended by Ctrl-C or SIGTERM, 1 DIR could not be read or the port not used, 2 wrong usage.",
    .options = serve_options,
    .run = serve_run,
};
