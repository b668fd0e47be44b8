/* lwp dump: the records of sample files as text, one a line, for people and tests. The records' rows (format/fields.h) print
 * them: "NAME MEMBER VALUE MEMBER VALUE...", but for what `shown` lists. */
#include "analysis/load/progress.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/command.h"
#include "base/log.h"
#include "format/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct lwp_option dump_options[] = {
    {.name = "progress", .kind = LWP_OPT_TEXT, .argument = "DIR",
     .help = "print what a result directory has so far, while it is written too, as JSON: processes, threads, samples, bytes"},
    {0},
};

/* Names come from the profiled program: what a terminal would act on is shown as '?'. */
static void dump_text(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        putchar((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? (text[i] ? '?' : ' ') : text[i]);
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
        printf(" address unknown");
        return;
    }
    printf(" address %" PRIx64, access->address);
    if (access->home != LWPS_HOME_ADDRESS)
        printf(" %s %" PRIu32 " base %" PRIx64, homes[access->home], access->home_id, access->home_base);
    dump_level(access->level);
}

/* One, or a mask of those of a watchpoint. */
static void dump_verdicts(uint64_t verdicts, bool one)
{
    const struct lwp_redundancy_row *rows = lwp_redundancy_rows;
    for (unsigned i = 0; i < (one ? LWP_WATCHPOINT_KINDS : LWP_REDUNDANCY_SAMPLED); i++)
        if (one ? verdicts == rows[i].verdict : verdicts & rows[i].verdict)
            printf(" %s", rows[i].rule);
    if (!one && verdicts & LWPS_VERDICT_SHARING)
        fputs(" sharing", stdout);
}

/* ---- records ---- */

enum shown_as { AS_DECIMAL, AS_SIGNED, AS_HEX, AS_NAMES, AS_NOTHING };

/* How a field is printed where its row alone does not say. */
struct shown {
    const char *record, *member; /* record NULL: of all that have it */
    const char *before;          /* what is printed before it; NULL: its name */
    enum shown_as as;            /* AS_DECIMAL: as its kind is */
    unsigned behind;             /* so many of the fields that follow are printed first */
};

#define EACH(name, ...) {.member = name, .before = __VA_ARGS__}
#define ONE(of, name, ...) {.record = of, .member = name, .before = __VA_ARGS__}

static const struct shown shown[] = {
    EACH("pid", " "),
    EACH("parent_pid", " parent "),
    EACH("start", " "),
    ONE("module", "end", "-"),
    EACH("bias", NULL, .as = AS_HEX),
    EACH("build_id", " build "),
    EACH("peak_blocks", " peak "),
    EACH("user_ns", " user "),
    EACH("system_ns", " system "),
    EACH("own_ns", " own "),
    EACH("cpu_ns", " cpu "),
    EACH("samples_with_address", " addressed "),
    EACH("samples_lost", " lost "),
    ONE("totals", "instructions", " instructions "),
    EACH("instructions_recorded", " recorded "),
    EACH("resident_bytes", " resident "),
    EACH("allocations_unrecorded", " unrecorded "),
    EACH("page_faults", " page-faults "),
    EACH("native_instructions", " native "),
    EACH("native_ns", " ns "),
    EACH("native_least_ns", " "),
    EACH("native_most_ns", "-"),
    EACH("native_page_faults", " native-faults "),
    EACH("text", " "),
    ONE("thread", "tid", " "),
    EACH("stack_low", " stack ", .as = AS_HEX),
    EACH("stack_high", "-", .as = AS_HEX),
    EACH("end_time", "", .as = AS_NOTHING), /* comes with the time that is relative to it */
    EACH("verdicts", "", .as = AS_NAMES),
    EACH("verdict", "", .as = AS_NAMES),
    ONE("watch", "end", " ", .as = AS_NAMES),
    EACH("value", NULL, .as = AS_NAMES),
    EACH("flags", " ", .as = AS_NAMES),
    EACH("first_tid", "\n  first tid "),
    ONE("watch", "first_context", " context "),
    ONE("pair", "first_context", "\n  first context "),
    EACH("second_context", "", .as = AS_NOTHING), /* comes with the access */
    ONE("candidates", "count", NULL, .behind = 2),
    EACH("even", NULL, .behind = 1),
    EACH("of_instructions", " of "),
    EACH("granule_bytes", " granule "),
    EACH("alone_bytes", " alone "),
    EACH("distances_thinned", " "),
    EACH("number", " "),
    ONE("party", "name", " "),
    EACH("writer", " from "),
    EACH("reader", " to "),
    EACH("up_to", " up to "),
    EACH("before", NULL, .as = AS_HEX),
    ONE("flow_distance", "", "flow distance"),
    ONE("flow_pieces", "", "flow pieces"),
};

static struct shown dump_shown(const char *record, const char *member, enum shown_as as)
{
    struct shown row = {.record = record, .member = member, .as = as};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(shown[i].member, member) == 0 && (!shown[i].record || strcmp(shown[i].record, record) == 0)) {
            row = shown[i];
            row.as = row.as ? row.as : as;
        }
    return row;
}

static void dump_label(const struct shown *row)
{
    if (row->before)
        fputs(row->before, stdout);
    else
        printf(" %s ", row->member);
}

static void dump_record(const char *record)
{
    struct shown row = dump_shown(record, "", AS_NOTHING);
    if (row.before)
        dump_label(&row);
    else
        for (; *record; record++)
            putchar(*record == '_' ? '-' : *record);
}

