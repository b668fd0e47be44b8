/* What is true of a program's stores and loads, by executing it one instruction at a time. Shares no code with lwp.
 *
 *     watch_oracle FUNCTION PROGRAM [ARGUMENT...]
 *
 * looks at one call of the function at address FUNCTION (hexadecimal) of a program built with -no-pie and prints, for
 * each instruction with a memory operand (as ADDRESS/CONTEXT, the number of its calling context) and each that decided
 * about it,
 *
 *     KIND FIRST SECOND USE WASTE CLOSE
 *     KIND FIRST - BYTES
 *
 * An access counts by its bytes, and what became of it by the part that each aligned word has of it. A store to a word is dead when other
 * stores have overwritten all its bytes and none was loaded before its turn; it is silent when all of them then are as
 * they were; a load when the next one of any of its bytes finds those as they were. Floating point numbers within 1 %
 * of what they were are close. Calls, pushes and pops decide but are not counted; what the kernel does is not seen.
 */
#define _GNU_SOURCE
#include <Zydis/Zydis.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORD = 8, ACCESSES = 40, CALLS_MOST = 1000, INSN_MOST = 15, WIDEST = 64 };
enum kind { DEAD_STORE, SILENT_STORE, SILENT_LOAD, KINDS };
static const char *const kind_names[KINDS] = {"dead_store", "silent_store", "silent_load"};

