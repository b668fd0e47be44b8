/* What comes to the server's socket, byte by byte. It must answer in HTTP or not at all, within ten seconds, and never with
 * what lies outside of the results. */
#include "base/log.h"
#include "tests/fuzz/folder.h"
#include "web/server.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { SECONDS = 10, ANSWER_BYTES = 1 << 20 };

static const char outside[] = "what lies outside";
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void put(const char *dir, const char *text)
{
    char path[128], json[256];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/analysis.json", dir);
    snprintf(json, sizeof json, "{\"schema\": \"lwp-analysis\", \"version\": \"1.0\", \"run\": {\"command\": [\"%s\"]}, \"findings\": []}", text);
    fuzz_file(path, (const uint8_t *)json, strlen(json));
}

/* Two results, and a link to one that is not below their folder. */
static void start(void)
{
    char folder[128], link[sizeof folder + 8];
    static struct lwp_site *site; /* until the end */
    static struct lwp_server *server;
    struct lwp_error err;
    lwp_log_set_level(LWP_LOG_ERROR);
    snprintf(folder, sizeof folder, "%s/results", fuzz_folder());
    mkdir(folder, 0700);
    put("results/a", "first");
    put("results/b", "second");
    put("outside", outside);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", fuzz_folder());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (symlink("../outside", link) || fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 64) ||
        lwp_site_new(&site, folder, NULL, NULL, &err) || lwp_server_start(&server, site, fd, true, NULL, &err))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static char answer[ANSWER_BYTES + 1];
    const struct timeval wait = {.tv_sec = SECONDS};
    size_t length = 0;
    ssize_t got;
    if (!*address.sun_path)
        start();
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        abort();
    for (size_t sent = 0; sent < size && (got = send(fd, input + sent, size - sent, MSG_NOSIGNAL)) > 0; sent += (size_t)got)
        ; /* it may close before all has come */
    /* An end that comes together with the last bytes is not told to libmicrohttpd, which waits for its time to run out then. */
    for (int left = 1; ioctl(fd, SIOCOUTQ, &left) == 0 && left;)
        usleep(20);
    shutdown(fd, SHUT_WR);
    while (length < ANSWER_BYTES && (got = recv(fd, answer + length, ANSWER_BYTES - length, 0)) > 0)
        length += (size_t)got;
    if (got < 0 && length == 0 && size && errno == EAGAIN)
        abort(); /* neither an answer nor an end */
    if ((length && strncmp(answer, "HTTP/1.", length < 7 ? length : 7) != 0) || memmem(answer, length, outside, strlen(outside)))
        abort();
    close(fd);
    return 0;
}
