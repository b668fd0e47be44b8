/* The views and the way between them: findings, data objects, loops, the run; an index when several results are served. */

const page = JSON.parse(document.getElementById('lwp-data').textContent);
const data = page.analysis || {};
data.run = data.run || {};
const sources = new Map(list(page.sources && page.sources.files).map(file => [file.path, file]));

const NOT_YET = [
  ['regroups', 'arrays that belong together'], ['redundancies', 'redundant work'], ['communication', 'communication between threads'],
  ['sharing', 'false sharing'], ['locality', 'locality per loop'],
];

function severity(level) {
  const known = ['high', 'medium', 'low'].includes(level) ? level : 'low';
  return el(`span.severity.${known}`, null, known + ' impact');
}

function tiles(rows) {
  return el('dl.tiles', null, rows.map(([name, value, detail, note]) =>
    el('div', null, el('dt', null, name), el('dd.big', null, value), detail && el('dd', null, detail), note && el('dd.soft', null, note))));
}

const missingView = text => [el('h1', null, 'Not here'), el('p', null, text), el('p', null, el('a', {href: '#findings'}, 'To the findings'))];

/* ---- names of things ---- */

function frameName(frame) {
  if (frame.function) return frame.function;
  const module = baseName((at(data.modules, frame.module) || {}).path);
  return module && isNumber(frame.address) ? `${module}+0x${frame.address.toString(16)}` : 'unknown function';
}

function linesOf(loop) {
  if (!isNumber(loop.first_line)) return '';
  return ':' + loop.first_line + (loop.last_line > loop.first_line ? '–' + loop.last_line : '');
}

function loopPlace(loop) {
  if (!loop) return unknown('unknown loop');
  return [el('strong', null, loop.function || 'unknown function'), loop.kind === 'function' && el('span.soft', null, ' outside of loops'),
    loop.file ? el('span.where', {title: loop.file}, ' ', baseName(loop.file) + linesOf(loop)) : el('span.where', null, isNumber(loop.address) ? ` at 0x${loop.address.toString(16)}, no line information` : ' no line information')];
}

const loopText = loop => loop ? `${loop.function || ''} ${loop.file || ''}` : '';

function objectName(object) {
  return object && object.name ? object.name : 'unknown';
}

const objectLink = index => el('a', {href: '#object/' + index}, objectName(at(data.objects, index)));

function allocationPlace(object) {
  const context = at(data.contexts, object.context), frame = object.site || (context && list(context.frames)[0]);
  if (!frame) return null;
  return `${frameName(frame)}${frame.file ? ` (${baseName(frame.file)}${isNumber(frame.line) ? ':' + frame.line : ''})` : ''}`;
}

function callPath(index) {
  const context = at(data.contexts, index);
  if (!context) return unknown();
  return el('ol.path', null, list(context.frames).map(frame => el('li', null, el('strong', null, frameName(frame)),
    frame.inlined && el('span.soft', null, ' inlined'),
    frame.file ? el('span.where', {title: frame.file}, ' ', baseName(frame.file) + (isNumber(frame.line) ? ':' + frame.line : '')) :
      el('span.where', null, ' ', baseName((at(data.modules, frame.module) || {}).path) || ''))));
}

/* ---- source ---- */

function sourceOf(loop) {
  if (!loop || !loop.file || !isNumber(loop.first_line)) return el('p.soft', null, 'No line information: compile with -g to see the source here.');
  if (!page.sources || page.sources.policy === 'none') return el('p.soft', null, 'This report was exported without source.');
  const file = sources.get(loop.file);
  if (!file) return el('p.soft', null, 'The source of this loop was left out of this report.');
  if (file.missing) return el('p.soft', null, `${loop.file}: ${file.missing}.`);
  const last = Math.max(loop.first_line, loop.last_line || 0), pre = el('pre.source', {tabindex: '0', 'aria-label': 'source of the loop'});
  for (const excerpt of list(file.excerpts))
    list(excerpt.lines).forEach((text, i) => {
      const number = excerpt.first + i;
      if (number < loop.first_line - 3 || number > last + 3) return;
      const row = el(number >= loop.first_line && number <= last ? 'span.row.in' : 'span.row', null, el('span.no', {'aria-hidden': 'true'}, String(number)));
      row.append(visible(text) + '\n');
      pre.append(row);
    });
  if (!pre.childNodes.length) return el('p.soft', null, `${loop.file} does not have these lines.`);
  return [el('p.where', null, loop.file), file.changed && el('p.warning', null, 'This file was changed after the run: lines may be off.'), pre];
}

