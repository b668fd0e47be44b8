/* lwp serve: the report of a result, or an index of several, in a browser: the socket, the address, and the end. */
#include "base/command.h"
#include "base/log.h"
#include "web/server.h"
#include "web/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct lwp_option serve_options[] = {
    {.name = "port",
     .letter = 'p',
     .kind = LWP_OPT_NUMBER,
     .argument = "PORT",
     .min = 0,
     .max = 65535,
     .initial = "8080",
     .help = "port to listen on; 0 picks a free one"},
    {.name = "bind",
     .kind = LWP_OPT_TEXT,
     .argument = "ADDR",
     .initial = "127.0.0.1",
     .help = "address to listen on; if other machines can reach it, the URL contains a secret"},
    {.name = "root",
     .kind = LWP_OPT_TEXT,
     .argument = "FOLDER",
     .help = "read source below FOLDER too, and also for results made elsewhere"},
    {.name = "open", .kind = LWP_OPT_FLAG, .help = "open the page in the desktop's browser"},
    {.name = "templates",
     .kind = LWP_OPT_TEXT,
     .argument = "FOLDER",
     .help = "read the page's HTML, style and scripts from FOLDER, again for each page"},
    {0},
};

static bool serve_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* A listening socket; *port becomes the real one. */
static int serve_listen(const char *bind_to, int *port, bool *loopback, struct lwp_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", *port);
    int failed = getaddrinfo(strcmp(bind_to, "localhost") == 0 ? "127.0.0.1" : bind_to, service, &hints, &found);
    if (failed)
        return lwp_error_set(err, LWP_ERR_USAGE, "--bind takes an IP address, and %s is none (%s)", bind_to, gai_strerror(failed));
    int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol), yes = 1, status = 0;
    *loopback = serve_is_loopback(found->ai_addr);
    if (fd < 0)
        status = lwp_error_errno(err, "cannot open a socket");
    else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) || bind(fd, found->ai_addr, found->ai_addrlen) ||
             listen(fd, SOMAXCONN)) {
        if (errno == EADDRINUSE)
            status = lwp_error_set(err, LWP_ERR_SYSTEM, "port %d on %s is in use; choose another with -p PORT, or -p 0 for any free one",
                                   *port, bind_to);
        else if (errno == EACCES)
            status = lwp_error_set(err, LWP_ERR_SYSTEM, "port %d needs more rights; choose one above 1023 with -p PORT", *port);
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
        *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port : ((struct sockaddr_in *)&own)->sin_port);
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

/* Caught even where the shell started us with SIGINT ignored; blocked before the server's thread is born. */
static void serve_block_signals(sigset_t *stop)
{
    sigemptyset(stop);
    sigaddset(stop, SIGINT);
    sigaddset(stop, SIGTERM);
    sigprocmask(SIG_BLOCK, stop, NULL);
    signal(SIGINT, serve_nothing);
    signal(SIGTERM, serve_nothing);
    signal(SIGPIPE, SIG_IGN);
}

static void serve_say(const struct lwp_options *options, const char *bind_to, int port, const char *secret, size_t results)
{
    char url[300];
    bool anywhere = strcmp(bind_to, "0.0.0.0") == 0 || strcmp(bind_to, "::") == 0;
    const char *shown = anywhere ? "localhost" : bind_to;
    snprintf(url, sizeof url, strchr(shown, ':') ? "http://[%s]:%d/%s%s" : "http://%s:%d/%s%s", shown, port, secret, *secret ? "/" : "");
    if (*secret)
        lwp_log(LWP_LOG_NOTE, "other machines can reach this: whoever has the address can read the report");
    printf("%s\n", url);
    fflush(stdout);
    if (results > 1)
        lwp_log(LWP_LOG_NOTE, "serving %zu results; Ctrl-C ends it", results);
    else
        lwp_log(LWP_LOG_NOTE, "serving; Ctrl-C ends it");
    if (lwp_options_flag(options, "open"))
        serve_open_browser(url);
}

/* Serves until a signal comes. */
static int serve_site(const struct lwp_options *options, const char *dir, struct lwp_error *err)
{
    const char *bind_to = lwp_options_text(options, "bind");
    char secret[LWP_SERVER_SECRET_BYTES] = "";
    struct lwp_site *site = NULL;
    struct lwp_server *server = NULL;
    sigset_t stop;
    bool loopback = false;
    int port = (int)lwp_options_number(options, "port"), number, fd = serve_listen(bind_to, &port, &loopback, err);
    int status = fd < 0 ? fd : lwp_site_new(&site, dir, lwp_options_text(options, "templates"), lwp_options_text(options, "root"), err);
    if (!status && !loopback)
        status = lwp_server_secret(secret, err);
    if (status) {
        if (fd >= 0)
            close(fd);
        lwp_site_free(site);
        return status;
    }
    serve_block_signals(&stop);
    status = lwp_server_start(&server, site, fd, loopback, *secret ? secret : NULL, err);
    if (!status) {
        serve_say(options, bind_to, port, secret, lwp_site_results(site));
        sigwait(&stop, &number);
    }
    lwp_server_stop(server);
    lwp_site_free(site);
    return status;
}

static int serve_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int exit_status;
    if (!lwp_command_begin(&options, self, argc, argv, &exit_status))
        return exit_status;
    const char *dir = lwp_result_operand("serve", argc - options.operands, argv + options.operands);
    if (!dir)
        return LWP_WRONG_USE;
    if (serve_site(&options, dir, &err)) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    return 0;
}

const struct lwp_command lwp_cmd_serve = {
    .name = "serve",
    .usage = "[options] [DIR]",
    .summary = "show the report of a result in a browser",
    .details = "DIR is a result directory of 'lwp collect', or a folder with several of them, which the first page then lists.\n"
               "Without DIR the newest lwp-* in the current folder is taken.\n"
               "The URL is printed on stdout. An open page reloads itself when its result has changed. To reach it from another\n"
               "machine, forward the port: ssh -L 8080:localhost:8080 HOST.\n\n"
               "Exit status: 0 ended by Ctrl-C or SIGTERM, 1 DIR could not be read or the port not used, 125 wrong usage.",
    .options = serve_options,
    .run = serve_run,
};
