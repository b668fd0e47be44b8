/* What each view shows, and what its words mean. */

const PURPOSE = 'lwp profiles how a program uses memory and says which data structures, arrays or loops to change, what that gains, and why.';

const HELP = { /* view: [what it is, terms] */
  findings: ['Changes worth making, the largest predicted gain first. Each says what is wrong, what to do, what it gains for the whole program, and the evidence.', ['memory stall', 'structure splitting', 'array regrouping', 'AoS and SoA', 'predicted gain', 'time at stake', '95 % interval']],
  split: ['One structure: its fields in cache lines today, the proposed groups, the declaration to paste, and the loops that make it worth it.', ['hot/cold splitting', 'cache line', 'stride', 'affinity', 'padding']],
  regroup: ['Arrays that loops use at the same index, and the array of structures that would hold them together.', ['array regrouping', 'AoS and SoA', 'cache line', 'affinity']],
  objects: ['All data with samples: variables, and heap blocks by allocation site.', ['data object', 'allocation site', 'memory stall', '95 % interval']],
  object: ['One data object: its fields, the loops that use it, and where it is allocated.', ['data object', 'allocation site', 'stride', 'memory stall']],
  stalls: ['Where the program is stalled on memory: a box is a function, its width is the stall below it; the lowest boxes are the data. Click a box to zoom; the timeline shows when each data object causes stall.', ['memory stall', 'calling context', 'allocation site', 'inverted']],
  loops: ['CPU time by source line and by loop; the number beside a line is memory stall on that line.', ['memory stall', 'stride']],
  loop: ['One loop: its source, its instructions, and the data it uses.', ['memory stall', 'stride', 'concurrent streams']],
  redundancies: ['Stores nothing reads, and loads, stores and computations that repeat a known value, as pairs of two calling contexts.', ['dead store', 'silent store', 'silent load', 'time at stake', 'calling context', 'watchpoint']],
  redundancy: ['One redundant pair: the two accesses, how they were reached, and what to do.', ['dead store', 'silent store', 'silent load', 'calling context']],
  locality: ['How soon data is used again and in which stride, for each data object and loop, and what a cache model says of it.', ['reuse distance', 'stride', 'concurrent streams', 'coherence miss']],
  threads: ['What threads read of each other\u2019s data, and cache lines that several threads use.', ['communication', 'false sharing', 'true sharing', 'communication reuse distance', 'cutoff', 'coherence miss']],
  region: ['Communication between threads in one function or loop.', ['communication', 'communication reuse distance', 'cutoff']],
  sharing: ['One cache line that several threads use, byte by byte.', ['false sharing', 'true sharing', 'cache line']],
  run: ['What was run, how it was measured, and on which machine.', ['engine', 'sample']],
  diff: ['Two profiles held against each other: what was predicted, what was measured, and which structures changed.', ['predicted gain', '95 % interval', 'memory stall']],
  structure: ['One structure before and after, on one scale of heat.', ['cache line', 'memory stall']],
};

const GLOSSARY = {
  'memory stall': 'time in which the processor waits for a load or store before it can go on',
  'stride': 'distance in bytes between two successive accesses of one instruction',
  'AoS and SoA': 'array of structures (fields of one element together) and structure of arrays (each field in an array of its own)',
  'structure splitting': 'dividing a structure so that fields used together stay together and the others are no longer fetched with them',
  'hot/cold splitting': 'structure splitting into the fields that hot loops use and the rest',
  'array regrouping': 'turning arrays used at the same index into one array of structures',
  'affinity': 'how often two fields or arrays are used by the same loops: 1 always, 0 never',
  'cache line': 'the unit in which caches fetch memory, mostly 64 bytes',
  'padding': 'bytes between fields that only alignment needs',
  'predicted gain': 'how many times faster the whole program is expected to run; the range spans the most pessimistic and the most optimistic assumptions',
  'time at stake': 'the part of the program\u2019s time that is saved at most, were all of this work left out',
  '95 % interval': 'the range that holds the true share in 95 of 100 runs, given the number of samples',
  'data object': 'a variable, or all heap blocks of one allocation site',
  'allocation site': 'the calling context of the malloc, new or mmap that made a block',
  'calling context': 'the function and its chain of callers',
  'inverted': 'starts at the function that stalls and shows its callers below it',
  'concurrent streams': 'sequences of addresses that a loop goes through at the same time; hardware prefetchers follow a limited number',
  'dead store': 'a store whose value is overwritten before anything reads it',
  'silent store': 'a store of the value that is already there',
  'silent load': 'a load of a value that was loaded before and has not changed',
  'watchpoint': 'a debug register that reports the next access to an address',
  'reuse distance': 'number of different cache lines used between two uses of the same line',
  'coherence miss': 'a cache miss because another core wrote to the line',
  'communication': 'a thread loads what another thread stored',
  'communication reuse distance': 'other words of the same writer that a thread reads before it reads one again',
  'cutoff': 'the number of words that fit into the last-level cache: all of it (maximum), or what each thread\u2019s own data leaves (minimum)',
  'false sharing': 'threads use different bytes of one cache line, which then moves between cores',
  'true sharing': 'threads use the same bytes',
  'engine': 'the way of measuring: timer interrupts, hardware events (pmu), or every access under Valgrind (exact)',
  'sample': 'one interrupt of the program; it says which instruction and which address took the time',
};

const helpOf = name => HELP[name] && el('details.help', null, el('summary', null, 'What is this?'), el('p', null, HELP[name][0]),
  el('dl', null, HELP[name][1].map(term => el('div', null, el('dt', null, term), el('dd', null, GLOSSARY[term] + '.')))));
