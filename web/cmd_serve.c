/* lwp serve: the report of one result, or an index of several, over HTTP on this machine. */
#include "base/command.h"
#include "base/log.h"
#include "web/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct lwp_option serve_options[] = {
    {"port", 'p', LWP_OPT_NUMBER, "PORT", 0, 65535, NULL, "8080", "TCP port; 0 takes a free one"},
    {"bind", 0, LWP_OPT_TEXT, "ADDRESS", 0, 0, NULL, "127.0.0.1", "IPv4 address to listen on"},
    {"open", 0, LWP_OPT_FLAG, NULL, 0, 0, NULL, NULL, "open the page with xdg-open"},
    {"templates", 0, LWP_OPT_TEXT, "DIR", 0, 0, NULL, NULL, "read the page's template, style and script from DIR"},
    {0},
};

enum { SERVE_CONNECTIONS = 64, SERVE_TIMEOUT_S = 20 };

static enum MHD_Result serve_send(struct MHD_Connection *connection, struct lwp_site_answer *answer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->size, answer->bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(answer->bytes);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (answer->status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    enum MHD_Result sent = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result serve_request(void *to, struct MHD_Connection *connection, const char *url, const char *method,
                                     const char *version, const char *upload, size_t *upload_size, void **state)
{
    (void)version;
    (void)upload;
    static int begun;
    if (!*state) { /* libmicrohttpd calls once for the headers; answers go out on the second call */
        *state = &begun;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    struct lwp_site_answer answer;
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    lwp_site_answer(to, reads, host, url, &answer);
    return answer.bytes ? serve_send(connection, &answer) : MHD_NO;
}

static void serve_open_browser(const char *url)
{
    if (fork() == 0) {
        execlp("xdg-open", "xdg-open", url, (char *)NULL);
        _exit(127);
    }
}

static int serve_wait(void)
{
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigwait(&set, &signal);
    return 0;
}

static int serve_start(struct lwp_site *site, const struct lwp_options *options)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *bind_text = lwp_options_text(options, "bind");
    unsigned port = (unsigned)lwp_options_number(options, "port");
    if (inet_pton(AF_INET, bind_text, &address.sin_addr) != 1) {
        lwp_log(LWP_LOG_ERROR, "serve: --bind wants an IPv4 address such as 127.0.0.1, not '%s'", bind_text);
        return 2;
    }
    address.sin_port = htons((uint16_t)port);
    lwp_site_set_bind(site, bind_text);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* before the server's thread is made: serve_wait takes them */
    errno = 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, (uint16_t)port, NULL, NULL, serve_request, site,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_TIMEOUT_S, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_END);
    if (!daemon) {
        if (errno == EADDRINUSE)
            lwp_log(LWP_LOG_ERROR, "serve: port %u is in use; choose another with -p, or -p 0 for a free one", port);
        else
            lwp_log(LWP_LOG_ERROR, "serve: cannot listen on %s port %u: %s", bind_text, port, strerror(errno));
        return 1;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    char url[128];
    snprintf(url, sizeof url, "http://%s:%u/", bind_text, info ? info->port : port);
    printf("%s\n", url);
    fflush(stdout);
    lwp_log(LWP_LOG_NOTE, "serving; Ctrl-C ends it");
    if (lwp_options_flag(options, "open"))
        serve_open_browser(url);
    int status = serve_wait();
    MHD_stop_daemon(daemon);
    return status;
}

static int serve_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &status))
        return status;
    if (argc - options.operands != 1) {
        lwp_log(LWP_LOG_ERROR, "serve: name one result directory, or a folder that holds several: lwp serve DIR");
        return 2;
    }
    struct lwp_site *site = lwp_site_new(argv[options.operands], lwp_options_text(&options, "templates"), &err);
    if (!site) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    status = serve_start(site, &options);
    lwp_site_free(site);
    return status;
}

const struct lwp_command lwp_cmd_serve = {
    .name = "serve",
    .usage = "DIR [-p PORT] [--bind ADDRESS] [--open]",
    .summary = "show a result in the browser",
    .details = "DIR is one result, or a folder that holds several (an index then). Prints the address and serves until\n"
               "Ctrl-C. It listens on this machine only unless --bind says otherwise: what it shows includes source code.\n"
               "Exit status: 0 ended by Ctrl-C or SIGTERM, 1 could not serve, 2 wrong use.",
    .options = serve_options,
    .run = serve_run,
};
