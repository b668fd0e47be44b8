/* Hands bad pointers to system calls and prints what they say: with and without a profiler the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile long words[64];
static long passes;

#define TRY(call)                                                                              \
    do {                                                                                       \
        errno = 0;                                                                             \
        long status = (long)(call);                                                            \
        if (!passes)                                                                           \
            printf("%s: %ld %s\n", #call, status, status < 0 ? strerror(errno) : "");          \
    } while (0)

static void try_all(char *last_bytes, const int *ends)
{
    void *bad = (void *)8, *gone = last_bytes + 8;
    char buffer[64] = "text";
    struct iovec good = {buffer, 4}, wild = {bad, 4}, endless = {buffer, SIZE_MAX};
    struct iovec *cut = (struct iovec *)(last_bytes - sizeof *cut / 2); /* its end lies on a page that is not there */
    struct msghdr message = {.msg_iov = &good, .msg_iovlen = 1}, no_parts = {.msg_iov = bad, .msg_iovlen = 1};
    struct msghdr many = {.msg_iov = &good, .msg_iovlen = SIZE_MAX}, wild_part = {.msg_iov = &wild, .msg_iovlen = 1};
    struct msghdr to_nobody = {.msg_name = bad, .msg_namelen = 16, .msg_iov = &good, .msg_iovlen = 1};

    TRY(write(ends[0], bad, 4));
    TRY(write(ends[0], buffer, SIZE_MAX));
    TRY(send(ends[0], gone, 4, 0));
    TRY(sendto(ends[0], NULL, 4, 0, NULL, 0));
    TRY(writev(ends[0], NULL, 1));
    TRY(writev(ends[0], bad, 1));
    TRY(writev(ends[0], cut, 1));
    TRY(writev(ends[0], &wild, 1));
    TRY(writev(ends[0], &endless, 1));
    TRY(writev(ends[0], &good, -1));
    TRY(writev(ends[0], &good, INT_MAX));
    TRY(sendmsg(ends[0], NULL, 0));
    TRY(sendmsg(ends[0], bad, 0));
    TRY(sendmsg(ends[0], gone, 0));
    TRY(sendmsg(ends[0], &no_parts, 0));
    TRY(sendmsg(ends[0], &many, 0));
    TRY(sendmsg(ends[0], &wild_part, 0));
    TRY(sendmsg(ends[0], &to_nobody, 0));
    TRY(sendmsg(-1, NULL, 0));
    TRY(sendmsg(ends[0], &message, 0));
    TRY(send(ends[0], buffer, 8, 0));
    TRY(recvmsg(ends[1], NULL, MSG_DONTWAIT));
    TRY(recvmsg(ends[1], bad, MSG_DONTWAIT));
    TRY(recvmsg(ends[1], &no_parts, MSG_DONTWAIT));
    TRY(recvmsg(ends[1], &message, MSG_DONTWAIT));
    TRY(readv(ends[1], NULL, 1));
    TRY(readv(ends[1], bad, 1));
    TRY(readv(ends[1], cut, 1));
    TRY(readv(ends[1], &wild, 1));
    TRY(readv(ends[1], &good, -1));
    TRY(readv(-1, bad, 1));
    TRY(recv(ends[1], bad, 4, MSG_DONTWAIT));
    TRY(recvfrom(ends[1], buffer, 8, MSG_DONTWAIT, bad, NULL));
    TRY(send(ends[0], buffer, 8, 0));
    TRY(recv(ends[1], buffer, 8, MSG_DONTWAIT));
    TRY(read(-1, bad, 4));
    while (recv(ends[1], buffer, sizeof buffer, MSG_DONTWAIT) > 0)
        ;
}

int main(void)
{
    int ends[2];
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || munmap(pages + 4096, 4096) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    for (; passes < 20000; passes++) {
        for (int k = 0; k < 200; k++)
            for (int i = 0; i < 64; i++)
                words[i] = k;
        try_all(pages + 4096, ends);
    }
    return 5;
}