static void dump_names(const char *member, uint64_t value)
{
    static const char *const ends[] = {"?", "decided", "not-watched", "evicted", "mispredicted", "overwritten", "freed",
                                       "frame-died", "kernel", "foreign", "unknown", "ended"};
    static const char *const values[] = {"?", "same", "close", "other"};
    if (strcmp(member, "end") == 0)
        fputs(ends[value < sizeof ends / sizeof *ends ? value : 0], stdout);
    else if (strcmp(member, "value") == 0)
        fputs(values[value < sizeof values / sizeof *values ? value : 0], stdout);
    else if (strcmp(member, "flags") == 0)
        printf("%s %s", value & LWPS_ACCESS_LOAD ? "loaded" : "computed", value & LWPS_ACCESS_FLOAT ? "float" : "other");
    else
        dump_verdicts(value, strcmp(member, "verdict") == 0);
}

static void dump_value(const struct shown *row, uint64_t value)
{
    dump_label(row);
    if (row->as == AS_NAMES)
        dump_names(row->member, value);
    else if (row->as == AS_HEX)
        printf("%" PRIx64, value);
    else if (row->as == AS_SIGNED)
        printf("%" PRId64, (int64_t)value);
    else if (row->as == AS_DECIMAL)
        printf("%" PRIu64, value);
}

static void dump_field(const char *record, const char *member, uint64_t value, enum shown_as as)
{
    static struct shown held;
    static uint64_t held_value;
    struct shown row = dump_shown(record, member, as);
    if (row.behind) {
        held = row;
        held_value = value;
        return;
    }
    dump_value(&row, value);
    if (held.behind && --held.behind == 0)
        dump_value(&held, held_value);
}

static void dump_bytes(const char *record, const char *member, const uint8_t *bytes, unsigned count)
{
    struct shown row = dump_shown(record, member, AS_NOTHING);
    dump_label(&row);
    for (unsigned i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

/* Of a trace, which is no text, the size. */
static void dump_texts(const char *record, const char *member, const char *text, size_t count)
{
    struct shown row = dump_shown(record, member, AS_NOTHING);
    dump_label(&row);
    if (strcmp(record, "trace") == 0)
        printf("%zu", count);
    else
        dump_text(text, count);
}

#define FIELD(member, as) dump_field(name, #member, (uint64_t)record->member, as);
#define BYTE(member) FIELD(member, AS_DECIMAL)
#define NUMBER(member) FIELD(member, AS_DECIMAL)
#define TIME(member) FIELD(member, AS_DECIMAL)
#define PAST(member, of) FIELD(member, AS_DECIMAL) printf(" end %" PRIu64, record->of);
#define WEIGHT(member) FIELD(member, AS_DECIMAL)
#define ID(member) printf(" %" PRIu32, record->member);
#define CONTEXT(member) ID(member)
#define CHAIN(member, chain) FIELD(member, AS_HEX)
#define BEHIND(member, chain) FIELD(member, AS_HEX)
#define BEYOND(member, of) FIELD(member, AS_HEX)
#define NEAR(member, of) FIELD(member, AS_SIGNED)
#define BYTES(member, count) dump_bytes(name, #member, record->member, record->count);
#define TEXT(member) dump_texts(name, #member, record->member, strlen(record->member));
#define TEXTS(member, count) dump_texts(name, #member, record->member, record->count);
#define ACCESS(member) putchar(' '), dump_access(&record->member);
#define ACCESS_NEAR(member, of)                                                 \
    if (record->member.ip) {                                                    \
        printf("\n  " #member " context %" PRIu32 " ", record->member##_context); \
        dump_access(&record->member);                                           \
    }
#define IF(member, fields) fields
#define CHECK(condition)

#define RECORD(tag, record_name, room, fields)                                       \
    static int dump_##record_name(void *to, const struct lwps_##record_name *record) \
    {                                                                                \
        const char *const name = #record_name;                                       \
        (void)to;                                                                    \
        dump_record(name);                                                           \
        fields putchar('\n');                                                       \
        return 0;                                                                    \
    }
#include "format/fields.h"
#undef RECORD

static int dump_sample(void *to, const struct lwps_sample *record)
{
    (void)to;
    static const char *const kinds[] = {"unknown", "stall", "compute", "store"};
    printf("sample time %" PRIu64 " weight %" PRIu64 " ip %" PRIx64 " context %" PRIu32 " %s\n", record->time,
           record->weight, record->ip, record->context, kinds[record->kind & 3]);
    for (unsigned i = 0; i < record->access_count; i++) {
        printf("  access ");
        dump_access(&record->access[i]);
        putchar('\n');
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
#define RECORD(tag, name, room, fields) .name = dump_##name,
    static const struct lwps_visitor visitor = {
        .file = dump_file,
        .sample = dump_sample,
#include "format/fields.h"
    };
    struct lwp_options options;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    if (lwp_options_given(&options, "progress") && options.operands == argc)
        return dump_progress(lwp_options_text(&options, "progress"));
    if (options.operands == argc || lwp_options_given(&options, "progress")) {
        lwp_log(LWP_LOG_ERROR, "dump: name a sample file, for example DIR/p1234/process.lwps, or --progress DIR");
        return LWP_WRONG_USE;
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
    .details = "One line a record, an indented line an access; addresses are hexadecimal, times and costs (weight) in ns.\n"
               "Exit status: 0 sound, 1 damaged or not readable (what is sound is printed), 125 wrong usage.",
    .options = dump_options,
    .run = dump_run,
};
