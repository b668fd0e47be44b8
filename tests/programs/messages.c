/* Sends itself messages, whose parts lwp has to look into where watchpoints could be on them. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

int main(void)
{
    char text[64] = "", got[64];
    struct iovec part = {text, sizeof text};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    for (int i = 0; i < 100; i++) {
        struct iovec into = {got, sizeof got};
        if (sendmsg(ends[0], &message, 0) != sizeof text || readv(ends[1], &into, 1) != sizeof got)
            return 1;
    }
    puts("sent");
    return 0;
}