/* ---- findings ---- */

/* The new parts at a glance. */
function partChips(split) {
  const parts = list(split.groups).map((group, index) => [group, {index, letter: groupLetter(index)}]);
  if (split.cold && list(split.cold.fields).length) parts.push([split.cold, {index: -1, letter: 'cold'}]);
  const names = group => list(group.fields).slice(0, 6).map(f => clip(f, 30)).join(', ') + (list(group.fields).length > 6 ? ' …' : '');
  return el('p.chips', {'aria-label': 'the new parts'}, parts.slice(0, 8).map(([group, mark]) => el('span.chip', null, groupMark(mark), ' ', names(group))),
    parts.length > 8 && el('span.soft', null, `and ${parts.length - 8} more`));
}

function gainBar(range, most) {
  if (!isRange(range)) return null;
  const place = x => 100 * (Math.min(x, most) - 1) / (most - 1);
  return el('div.gain-bar', {'aria-hidden': 'true'}, el('span.gain-track', null,
    el('span.gain-range', {style: {left: place(range[0]) + '%', width: Math.max(1.5, place(range[1]) - place(range[0])) + '%'}})),
    el('span.gain-scale', null, el('span', null, '1×'), el('span', null, most.toFixed(most % 1 ? 1 : 0) + '×')));
}

function findingLink(finding) {
  const index = finding.refs && finding.refs[finding.kind];
  if (finding.kind === 'locality') return '#locality';
  if (finding.kind === 'sharing' || finding.kind === 'communication') return '#threads';
  return ['split', 'regroup', 'redundancy'].includes(finding.kind) && Number.isInteger(index) ? `#${finding.kind}/${index}` : null;
}

/* What the advice is about: a split or a group of arrays. */
function findingAdvice(finding) {
  const index = finding.refs && finding.refs[finding.kind];
  return finding.kind === 'split' ? at(data.splits, index) : finding.kind === 'regroup' ? at(data.regroups, index) : null;
}

function findingCard(finding, rank, most) {
  const link = findingLink(finding), advice = findingAdvice(finding), split = finding.kind === 'split' ? advice : null;
  const object = split && at(data.objects, split.object);
  return el('li.finding', {id: null}, el('div.rank', {'aria-hidden': 'true'}, String(rank)),
    el('div.finding-body', null,
      el('h2', null, link ? el('a', {href: link}, prose(finding.title)) : prose(finding.title)),
      el('p.meta', null, severity(finding.severity), ' ', advice && el('span.soft', null, `${advice.confidence || 'unknown'} confidence`)),
      split && partChips(split),
      advice && !split && el('p.chips', {'aria-label': 'the arrays'}, list(advice.names).slice(0, 12).map((name, i) => el('span.chip', null, groupMark({index: i, letter: groupLetter(i)}), ' ', clip(name, 30)))),
      el('p', null, prose(finding.next_step)),
      link && el('p', null, el('a.button', {href: link}, split || advice ? 'See the layout and the new declaration' : 'See the evidence'))),
    el('dl.finding-numbers', null,
      el('div', null, el('dt', null, `Expected, ${wholeOf()}`), el('dd.big', null, finding.expected_speedup ? times(finding.expected_speedup) : unknown()), el('dd.soft', null, saved(finding.expected_speedup)), gainBar(finding.expected_speedup, most)),
      el('div', null, el('dt', null, 'Share of the time today'), el('dd', null, shareBar(finding.share, object && object.share_ci)),
        el('dd.soft', null, object && isRange(object.share_ci) ? `95 % interval ${interval(object.share_ci)}, ${plural(object.samples, 'sample', 'samples')}` : `${data.run.engine || 'unknown'} engine`))));
}