static void fail(const char *what)
{
    fprintf(stderr, "watch_oracle: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *more(void *old, size_t count, size_t size)
{
    void *grown = realloc(old, count * size);
    if (!grown)
        fail("memory");
    return grown;
}

/* ---- tables: open addressing, keys never 0 ---- */

struct table {
    struct slot {
        uint64_t key[2];
        size_t at;
    } * slots;
    size_t count, room;
};

/* The place of a key in the caller's array: a new key gets the next one. */
static size_t table_at(struct table *table, uint64_t a, uint64_t b)
{
    if (2 * table->count >= table->room) {
        struct table grown = {.room = table->room ? 2 * table->room : 1024};
        grown.slots = calloc(grown.room, sizeof *grown.slots);
        if (!grown.slots)
            fail("memory");
        for (size_t i = 0; i < table->room; i++) {
            const struct slot *from = &table->slots[i];
            size_t at = (from->key[0] * 0x9e3779b97f4a7c15u ^ from->key[1] * 0xc2b2ae3d27d4eb4fu) >> 20;
            if (!from->key[0])
                continue;
            while (grown.slots[at % grown.room].key[0])
                at++;
            grown.slots[at % grown.room] = *from;
        }
        grown.count = table->count;
        free(table->slots);
        *table = grown;
    }
    size_t at = (a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20;
    for (;; at++) {
        struct slot *slot = &table->slots[at % table->room];
        if (slot->key[0] == a && slot->key[1] == b)
            return slot->at;
        if (!slot->key[0]) {
            *slot = (struct slot){{a, b}, table->count++};
            return slot->at;
        }
    }
}

/* ---- what is found out ---- */

/* An instruction in a calling context. */
struct node {
    uint64_t ip, context;
};
struct pair {
    size_t first, second; /* nodes */
    double use, waste, close;
};

static struct table node_index, context_index, pair_index[KINDS], word_index;
static struct node *nodes;
static uint64_t *counts[KINDS]; /* bytes that each node accessed */
static struct pair *pairs[KINDS];
static size_t node_room, pair_room[KINDS], word_room;

/* The part of one access within one aligned word of which nothing is decided yet. */
struct pending {
    size_t first;       /* node */
    uint8_t left, all;  /* masks of bytes: not yet overwritten; at first */
    uint8_t element;
    double weight;
    uint8_t value[WORD];
};
struct word {
    struct pending of[KINDS][WORD]; /* no byte is in two of a kind */
};
static struct word **words;

static struct word *word_at(uint64_t number)
{
    size_t at = table_at(&word_index, number + 1, 0);
    if (at >= word_room) {
        size_t room = word_room ? 2 * word_room : 1024;
        words = more(words, room, sizeof *words);
        memset(words + word_room, 0, (room - word_room) * sizeof *words);
        word_room = room;
    }
    if (!words[at] && !(words[at] = calloc(1, sizeof **words)))
        fail("memory");
    return words[at];
}

static struct pair *pair_at(enum kind kind, size_t first, size_t second)
{
    size_t before = pair_index[kind].count, at = table_at(&pair_index[kind], first + 1, second);
    if (at >= pair_room[kind])
        pairs[kind] = more(pairs[kind], pair_room[kind] = 2 * at + 64, sizeof *pairs[kind]);
    if (at == before)
        pairs[kind][at] = (struct pair){.first = first, .second = second};
    return &pairs[kind][at];
}

static size_t node_at(uint64_t ip, uint64_t context)
{
    size_t before = node_index.count, at = table_at(&node_index, ip, context);
    if (at >= node_room) {
        node_room = 2 * at + 64;
        nodes = more(nodes, node_room, sizeof *nodes);
        for (int kind = 0; kind < KINDS; kind++)
            counts[kind] = more(counts[kind], node_room, sizeof *counts[kind]);
    }
    if (at == before) {
        nodes[at] = (struct node){ip, context};
        for (int kind = 0; kind < KINDS; kind++)
            counts[kind][at] = 0;
    }
    return at;
}

/* ---- calling contexts, by what call and ret do to the stack ---- */

static struct frame {
    uint64_t sp, context; /* of the return address; of the callee */
} frames[CALLS_MOST];
static unsigned depth;

static uint64_t context_now(void)
{
    return depth ? frames[depth - 1].context : 0;
}

/* `sp` after the instruction. */
static void follow_calls(uint64_t sp, bool called, uint64_t call_ip)
{
    while (depth && frames[depth - 1].sp < sp)
        depth--;
    if (called && depth < CALLS_MOST) {
        uint64_t context = 1 + table_at(&context_index, call_ip, context_now());
        frames[depth++] = (struct frame){sp, context};
    }
}

/* ---- one access ---- */

struct access {
    size_t node;
    uint64_t address;
    unsigned bytes, element;
    bool load, store, counted;
    uint8_t before[WIDEST], after[WIDEST];
};

static bool number_is_close(const uint8_t *a, const uint8_t *b, unsigned element)
{
    double x, y;
    float p, q;
    if (memcmp(a, b, element) == 0)
        return true;
    if (element == sizeof x) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
    } else {
        memcpy(&p, a, sizeof p);
        memcpy(&q, b, sizeof q);
        if (!isnormal(p) || !isnormal(q))
            return false;
        x = (double)p;
        y = (double)q;
    }
    return isnormal(x) && isnormal(y) && fabs(y - x) <= 0.01 * fabs(x);
}

static bool values_are_close(const uint8_t *old, const uint8_t *now, unsigned mask, unsigned element)
{
    if (element != 4 && element != 8)
        return false;
    unsigned whole = (1u << element) - 1;
    for (unsigned at = 0; at < WORD; at += element) {
        unsigned part = mask >> at & whole;
        if (part && (part != whole || !number_is_close(old + at, now + at, element)))
            return false;
    }
    return true;
}

static bool values_are_same(const uint8_t *old, const uint8_t *now, unsigned mask)
{
    for (unsigned i = 0; i < WORD; i++)
        if (mask >> i & 1 && old[i] != now[i])
            return false;
    return true;
}

static void decide(struct pending *pending, enum kind kind, const struct access *by, unsigned mask, const uint8_t *now)
{
    struct pair *pair = pair_at(kind, pending->first, by->node);
    double *outcome = &pair->use;
    if (kind == DEAD_STORE)
        outcome = by->load ? &pair->use : &pair->waste;
    else if (values_are_same(pending->value, now, mask))
        outcome = &pair->waste;
    else if (values_are_close(pending->value, now, mask, pending->element ? pending->element : by->element))
        outcome = &pair->close;
    *outcome += pending->weight;
    pending->left = 0;
}

/* The accesses of a kind that wait for these bytes; `now`: what decides about values. */
static void reach(struct word *word, enum kind kind, const struct access *by, unsigned mask, const uint8_t *now)
{
    for (unsigned i = 0; i < WORD; i++) {
        struct pending *pending = &word->of[kind][i];
        unsigned reached = pending->left & mask;
        if (!reached)
            continue;
        if (by->load && kind != SILENT_STORE) {
            decide(pending, kind, by, reached, now);
            continue;
        }
        pending->left &= (uint8_t)~reached;
        if (!pending->left)
            decide(pending, kind, by, pending->all, now);
    }
}

static void wait_for_next(struct word *word, enum kind kind, const struct access *access, unsigned mask,
                          const uint8_t *value)
{
    struct pending *free_one = word->of[kind];
    while (free_one->left)
        free_one++;
    *free_one = (struct pending){.first = access->node,
                                 .left = (uint8_t)mask,
                                 .all = (uint8_t)mask,
                                 .element = (uint8_t)access->element,
                                 .weight = __builtin_popcount(mask) / (double)access->bytes};
    memcpy(free_one->value, value, WORD);
}

static void see(const struct access *access)
{
    uint64_t end = access->address + access->bytes;
    for (uint64_t number = access->address / WORD; number * WORD < end; number++) {
        struct word *word = word_at(number);
        uint8_t before[WORD] = {0}, after[WORD] = {0};
        unsigned mask = 0;
        for (unsigned i = 0; i < WORD; i++) {
            uint64_t at = number * WORD + i;
            if (at < access->address || at >= end)
                continue;
            mask |= 1u << i;
            before[i] = access->before[at - access->address];
            after[i] = access->after[at - access->address];
        }
        reach(word, DEAD_STORE, access, mask, after);
        if (access->load)
            reach(word, SILENT_LOAD, access, mask, before);
        if (access->store)
            reach(word, SILENT_STORE, access, mask, after);
        if (!access->counted)
            continue;
        if (access->load && !access->store)
            wait_for_next(word, SILENT_LOAD, access, mask, before);
        if (access->store) {
            wait_for_next(word, DEAD_STORE, access, mask, after);
            wait_for_next(word, SILENT_STORE, access, mask, after);
        }
    }
    if (!access->counted)
        return;
    if (access->store) {
        counts[DEAD_STORE][access->node] += access->bytes;
        counts[SILENT_STORE][access->node] += access->bytes;
    } else {
        counts[SILENT_LOAD][access->node] += access->bytes;
    }
}

/* ---- one instruction ---- */

static ZydisDecoder decoder;

struct decoded {
    bool known;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};
static struct table decoded_index;
static struct decoded **decoded;
static size_t decoded_room;

static bool peek(pid_t child, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)address, bytes};
    return process_vm_readv(child, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static const struct decoded *decode(pid_t child, uint64_t ip)
{
    size_t at = table_at(&decoded_index, ip, 0);
    if (at >= decoded_room) {
        size_t room = 2 * at + 1024;
        decoded = more(decoded, room, sizeof *decoded);
        memset(decoded + decoded_room, 0, (room - decoded_room) * sizeof *decoded);
        decoded_room = room;
    }
    if (decoded[at])
        return decoded[at];
    struct decoded *to = decoded[at] = calloc(1, sizeof *to);
    uint8_t code[INSN_MOST];
    size_t bytes = sizeof code;
    while (bytes && !peek(child, ip, code, bytes)) /* the page may end */
        bytes--;
    to->known = bytes && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &to->insn, to->operand));
    return to;
}

