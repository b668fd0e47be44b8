/* lwp dump: the records of sample files as text, one a line, for people and tests. */
#include "analysis/load/progress.h"
#include "base/command.h"
#include "base/log.h"
#include "format/reader.h"

#include <inttypes.h>
#include <stdio.h>

static const struct lwp_option dump_options[] = {
    {.name = "progress",
     .kind = LWP_OPT_TEXT,
     .argument = "DIR",
     .help = "what a result folder has so far, while it is written too, as JSON: processes, threads, samples, bytes"},
    {0},
};

/* Names come from the profiled program: what a terminal would act on is shown as '?'. */
static void dump_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        putchar((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? (text[i] ? '?' : ' ') : text[i]);
}

static void dump_string(const char *text)
{
    for (; *text; text++)
        dump_text(text, 1);
    putchar('\n');
}

static int dump_file(void *to, const struct lwps_file *file)
{
    (void)to;
    printf("file version %u engine %u unit %u pid %" PRIu32 " tid %" PRIu32 " start %" PRIu64 " wall %" PRIu64
           " lost %" PRIu64 "%s%s\n",
           file->version, file->engine, file->weight_unit, file->pid, file->tid, file->start_ns, file->start_wall_ns,
           file->lost_records, file->sealed ? " sealed" : "", file->complete ? " complete" : "");
    return 0;
}

static int dump_process(void *to, const struct lwps_process *record)
{
    (void)to;
    printf("process %" PRIu32 " parent %" PRIu32 " time %" PRIu64 " command ", record->pid, record->parent_pid,
           record->time);
    dump_text(record->command, record->command_bytes);
    putchar('\n');
    return 0;
}

static int dump_module(void *to, const struct lwps_module *record)
{
    (void)to;
    printf("module %" PRIu32 " time %" PRIu64 " %" PRIx64 "-%" PRIx64 " bias %" PRIx64 " build ", record->id,
           record->time, record->start, record->end, record->bias);
    for (unsigned i = 0; i < record->build_id_bytes; i++)
        printf("%02x", record->build_id[i]);
    printf(" path ");
    dump_string(record->path);
    return 0;
}

static int dump_module_end(void *to, const struct lwps_module_end *record)
{
    (void)to;
    printf("module-end %" PRIu32 " time %" PRIu64 "\n", record->id, record->time);
    return 0;
}

static int dump_context(void *to, const struct lwps_context *record)
{
    (void)to;
    printf("context %" PRIu32 " parent %" PRIu32 " ip %" PRIx64 "\n", record->id, record->parent, record->ip);
    return 0;
}

static int dump_pool(void *to, const struct lwps_pool *record)
{
    (void)to;
    printf("pool %" PRIu32 " context %" PRIu32 " size %" PRIu64 "\n", record->id, record->context, record->size);
    return 0;
}

static int dump_pool_count(void *to, const struct lwps_pool_count *record)
{
    (void)to;
    printf("pool-count %" PRIu32 " allocations %" PRIu64 " frees %" PRIu64 " peak %" PRIu64 " bytes %" PRIu64 "\n",
           record->id, record->allocations, record->frees, record->peak_blocks, record->bytes);
    return 0;
}

static int dump_block(void *to, const struct lwps_block *record)
{
    (void)to;
    printf("block %" PRIu32 " kind %u context %" PRIu32 " time %" PRIu64 " address %" PRIx64 " size %" PRIu64 "\n",
           record->id, record->kind, record->context, record->time, record->address, record->size);
    return 0;
}

static int dump_block_end(void *to, const struct lwps_block_end *record)
{
    (void)to;
    printf("block-end %" PRIu32 " time %" PRIu64 "\n", record->id, record->time);
    return 0;
}

static int dump_totals(void *to, const struct lwps_totals *record)
{
    (void)to;
    printf("totals time %" PRIu64 " user %" PRIu64 " system %" PRIu64 " own %" PRIu64 " samples %" PRIu64
           " addressed %" PRIu64 " lost %" PRIu64 " allocations %" PRIu64 "\n",
           record->time, record->user_ns, record->system_ns, record->own_ns, record->samples,
           record->samples_with_address, record->samples_lost, record->allocations);
    return 0;
}

static int dump_note(void *to, const struct lwps_note *record)
{
    (void)to;
    printf("note ");
    dump_string(record->text);
    return 0;
}

static int dump_thread(void *to, const struct lwps_thread *record)
{
    (void)to;
    printf("thread %" PRIu32 " time %" PRIu64 " stack %" PRIx64 "-%" PRIx64 " name ", record->tid, record->time,
           record->stack_low, record->stack_high);
    dump_string(record->name);
    return 0;
}

static int dump_thread_end(void *to, const struct lwps_thread_end *record)
{
    (void)to;
    printf("thread-end time %" PRIu64 " cpu %" PRIu64 "\n", record->time, record->cpu_ns);
    return 0;
}