/* What expected gains are of: latencies do not say how much of the run they are. */
const wholeOf = () => data.run.weight_unit === 'cycles' ? 'time of accesses' : 'whole program';

const unknownShare = () => list(data.objects).reduce((sum, object) => sum + (object.kind === 'unknown' ? object.share || 0 : 0), 0);

/* What the table of data does not hold. */
function rest() {
  const given = list(data.objects).reduce((sum, object) => sum + (object.kind === 'unknown' ? 0 : object.share || 0), 0), lost = unknownShare();
  return `${percent(given)} of the time went to waiting for data that is known${lost > 0 ? `, ${percent(lost)} to waiting for data that could not be told` : ''}; the rest was computing, or could not be told.`;
}

function notMeasured() {
  const names = NOT_YET.filter(([key]) => data[key] === null || data[key] === undefined).map(([, name]) => name);
  return names.length > 0 && el('p.note', null, el('strong', null, 'Not measured in this run: '), names.join(', '), '. Nothing is known about them, good or bad.');
}

function measuredBy() {
  const run = data.run;
  return [run.engine ? `${run.engine} engine` : 'unknown engine', `${plural(run.samples, 'sample', 'samples')}`,
    run.samples_lost ? `${count(run.samples_lost)} lost` : null,
    isNumber(run.overhead_percent) ? `${run.overhead_percent.toFixed(1)} % measured cost` : 'cost unknown'].filter(Boolean).join(' · ');
}

function viewFindings() {
  const findings = list(data.findings), run = data.run;
  const most = Math.max(2, ...findings.map(f => isRange(f.expected_speedup) ? Math.ceil(f.expected_speedup[1] * 2) / 2 : 1));
  const few = !(run.samples >= 100);
  return [
    el('h1', null, findings.length ? `${plural(findings.length, 'thing', 'things')} to change in ${programName()}` : `No advice for ${programName()}`),
    el('p.lead', null, findings.length ? 'Data structures that are laid out wrong for the loops that use them, and work that brings nothing: largest expected gain first.' :
      few ? `Only ${plural(run.samples, 'sample', 'samples')} were taken: too few to say anything. Run the program longer or on a larger input.` :
        `In ${plural(run.samples, 'sample', 'samples')} no data structure was found whose layout would make the program measurably faster.` +
        (unknownShare() > 0.1 ? ` But ${percent(unknownShare())} of the time went to data that could not be told.` : '')),
    tiles([
      ['Run time', seconds(run.wall_s), isNumber(run.cpu_s) ? `${seconds(run.cpu_s)} of CPU time` : null],
      ['Waiting for memory', isNumber(run.stall_share) ? percent(run.stall_share) : 'unknown', 'of the time sampled'],
      ['Samples', count(run.samples), `${count(run.samples_with_address)} with an address${run.samples_lost ? `, ${count(run.samples_lost)} lost` : ''}`],
      ['Cost of measuring', isNumber(run.overhead_percent) ? run.overhead_percent.toFixed(1) + '\u00a0%' : 'unknown', `${run.engine || 'unknown'} engine`],
    ]),
    findings.length > 0 && el('ol.findings', null, findings.map((f, i) => findingCard(f, i + 1, most))),
    notMeasured(),
    el('section', null, el('h2', null, 'Where the time goes'), objectsTable(10), el('p.soft', null, rest()),
      el('p', null, el('a', {href: '#objects'}, 'All data'), ' · ', el('a', {href: '#loops'}, 'All loops'))),
    notes(),
  ];
}

