/* The fields of each record but the sample, in the order of the file: the one list that writes, reads and prints them.
 * Whoever includes this defines RECORD and, unless RECORD drops them, what each kind of field does.
 *
 * RECORD(tag, name, room, fields): LWPS_TAG_<tag> and struct lwps_<name>, at most `room` bytes long. New fields go to the
 * end, and zero means what it was without them: readers skip what they do not know, and take what is not there for zeroes.
 * New records get a new tag.
 *
 *   BYTE, NUMBER      as it is; a varint
 *   TIME, WEIGHT      in the file's units; TIME relative to the time before
 *   PAST(a, b)        the time a as what it is before b
 *   ID, CONTEXT       relative to the id (the context) before
 *   CHAIN(a, chain)   relative to the number of that chain (struct lwps_delta) before; BEHIND(a, chain): the number a + 1, 0 for 0
 *   BEYOND(a, b)      a - b, not negative;  NEAR(a, b)  a - b, of either sign
 *   BYTES(a, count)   an array in the record; TEXT(a) ended by NUL; TEXTS(a, count) with NULs inside
 *   ACCESS(a)         its instruction continues the chain; ACCESS_NEAR(a, b): relative to b's
 *   IF(a, fields)     one byte, and the fields when a is not zero
 *   CHECK(condition)  a record that does not hold it is not one */

/* ---- process.lwps ---- */

RECORD(PROCESS, process, LWPS_STRING_MAX + 64,
       NUMBER(pid) NUMBER(parent_pid) TIME(time) TEXTS(command, command_bytes))
RECORD(MODULE, module, LWPS_STRING_MAX + 128,
       ID(id) TIME(time) CHAIN(start, base) BEYOND(end, start) NEAR(bias, start) BYTES(build_id, build_id_bytes)
       TEXT(path) CHECK(record->end >= record->start))
RECORD(MODULE_END, module_end, 32, ID(id) TIME(time))
RECORD(CONTEXT, context, 32, CONTEXT(id) NEAR(parent, id) BEHIND(ip, ip) CHECK(record->parent < record->id))
RECORD(POOL, pool, 32, ID(id) NUMBER(context) NUMBER(size))
RECORD(POOL_COUNT, pool_count, 64, ID(id) NUMBER(allocations) NUMBER(frees) NUMBER(peak_blocks) NUMBER(bytes))
RECORD(BLOCK, block, 64,
       ID(id) BYTE(kind) NUMBER(context) TIME(time) CHAIN(address, address) NUMBER(size)
       CHECK(record->address + record->size >= record->address))
RECORD(BLOCK_END, block_end, 32, ID(id) TIME(time))
RECORD(TOTALS, totals, 256,
       TIME(time) NUMBER(user_ns) NUMBER(system_ns) NUMBER(own_ns) NUMBER(samples) NUMBER(samples_with_address) NUMBER(samples_lost)
           NUMBER(allocations) NUMBER(instructions) NUMBER(instructions_recorded) NUMBER(resident_bytes) NUMBER(allocations_unrecorded)
           NUMBER(page_faults) NUMBER(native_instructions) NUMBER(native_ns) NUMBER(native_least_ns) NUMBER(native_most_ns)
           NUMBER(native_page_faults))
RECORD(NOTE, note, LWPS_STRING_MAX + 16, TEXT(text))

/* ---- t<TID>.lwps ---- */

RECORD(THREAD, thread, LWPS_STRING_MAX + 64, NUMBER(tid) TIME(time) NUMBER(stack_low) NUMBER(stack_high) TEXT(name) NUMBER(pointer))
RECORD(THREAD_END, thread_end, 32, TIME(time) NUMBER(cpu_ns))
RECORD(WATCH, watch, 256,
       TIME(end_time) PAST(time, end_time) WEIGHT(weight) BYTE(verdicts) BYTE(end) BYTE(value) NUMBER(overlap)
       NUMBER(first_tid) NUMBER(first_context) ACCESS(first)
       IF(second.ip, NUMBER(second_context) ACCESS_NEAR(second, first)) NUMBER(watched_ns))
RECORD(CANDIDATES, candidates, 64,
       TIME(time) NUMBER(count) WEIGHT(weight) BYTE(verdicts) NUMBER(context) CHAIN(ip, ip))
RECORD(PAIR, pair, 256,
       TIME(time) BYTE(verdict) NUMBER(use) NUMBER(waste) NUMBER(close) NUMBER(open) NUMBER(times) NUMBER(again)
       NUMBER(first_context) ACCESS(first) NUMBER(second_context) ACCESS_NEAR(second, first))
RECORD(TRACE, trace, LWPS_STRING_MAX + 64, NUMBER(window) NUMBER(part) NUMBER(tid) TIME(time) TEXTS(bytes, size))
RECORD(REGISTERS, registers, 64,
       BYTE(flags) NUMBER(bytes) NUMBER(same) NUMBER(close) NUMBER(instructions) NUMBER(of_instructions))
RECORD(CONTRIBUTION, contribution, 64, BYTE(verdict) BYTE(moves) NUMBER(thread) NUMBER(all) NUMBER(waste) NUMBER(close))
RECORD(FLOWS, flows, 64,
       NUMBER(granule_bytes) NUMBER(alone_bytes) NUMBER(thinned) NUMBER(distances_thinned) NUMBER(accesses))
RECORD(PARTY, party, LWPS_STRING_MAX + 32, NUMBER(number) NUMBER(tid) TEXT(name))
RECORD(FLOW, flow, 96,
       TIME(time) CHAIN(ip, ip) NUMBER(bytes) NUMBER(writer) NUMBER(reader) NUMBER(first) NUMBER(again))
RECORD(FLOW_DISTANCE, flow_distance, 64, TIME(time) CHAIN(ip, ip) NUMBER(up_to) NUMBER(count) NEAR(before, ip))
RECORD(FLOW_PIECES, flow_pieces, 96,
       TIME(time) CHAIN(ip, ip) NUMBER(count) NUMBER(lines) NUMBER(bytes) NUMBER(even) NEAR(step, bytes))