/* enum lwps_level */
static void dump_level(uint8_t level)
{
    static const char *const where[] = {"unknown", "L1", "buffer", "L2", "L3", "memory", "other", "?"};
    static const char *const tlb[] = {"", ",tlb-L1", ",tlb-L2", ",tlb-walk"};
    if (level)
        printf(" level %s%s%s%s%s", where[level & LWPS_LEVEL_MASK], level & LWPS_LEVEL_REMOTE ? ",remote" : "",
               level & LWPS_LEVEL_MODIFIED ? ",modified" : "", tlb[level >> LWPS_TLB_SHIFT & 3],
               level & LWPS_LEVEL_LOCKED ? ",locked" : "");
}

static void dump_access(const struct lwps_access *access)
{
    static const char *const homes[] = {"address", "pool", "stack"};
    printf("ip %" PRIx64 " %s%s bytes %u source %u%s", access->ip, access->flags & LWPS_ACCESS_LOAD ? "load" : "",
           access->flags & LWPS_ACCESS_STORE ? "store" : "", access->bytes, access->source,
           access->flags & LWPS_ACCESS_WEIGHTED ? " weighted" : "");
    if (!(access->flags & LWPS_ACCESS_KNOWN)) {
        printf(" address unknown\n");
        return;
    }
    printf(" address %" PRIx64, access->address);
    if (access->home != LWPS_HOME_ADDRESS)
        printf(" %s %" PRIu32 " base %" PRIx64, homes[access->home], access->home_id, access->home_base);
    dump_level(access->level);
    putchar('\n');
}