function notes() {
  const texts = list(data.run.notes);
  return texts.length > 0 && el('section', null, el('h2', null, 'Notes on this run'), el('ul.notes', null, texts.map(text => el('li', null, prose(text)))));
}

/* ---- data ---- */

function splitOfObject(index) {
  const split = list(data.splits).findIndex(s => s.object === index || list(s.objects).includes(index));
  return split >= 0 ? split : null;
}

function objectsTable(most) {
  const rows = list(data.objects).map((object, index) => ({object, index})).sort((a, b) => (b.object.share || 0) - (a.object.share || 0)).slice(0, most);
  if (!rows.length) return el('p.soft', null, 'No sample could be given to a data object.');
  const full = Math.max(...rows.map(r => r.object.share || 0), 1e-9);
  return table('Data objects', [
    {title: 'Data', cell: r => [el('a', {href: '#object/' + r.index}, objectName(r.object)), splitOfObject(r.index) !== null && [' ', el('a.tag', {href: '#split/' + splitOfObject(r.index)}, 'advice')]],
      key: r => objectName(r.object), text: r => `${r.object.name} ${r.object.type} ${r.object.kind}`},
    {title: 'Type', cell: r => r.object.type ? el('code', null, clip(r.object.type, 80)) : unknown(), key: r => r.object.type || ''},
    {title: 'Kind', cell: r => r.object.kind, key: r => r.object.kind},
    {title: 'Share of the time', cell: r => shareBar(r.object.share, r.object.share_ci, full), key: r => r.object.share, number: true},
    {title: 'Samples', cell: r => count(r.object.samples), key: r => r.object.samples, number: true},
    {title: 'Element', cell: r => isNumber(r.object.element_bytes) ? bytes(r.object.element_bytes) : unknown(), key: r => r.object.element_bytes, number: true},
    {title: 'Size', cell: r => isNumber(r.object.bytes) ? bytes(r.object.bytes) : unknown(), key: r => r.object.bytes, number: true, hint: 'most alive at one time'},
    {title: 'Allocated in', cell: r => allocationPlace(r.object) || (r.object.kind === 'heap' ? unknown() : ''), key: r => allocationPlace(r.object) || '', wide: true},
  ], rows, {plain: most !== undefined});
}

function objectFacts(object) {
  const accesses = (object.loads || 0) + (object.stores || 0);
  return facts([
    ['Name', objectName(object)], ['Type', object.type ? el('code', null, object.type) : unknown()], ['Kind', object.kind || 'unknown'],
    ['Element', isNumber(object.element_bytes) ? bytes(object.element_bytes) : unknown()],
    ['Elements', isNumber(object.elements) ? count(object.elements) : unknown()],
    ['Size', isNumber(object.bytes) ? bytes(object.bytes) : unknown()],
    ['Allocations', isNumber(object.allocations) ? count(object.allocations) : unknown()],
    isNumber(object.time_share) && ['Share with computing', `${percent(object.time_share)}, when the whole time of each loop goes to the data it waits for`],
    ['Accesses seen', `${count(accesses)} (${count(object.loads)} loads, ${count(object.stores)} stores)`],
    object.module !== null && at(data.modules, object.module) && ['Module', at(data.modules, object.module).path],
    Number.isInteger(object.context) && ['Allocated at', callPath(object.context)],
    Number.isInteger(object.common_context) && ['Always used below', callPath(object.common_context)],
  ], 'dl.list');
}

function viewObjects() {
  const apart = list(data.kept_apart);
  return [el('h1', null, 'Data objects'), el('p.lead', null, 'Who waits for memory: all data that samples fell on, hottest first.'), objectsTable(),
    apart.length > 0 && el('section', null, el('h2', null, 'Kept apart'), el('p.soft', null, 'Arrays that loops use together and that must not become one, each with one it does not go with.'), rejectionsTable(apart))];
}