static uint64_t register_value(const struct user_regs_struct *regs, ZydisRegister reg)
{
    switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
    case ZYDIS_REGISTER_RAX: return regs->rax;
    case ZYDIS_REGISTER_RBX: return regs->rbx;
    case ZYDIS_REGISTER_RCX: return regs->rcx;
    case ZYDIS_REGISTER_RDX: return regs->rdx;
    case ZYDIS_REGISTER_RSI: return regs->rsi;
    case ZYDIS_REGISTER_RDI: return regs->rdi;
    case ZYDIS_REGISTER_RBP: return regs->rbp;
    case ZYDIS_REGISTER_RSP: return regs->rsp;
    case ZYDIS_REGISTER_R8: return regs->r8;
    case ZYDIS_REGISTER_R9: return regs->r9;
    case ZYDIS_REGISTER_R10: return regs->r10;
    case ZYDIS_REGISTER_R11: return regs->r11;
    case ZYDIS_REGISTER_R12: return regs->r12;
    case ZYDIS_REGISTER_R13: return regs->r13;
    case ZYDIS_REGISTER_R14: return regs->r14;
    case ZYDIS_REGISTER_R15: return regs->r15;
    default: return 0;
    }
}

static uint64_t operand_address(const struct user_regs_struct *regs, const ZydisDecodedInstruction *insn,
                                const ZydisDecodedOperand *operand)
{
    uint64_t address = (uint64_t)operand->mem.disp.value;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        address += regs->rip + insn->length;
    else
        address += register_value(regs, operand->mem.base);
    address += register_value(regs, operand->mem.index) * operand->mem.scale;
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        address += regs->fs_base;
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    bool pushes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && hidden &&
                  operand->mem.base == ZYDIS_REGISTER_RSP;
    return pushes ? address - operand->size / 8 : address;
}

/* Instructions whose operand says nothing of the bytes: of these there are none in the programs looked at, or they are
 * named by the caller's count. */