static void dump_verdicts(uint8_t verdicts)
{
    static const char *const names[] = {" dead-store", " silent-store", " silent-load", " sharing",
                                        " computation", " register", " spatial"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (verdicts >> i & 1)
            fputs(names[i], stdout);
}

static int dump_candidates(void *to, const struct lwps_candidates *record)
{
    (void)to;
    printf("candidates time %" PRIu64 " weight %" PRIu64, record->time, record->weight);
    dump_verdicts(record->verdicts);
    printf(" count %" PRIu32 " context %" PRIu32 " ip %" PRIx64 "\n", record->count, record->context, record->ip);
    return 0;
}

static int dump_watch(void *to, const struct lwps_watch *record)
{
    (void)to;
    static const char *const ends[] = {"?", "decided", "not-watched", "evicted", "mispredicted", "overwritten", "freed",
                                       "frame-died", "kernel", "foreign", "unknown", "ended"};
    static const char *const values[] = {"?", "same", "close", "other"};
    printf("watch time %" PRIu64 " end %" PRIu64 " weight %" PRIu64, record->time, record->end_time, record->weight);
    dump_verdicts(record->verdicts);
    printf(" %s value %s overlap %u\n",
           ends[record->end < sizeof ends / sizeof *ends ? record->end : 0],
           values[record->value < sizeof values / sizeof *values ? record->value : 0], record->overlap);
    printf("  first tid %" PRIu32 " context %" PRIu32 " ", record->first_tid, record->first_context);
    dump_access(&record->first);
    if (record->second.ip) {
        printf("  second context %" PRIu32 " ", record->second_context);
        dump_access(&record->second);
    }
    return 0;
}

static int dump_pair(void *to, const struct lwps_pair *record)
{
    (void)to;
    printf("pair time %" PRIu64, record->time);
    dump_verdicts(record->verdict);
    printf(" use %" PRIu64 " waste %" PRIu64 " close %" PRIu64 " open %" PRIu64 " times %" PRIu64 " again %" PRIu64 "\n",
           record->use, record->waste, record->close, record->open, record->times, record->again);
    printf("  first context %" PRIu32 " ", record->first_context);
    dump_access(&record->first);
    if (record->second.ip) {
        printf("  second context %" PRIu32 " ", record->second_context);
        dump_access(&record->second);
    }
    return 0;
}

static int dump_registers(void *to, const struct lwps_registers *record)
{
    (void)to;
    printf("registers %s %s bytes %" PRIu64 " same %" PRIu64 " close %" PRIu64 " instructions %" PRIu64 " of %" PRIu64 "\n",
           record->flags & LWPS_ACCESS_LOAD ? "loaded" : "computed", record->flags & LWPS_ACCESS_FLOAT ? "float" : "other",
           record->bytes, record->same, record->close, record->instructions, record->of_instructions);
    return 0;
}

static int dump_flows(void *to, const struct lwps_flows *record)
{
    (void)to;
    printf("flows granule %" PRIu32 " alone %" PRIu64 " thinned %" PRIu32 " %" PRIu32 " accesses %" PRIu64 "\n", record->granule_bytes, record->alone_bytes,
           record->thinned, record->distances_thinned, record->accesses);
    return 0;
}

static int dump_party(void *to, const struct lwps_party *record)
{
    (void)to;
    printf("party %" PRIu32 " tid %" PRIu32 " %s\n", record->number, record->tid, record->name);
    return 0;
}

static int dump_flow(void *to, const struct lwps_flow *record)
{
    (void)to;
    printf("flow time %" PRIu64 " ip %" PRIx64 " bytes %" PRIu32 " from %" PRIu32 " to %" PRIu32 " first %" PRIu64 " again %" PRIu64 "\n",
           record->time, record->ip, record->bytes, record->writer, record->reader, record->first, record->again);
    return 0;
}

static int dump_flow_distance(void *to, const struct lwps_flow_distance *record)
{
    (void)to;
    printf("flow distance time %" PRIu64 " ip %" PRIx64 " up to %" PRIu64 " count %" PRIu64 " before %" PRIx64 "\n", record->time, record->ip,
           record->up_to, record->count, record->before);
    return 0;
}

static int dump_flow_pieces(void *to, const struct lwps_flow_pieces *record)
{
    (void)to;
    printf("flow pieces time %" PRIu64 " ip %" PRIx64 " count %" PRIu64 " lines %" PRIu64 " bytes %" PRIu64 " step %" PRId64 " even %" PRIu64 "\n",
           record->time, record->ip, record->count, record->lines, record->bytes, record->step, record->even);
    return 0;
}

static int dump_trace(void *to, const struct lwps_trace *record)
{
    (void)to;
    printf("trace window %" PRIu32 " part %" PRIu32 " tid %" PRIu32 " time %" PRIu64 " bytes %" PRIu32 "\n", record->window, record->part,
           record->tid, record->time, record->size);
    return 0;
}

static int dump_sample(void *to, const struct lwps_sample *record)
{
    (void)to;
    static const char *const kinds[] = {"unknown", "stall", "compute", "store"};
    printf("sample time %" PRIu64 " weight %" PRIu64 " ip %" PRIx64 " context %" PRIu32 " %s\n", record->time,
           record->weight, record->ip, record->context, kinds[record->kind & 3]);
    for (unsigned i = 0; i < record->access_count; i++) {
        printf("  access ");
        dump_access(&record->access[i]);
    }
    return 0;
}

static int dump_progress(const char *dir)
{
    struct lwp_error err;
    json_t *progress;
    int status = lwp_progress_read(dir, &progress, &err);
    if (!status && (json_dumpf(progress, stdout, 0) || putchar('\n') == EOF))
        status = lwp_error_errno(&err, "cannot write");
    if (status)
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
    json_decref(progress);
    return status ? 1 : 0;
}

static int dump_run(int argc, char **argv, const struct lwp_command *self)
{
    static const struct lwps_visitor visitor = {
        .file = dump_file, .process = dump_process, .module = dump_module, .module_end = dump_module_end,
        .context = dump_context, .pool = dump_pool, .pool_count = dump_pool_count, .block = dump_block,
        .block_end = dump_block_end, .totals = dump_totals, .note = dump_note, .thread = dump_thread,
        .thread_end = dump_thread_end, .watch = dump_watch, .candidates = dump_candidates, .pair = dump_pair, .registers = dump_registers,
        .flows = dump_flows, .party = dump_party, .flow = dump_flow, .flow_distance = dump_flow_distance,
        .flow_pieces = dump_flow_pieces, .trace = dump_trace, .sample = dump_sample,
    };
    struct lwp_options options;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &status))
        return status;
    if (lwp_options_given(&options, "progress") && options.operands == argc)
        return dump_progress(lwp_options_text(&options, "progress"));
    if (options.operands == argc || lwp_options_given(&options, "progress")) {
        lwp_log(LWP_LOG_ERROR, "dump: name a sample file, for example DIR/p1234/process.lwps, or --progress DIR");
        return 2;
    }
    status = 0;
    for (int i = options.operands; i < argc; i++) {
        struct lwps_damage damage;
        struct lwp_error err;
        if (lwps_read(argv[i], &visitor, NULL, &damage, &err)) {
            lwp_log(LWP_LOG_ERROR, "%s", err.text);
            status = 1;
        } else if (damage.bad_blocks || damage.torn_bytes || damage.unknown_blocks || damage.incomplete) {
            lwp_log(LWP_LOG_WARNING,
                    "%s: %" PRIu64 " damaged blocks, %" PRIu64 " torn bytes, %" PRIu64 " blocks of unknown type%s", argv[i],
                    damage.bad_blocks, damage.torn_bytes, damage.unknown_blocks,
                    damage.incomplete ? ", no trailer (the program was killed, or the file was cut)" : "");
            status = 1;
        }
    }
    return status;
}

const struct lwp_command lwp_cmd_dump = {
    .name = "dump",
    .usage = "FILE.lwps…",
    .summary = "print the records of sample files as text",
    .details = "One line a record, an indented line an access; addresses are hexadecimal, times and weights in ns.\n"
               "Exit status: 0 sound, 1 damaged or not readable (what is sound is printed), 2 wrong use.",
    .options = dump_options,
    .run = dump_run,
};