function viewObject(index) {
  const object = at(data.objects, index);
  if (!object) return missingView('There is no such data object in this result.');
  const split = splitOfObject(index), line = (data.run.machine && data.run.machine.line_bytes) || 64;
  const fields = list(object.fields), uses = list(object.loops);
  return [
    el('p.crumbs', null, el('a', {href: '#objects'}, 'Data'), ' › object'),
    el('h1', null, objectName(object)),
    split !== null && el('p', null, el('a.button', {href: '#split/' + split}, 'See the advice for its structure')),
    tiles([['Share of the time', percent(object.share), isRange(object.share_ci) ? `95 % interval ${interval(object.share_ci)}` : null],
      ['Samples', count(object.samples), `${data.run.engine || 'unknown'} engine`],
      ['Element', isNumber(object.element_bytes) ? bytes(object.element_bytes) : 'unknown', object.type || 'type unknown'],
      ['Size', isNumber(object.bytes) ? bytes(object.bytes) : 'unknown', isNumber(object.allocations) ? plural(object.allocations, 'allocation', 'allocations') : null]]),
    fields.length > 0 && isNumber(object.element_bytes) && object.element_bytes > 0 && el('section', null, el('h2', null, 'Fields'),
      el('div.panel', null, drawElement(object, object.element_bytes, line, null)),
      table('Fields', [
        {title: 'Offset', cell: f => '+' + f.offset, key: f => f.offset, number: true},
        {title: 'Field', cell: f => el('code', null, fieldName(f)), key: f => fieldName(f), text: f => fieldName(f)},
        {title: 'Bytes', cell: f => count(f.bytes), key: f => f.bytes, number: true},
        {title: 'Share of the time', cell: f => shareBar(fieldShare(f), null, Math.max(...fields.map(x => fieldShare(x) || 0), 1e-9)), key: f => fieldShare(f), number: true, hint: 'its even part of the loops that use it'},
        {title: 'As observed', cell: f => percent(f.share), key: f => f.share, number: true, hint: 'the wait for a cache line goes to the field that is touched first'},
        {title: 'Accesses seen', cell: f => count(f.samples), key: f => f.samples, number: true},
      ], fields)),
    el('section', null, el('h2', null, 'Loops that use it'), uses.length ? table('Loops', [
      {title: 'Loop', cell: u => el('a', {href: '#loop/' + u.loop}, loopPlace(at(data.loops, u.loop))), key: u => loopText(at(data.loops, u.loop)), text: u => loopText(at(data.loops, u.loop))},
      {title: 'Share of the time', cell: u => shareBar(u.share, null, Math.max(...uses.map(x => x.share || 0), 1e-9)), key: u => u.share, number: true},
      {title: 'Stride', cell: u => isNumber(u.stride) ? bytes(u.stride) : unknown('irregular'), key: u => u.stride, number: true},
      {title: 'Fields', wide: true, cell: u => list(u.fields).length ? list(u.fields).slice(0, 12).map((f, i) => [i ? ', ' : '', clip(f, 40)]) : list(u.offsets).length ? list(u.offsets).slice(0, 12).map(o => '+' + o).join(', ') : ''},
    ], uses) : el('p.soft', null, 'No loop was seen to use it.')),
    el('section', null, el('h2', null, 'About it'), objectFacts(object)),
  ];
}

/* ---- loops ---- */