static bool is_opaque(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operand)
{
    return operand->size == 0 || operand->size / 8 > WIDEST || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
           operand->mem.segment == ZYDIS_REGISTER_GS ||
           (insn->avx.mask.mode != ZYDIS_MASK_MODE_INVALID && insn->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED);
}

static uint64_t opaque, steps;

static unsigned accesses_to_come(const struct user_regs_struct *regs, const struct decoded *from, struct access *list)
{
    unsigned found = 0;
    const ZydisDecodedInstruction *insn = &from->insn;
    const uint64_t repeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    bool string = insn->meta.category == ZYDIS_CATEGORY_STRINGOP;
    if (!from->known || (string && insn->attributes & repeats && regs->rcx == 0) || insn->mnemonic == ZYDIS_MNEMONIC_LEA ||
        insn->meta.category == ZYDIS_CATEGORY_NOP || insn->meta.category == ZYDIS_CATEGORY_WIDENOP ||
        insn->meta.category == ZYDIS_CATEGORY_PREFETCH)
        return 0;
    for (unsigned i = 0; i < insn->operand_count && found < ACCESSES; i++) {
        const ZydisDecodedOperand *operand = &from->operand[i];
        bool load = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        bool store = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
            (!load && !store))
            continue;
        if (is_opaque(insn, operand)) {
            opaque++;
            continue;
        }
        list[found++] = (struct access){
            .node = node_at(regs->rip, context_now()),
            .address = operand_address(regs, insn, operand),
            .bytes = operand->size / 8,
            .element = operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64   ? 8
                       : operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ? 4
                                                                             : 0,
            .load = load,
            .store = store,
            .counted = string || operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN};
    }
    return found;
}

static void step(pid_t child)
{
    int status;
    steps++;
    if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) < 0 || waitpid(child, &status, 0) < 0)
        fail("single step");
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
        fprintf(stderr, "watch_oracle: the program ended or got a signal: status %x\n", (unsigned)status);
        exit(1);
    }
}

/* Until the function returns that has just been called. */
static void trace(pid_t child)
{
    struct access list[ACCESSES];
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, child, 0, &regs) < 0)
        fail("registers");
    for (uint64_t called_at = regs.rsp; regs.rsp <= called_at;) {
        const struct decoded *next = decode(child, regs.rip);
        uint64_t ip = regs.rip;
        unsigned found = accesses_to_come(&regs, next, list);
        for (unsigned i = 0; i < found; i++)
            peek(child, list[i].address, list[i].before, list[i].bytes);
        step(child);
        for (unsigned i = 0; i < found; i++) {
            memcpy(list[i].after, list[i].before, WIDEST);
            if (list[i].store)
                peek(child, list[i].address, list[i].after, list[i].bytes);
            see(&list[i]);
        }
        if (ptrace(PTRACE_GETREGS, child, 0, &regs) < 0)
            fail("registers");
        follow_calls(regs.rsp, next->known && next->insn.meta.category == ZYDIS_CATEGORY_CALL, ip);
    }
}

static void run_to(pid_t child, uint64_t address)
{
    struct user_regs_struct regs;
    int status;
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, child, address, 0);
    if (errno || ptrace(PTRACE_POKETEXT, child, address, (word & ~0xffL) | 0xcc) < 0 ||
        ptrace(PTRACE_CONT, child, 0, 0) < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_POKETEXT, child, address, word) < 0 || ptrace(PTRACE_GETREGS, child, 0, &regs) < 0)
        fail("the function is not reached");
    regs.rip = address;
    if (ptrace(PTRACE_SETREGS, child, 0, &regs) < 0)
        fail("registers");
}

static void print_node(size_t node)
{
    printf(" %lx/%lu", nodes[node].ip, nodes[node].context);
}

static void print(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < pair_index[kind].count; i++) {
            const struct pair *pair = &pairs[kind][i];
            printf("%s", kind_names[kind]);
            print_node(pair->first);
            print_node(pair->second);
            printf(" %.6f %.6f %.6f\n", pair->use, pair->waste, pair->close);
        }
        for (size_t i = 0; i < node_index.count; i++) {
            if (!counts[kind][i])
                continue;
            printf("%s", kind_names[kind]);
            print_node(i);
            printf(" - %lu\n", counts[kind][i]);
        }
    }
    fprintf(stderr, "%lu instructions, %lu operands not followed\n", steps, opaque);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: watch_oracle FUNCTION PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
            _exit(77);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        fail("start");
    if (!WIFSTOPPED(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
    run_to(child, strtoul(argv[1], NULL, 16));
    trace(child);
    print();
    return 0;
}