function viewLoops() {
  const rows = list(data.loops).map((loop, index) => ({loop, index})).sort((a, b) => (b.loop.share || 0) - (a.loop.share || 0));
  const full = Math.max(...rows.map(r => r.loop.share || 0), 1e-9), touched = new Map();
  list(data.objects).forEach((object, index) => list(object.loops).forEach(use => touched.set(use.loop, (touched.get(use.loop) || []).concat(index))));
  return [el('h1', null, 'Loops'), el('p.lead', null, 'Where the time is spent. Shares are of each loop without the loops inside of it.'),
    rows.length ? table('Loops', [
      {title: 'Loop', cell: r => el('a', {href: '#loop/' + r.index}, loopPlace(r.loop)), key: r => loopText(r.loop), text: r => loopText(r.loop)},
      {title: 'Share of the time', cell: r => shareBar(r.loop.share, null, full), key: r => r.loop.share, number: true},
      {title: 'Samples', cell: r => count(r.loop.samples), key: r => r.loop.samples, number: true},
      {title: 'Data it uses', cell: r => { const o = touched.get(r.index) || []; return [o.slice(0, 4).map((i, n) => [n ? ', ' : '', objectLink(i)]), o.length > 4 && ` and ${o.length - 4} more`]; }},
      {title: 'Module', wide: true, cell: r => baseName((at(data.modules, r.loop.module) || {}).path) || unknown(), key: r => (at(data.modules, r.loop.module) || {}).path || '', text: r => (at(data.modules, r.loop.module) || {}).path || ''},
    ], rows) : el('p.soft', null, 'No sample could be given to a loop.')];
}

function viewLoop(index) {
  const loop = at(data.loops, index);
  if (!loop) return missingView('There is no such loop in this result.');
  const users = list(data.objects).map((object, i) => ({object, i, use: list(object.loops).find(u => u.loop === index)})).filter(u => u.use);
  const full = Math.max(...users.map(u => u.use.share || 0), 1e-9);
  return [
    el('p.crumbs', null, el('a', {href: '#loops'}, 'Loops'), ' › loop'),
    el('h1', null, loop.function || 'unknown function', el('span.soft', null, ' ', loop.file ? baseName(loop.file) + linesOf(loop) : '')),
    tiles([['Share of the time', percent(loop.share), 'without the loops inside'], ['Samples', count(loop.samples), `${data.run.engine || 'unknown'} engine`]]),
    Number.isInteger(loop.parent) && at(data.loops, loop.parent) && el('p', null, 'Inside of ', el('a', {href: '#loop/' + loop.parent}, loopPlace(at(data.loops, loop.parent)))),
    el('section', null, el('h2', null, 'Source'), sourceOf(loop)),
    el('section', null, el('h2', null, 'Data it uses'), users.length ? table('Data of the loop', [
      {title: 'Data', cell: u => el('a', {href: '#object/' + u.i}, objectName(u.object)), key: u => objectName(u.object)},
      {title: 'Share of the time', cell: u => shareBar(u.use.share, null, full), key: u => u.use.share, number: true},
      {title: 'Stride', cell: u => isNumber(u.use.stride) ? bytes(u.use.stride) : unknown('irregular'), key: u => u.use.stride, number: true},
      {title: 'Fields', wide: true, cell: u => list(u.use.fields).slice(0, 16).map((f, i) => [i ? ', ' : '', clip(f, 40)])},
    ], users) : el('p.soft', null, 'No access to a known object was seen in it.')),
  ];
}

/* ---- the run ---- */

const shellWord = word => /^[\w./=:,+@%-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";

function exitText(exit) {
  if (!exit) return 'unknown';
  if (isNumber(exit.signal)) return `killed by signal ${exit.signal}`;
  return isNumber(exit.code) ? `status ${exit.code}` : 'unknown';
}

function viewRun() {
  const run = data.run, machine = run.machine || {};
  const command = list(run.command).map(word => shellWord(String(word))).join(' ');
  const caches = list(machine.caches);
  return [
    el('h1', null, 'The run'),
    el('div.code', null, copyButton(command), code(command, 'The command')),
    el('section', null, el('h2', null, 'How it was measured'), facts([
      ['Engine', run.engine || unknown(), run.event ? ` (${run.event})` : ''],
      ['Weights are in', run.weight_unit || unknown()],
      ['Samples', `${count(run.samples)}, of them ${count(run.samples_with_address)} with an address`],
      ['Lost samples', count(run.samples_lost)],
      ['Waiting for memory', isNumber(run.stall_share) ? percent(run.stall_share) : unknown()],
      ['Types known', data.types ? `for ${percent(data.types.share)} of the time spent on heap and static data, with the field for ${percent(data.types.share_with_field)}` : unknown()],
      ['Cost of measuring', isNumber(run.overhead_percent) ? run.overhead_percent.toFixed(2) + ' % of the CPU time, by its own clock' : unknown()],
      ['Run time', `${seconds(run.wall_s)}, CPU time ${seconds(run.cpu_s)}`],
      ['Ended with', exitText(run.exit)],
      ['Started', run.started !== null && run.started !== undefined ? String(run.started) : unknown()],
      ['In folder', run.cwd || unknown()], ['On host', run.host || unknown()],
      ['Analysed by', 'lwp ' + (data.lwp_version || 'of unknown version')],
    ], 'dl.list')),
    notMeasured(), notes(),
    list(run.runs).length > 0 && el('section', null, el('h2', null, 'Merged results'), table('Merged results', [
      {title: 'Result', cell: r => clip(r.dir, 80), key: r => r.dir, wide: true},
      {title: 'Run time', cell: r => seconds(r.wall_s), key: r => r.wall_s, number: true},
      {title: 'CPU time', cell: r => seconds(r.cpu_s), key: r => r.cpu_s, number: true},
    ], list(run.runs))),
    el('section', null, el('h2', null, 'Machine'), facts([
      ['Processor', machine.cpu || unknown()], ['Cores', isNumber(machine.cores) ? count(machine.cores) : unknown()],
      ['Cache line', isNumber(machine.line_bytes) ? bytes(machine.line_bytes) : unknown()], ['Page', isNumber(machine.page_bytes) ? bytes(machine.page_bytes) : unknown()],
      ['NUMA nodes', isNumber(machine.numa_nodes) ? count(machine.numa_nodes) : unknown()],
      ['Caches', caches.length ? caches.map(c => el('div', null, `L${c.level}: ${bytes(c.bytes)}${isNumber(c.ways) ? `, ${c.ways} ways` : ''}${c.shared_by > 1 ? `, shared by ${c.shared_by} cores` : ''}`)) : unknown()],
    ], 'dl.list')),
    el('section', null, el('h2', null, 'Processes'), table('Processes', [
      {title: 'Process', cell: p => String(p.pid), key: p => p.pid, number: true},
      {title: 'Command', wide: true, cell: p => p.command || unknown(), key: p => p.command || '', text: p => p.command || ''},
      {title: 'Threads', cell: p => count(p.threads), key: p => p.threads, number: true},
      ...(list(run.processes).some(p => isNumber(p.rank)) ? [{title: 'Rank', cell: p => isNumber(p.rank) ? String(p.rank) : unknown('none'), key: p => p.rank, number: true}] : []),
    ], list(run.processes))),
    el('section', null, el('h2', null, 'Modules'), table('Modules', [
      {title: 'File', wide: true, cell: m => m.path || unknown(), key: m => m.path || '', text: m => m.path || ''},
      {title: 'Debug info', cell: m => ({none: 'none', symbols: 'symbols only', full: 'full', replaced: 'another build than ran: not used'})[m.debug_info] || unknown(), key: m => m.debug_info || ''},
      {title: 'Build id', cell: m => m.build_id ? el('code.small', null, m.build_id) : unknown('none')},
    ], list(data.modules))),
  ];
}

/* ---- several results ---- */

function viewIndex() {
  return [el('h1', null, 'Results'), el('p.lead', null, `${plural(list(page.results).length, 'result', 'results')} in this folder.`),
    table('Results', [
      {title: 'Result', cell: r => el('a', {href: '/r/' + encodeURIComponent(r.name)}, r.name), key: r => r.name, text: r => r.name},
      {title: 'Command', cell: r => r.command ? el('code', null, clip(list(r.command).join(' '), 100)) : unknown(r.analysed ? 'unknown' : 'not analysed yet'), key: r => list(r.command).join(' '), text: r => list(r.command).join(' ')},
      {title: 'Started', cell: r => r.started ? String(r.started).replace('T', ' ').replace(/\.\d+Z$/, ' UTC') : unknown(), key: r => String(r.started || '')},
      {title: 'Samples', cell: r => r.analysed ? count(r.samples) : '', key: r => r.samples, number: true},
      {title: 'First finding', wide: true, cell: r => r.title ? [prose(r.title), r.findings > 1 && el('span.soft', null, ` and ${r.findings - 1} more`)] : r.analysed ? 'none' : ''},
      {title: 'Expected', cell: r => isRange(r.expected_speedup) ? times(r.expected_speedup) : '', key: r => isRange(r.expected_speedup) ? r.expected_speedup[1] : 0, number: true},
    ], list(page.results))];
}

/* ---- the way between views ---- */

const VIEWS = {
  findings: {title: 'Findings', draw: viewFindings, menu: () => list(data.findings).length},
  split: {under: 'findings', draw: viewSplit, item: true},
  regroup: {under: 'findings', draw: viewRegroup, item: true},
  objects: {title: 'Data', draw: viewObjects, menu: () => list(data.objects).length},
  object: {under: 'objects', draw: viewObject, item: true},
  loops: {title: 'Loops', draw: viewLoops, menu: () => list(data.loops).length},
  loop: {under: 'loops', draw: viewLoop, item: true},
  redundancies: {title: 'Redundancy', draw: viewRedundancies, menu: () => data.redundancies ? list(data.redundancies).length : null},
  redundancy: {under: 'redundancies', draw: viewRedundancy, item: true},
  locality: {title: 'Locality', draw: viewLocality, menu: () => data.locality ? list(data.locality).length : null},
  threads: {title: 'Threads', draw: viewThreads, menu: () => null},
  run: {title: 'Run', draw: viewRun, menu: () => null},
};

function programName() {
  return clip(baseName(list(data.run.command)[0]) || page.name || 'the program', 60);
}

function drawMenu(current) {
  document.getElementById('nav').replaceChildren(...Object.entries(VIEWS).filter(([, view]) => view.title).map(([name, view]) =>
    el('a', {href: '#' + name, 'aria-current': name === current ? 'page' : null}, view.title, isNumber(view.menu()) && el('span.count', null, count(view.menu())))));
}

let drawnBefore = false;

function draw() {
  const main = document.getElementById('main');
  if (location.hash === '#main') { main.focus(); return; }
  const [name, item] = location.hash.slice(1).split('/');
  const known = Object.hasOwn(VIEWS, name) ? name : 'findings', view = VIEWS[known];
  let content;
  try {
    content = page.view === 'index' ? viewIndex() : view.item ? view.draw(/^\d{1,9}$/.test(item || '') ? Number(item) : -1) : view.draw();
  } catch (problem) { /* a result that breaks its schema: say so, keep the other views usable */
    content = [el('h1', null, 'This view cannot be drawn'), el('p', null, 'The result does not have the form expected: ' + problem.message)];
  }
  main.replaceChildren(...content.flat(Infinity).filter(node => node instanceof Node));
  if (page.view !== 'index') drawMenu(view.under || known);
  const heading = main.querySelector('h1');
  document.title = `${heading ? clip(heading.textContent, 80) : programName()} – lwp`;
  if (drawnBefore) { window.scrollTo(0, 0); main.focus({preventScroll: true}); }
  drawnBefore = true;
}

function drawFrame() {
  document.getElementById('run-name').replaceChildren(el('span', {title: list(data.run.command).join(' ')}, page.view === 'index' ? '' : programName()));
  document.getElementById('footer').replaceChildren(el('p', null, page.view === 'index' ? `lwp ${page.lwp}` :
    `lwp ${page.lwp} · ${measuredBy()} · ${page.mode === 'exported' ? 'one file, loads nothing' : 'served from this machine'}`));
}

window.addEventListener('hashchange', draw);
drawFrame();
draw();
