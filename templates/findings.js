/* The ranked findings: what to change, why, what it brings, and how sure that is. */

const PARTS = { /* of the analysis: null where it was not looked for */
  regroups: 'arrays to regroup', conflicts: 'cache-set conflicts', redundancies: 'redundant work', communication: 'communication between threads',
  sharing: 'false sharing', locality: 'locality per loop',
};

/* The new parts. */
function partChips(split) {
  const parts = list(split.groups).map((group, index) => [group, {index, letter: groupLetter(index)}]);
  if (split.cold && list(split.cold.fields).length) parts.push([split.cold, {index: -1, letter: 'cold'}]);
  const names = group => list(group.fields).slice(0, 6).map(f => clip(f, 30)).join(', ') + (list(group.fields).length > 6 ? ' …' : '');
  return el('span.chips', null, parts.slice(0, 8).map(([group, mark]) => el('span.chip', null, groupMark(mark), ' ', names(group))),
    parts.length > 8 && el('span.soft', null, `and ${parts.length - 8} more`));
}

/* The range on a scale from no change; the numbers stand beside it. */
function gainBar(range, most) {
  if (!isRange(range)) return null;
  const place = x => 100 * (Math.min(x, most) - 1) / (most - 1);
  return el('div.gain-bar', {'aria-hidden': 'true'}, el('span.gain-track', null,
    el('span.gain-range', {style: {left: place(range[0]) + '%', width: Math.max(1.5, place(range[1]) - place(range[0])) + '%'}})),
    el('span.gain-scale', null, el('span', null, '1×'), el('span', null, most.toFixed(most % 1 ? 1 : 0) + '×')));
}

function findingLink(finding) {
  const index = finding.refs && finding.refs[finding.kind], view = finding.kind === 'communication' ? 'region' : finding.kind;
  return Object.hasOwn(VIEWS, view) && Number.isInteger(index) ? `#${view}/${index}` : null;
}

/* A share of bytes or, where these are too uncertain, of time. */
function told(of, what) {
  return of.by_time ? {share: of.time_share, ci: of.time_share_ci, of: `the time around ${/loaded/.test(what) ? 'loads' : 'stores'}`} : {share: of.share, ci: of.share_ci, of: `all ${what}`};
}

function redundantExact(kind) {
  return Boolean((data.redundancy_totals || {})[kind] && data.redundancy_totals[kind].exact);
}

/* What a finding is about, and what is known of it: {item, ci, samples, exact, confidence}. */
function findingEvidence(finding) {
  const index = finding.refs && finding.refs[finding.kind], pick = part => at(data[part], index) || {};
  switch (finding.kind) {
    case 'split': return layoutEvidence(finding, pick('splits'));
    case 'regroup': return layoutEvidence(finding, pick('regroups'));
    case 'conflict': return layoutEvidence(finding, pick('conflicts'));
    case 'redundancy': { const pair = pick('redundancies'); const of = told(pair.line || pair, redundantKind(pair)[2]); return {item: pair, of: of.of, ci: of.ci, share: of.share, samples: (pair.line || pair).samples, exact: redundantExact(pair.kind)}; }
    case 'sharing': { const item = pick('sharing'); return {item, ci: item.share_ci, samples: item.samples}; }
    case 'communication': return {item: at(list((data.communication || {}).regions), index) || {}, exact: true};
    case 'locality': { const row = pick('locality'), traced = isNumber(row.accesses); return {item: row, ci: finding.share_ci, samples: isNumber(finding.samples) || traced ? finding.samples : row.seen, exact: traced, accesses: row.accesses}; }
    default: return {item: {}};
  }
}

/* Of all objects that the finding is about: its own interval, never that of one of them. */
function layoutEvidence(finding, item) {
  const members = list(item.objects).map(i => at(data.objects, i) || {}), samples = isNumber(finding.samples) ? finding.samples : members.reduce((sum, object) => sum + (object.samples || 0), 0);
  return {item, ci: isRange(finding.share_ci) ? finding.share_ci : members.length === 1 ? members[0].share_ci : null, samples, exact: data.run.engine === 'exact', confidence: item.confidence};
}

/* Two equal numbers under a gain would say that nothing changes; as many lines in another order do. */
function fromTo(before, after) {
  return !isNumber(before) ? 'unknown' : Math.abs(after - before) < 0.005 ? `${before.toFixed(2)} as today` : `${before.toFixed(2)} → ${after.toFixed(2)}`;
}

/* The number that shows the change: cache lines where they become fewer, else the memory of a traversal. */
function changeTile(advice) {
  const traffic = advice.traffic || {}, memory = advice.memory || {};
  if (isNumber(traffic.before) && traffic.after < 0.99 * traffic.before || !(memory.after < 0.99 * memory.before))
    return ['Cache lines fetched', fromTo(traffic.before, traffic.after), (traffic.unit || '').replace(/^cache lines /, '') || null, 'estimated'];
  return ['Memory traversed', `${bytes(memory.before)} → ${bytes(memory.after)}`, 'all cache lines of a traversal, mean over the loops', 'estimated'];
}

/* Engine and samples: what the numbers rest on. */
function evidenceText(evidence, between = ' · ') {
  const seen = isNumber(evidence.accesses) ? `${count(evidence.accesses)} accesses traced` : isNumber(evidence.samples) ? evidence.exact ? `seen ${count(evidence.samples)} times` : plural(evidence.samples, 'sample', 'samples') : null;
  return [engineName(), evidence.exact ? 'counted, not sampled' : null, seen].filter(Boolean).join(between);
}

/* A new layout at a glance: one element today with the heat of its fields, what becomes of it, and what that saves. */
function layoutGlance(finding, advice) {
  const split = finding.kind === 'split', object = split && splitObject(advice), [title, value, unit] = changeTile(advice);
  return facts([
    object && list(object.fields).length > 0 && ['Today', drawStrip(object, advice.element_bytes)],
    split ? [advice.kind === 'reorder' ? 'New order' : advice.kind === 'pool' ? 'From a pool' : advice.kind === 'order' ? 'In the order of visits' : advice.kind === 'in-place' ? 'In place of pointers' : 'New groups', partChips(advice)] :
      ['Into one', el('span.chips', null, list(advice.names).slice(0, 12).map((name, i) => el('span.chip', null, groupMark({index: i, letter: groupLetter(i)}), ' ', clip(name, 30))))],
    [title, el('strong', null, value), ` ${unit || ''}`],
  ], 'dl.glance');
}

/* How full the set is, and where each array should go. */
function conflictGlance(conflict) {
  const arrays = list(conflict.arrays);
  return facts([
    isNumber(conflict.lines) && ['In one set', el('strong', null, `${conflict.lines.toFixed(0)} lines`), ` of one iteration; it holds ${conflict.ways}`],
    conflict.remedy === 'rows' ? ['Rows', el('strong', null, `${bytes(conflict.row_bytes)} → ${bytes(conflict.row_bytes)} + ${conflict.pad_bytes} bytes`)] :
      ['Move by', el('span.chips', null, arrays.slice(0, 12).map(array => el('span.chip', null, clip(array.name, 30), ` +${array.move}`))), arrays.length > 12 && el('span.soft', null, ` and ${arrays.length - 12} more`)],
  ], 'dl.glance');
}

/* What lwp patch made of it: the measured gain, and the change. */
function triedGain(tried) {
  return tried && isNumber(tried.speedup) && isRange(tried.interval) ? el('div', null, el('dt', null, 'Tried'), el('dd.big', null, speedup(tried.speedup) + '×'),
    el('dd.soft', null, `${speedup(tried.interval[0])}-${speedup(tried.interval[1])}, ${plural(tried.pairs, 'pair', 'pairs')} of runs with the patch`)) : null;
}
const LONG_LINES = 60; /* fill a page */
function triedPatch(tried) {
  if (!tried || typeof tried.patch !== 'string') return null;
  const lines = tried.patch.split('\n').length - 1, node = fold(`The patch, ${plural(lines, 'line', 'lines')}`, () => el('div.code', null, copyButton(tried.patch), code(tried.patch, 'The patch')));
  if (lines > LONG_LINES) node.classList.add('long');
  return node;
}

/* Why to believe it, in one sentence; after what is wrong, what to do, and what that gains. */
function whyText(finding, evidence) {
  const share = isNumber(evidence.share) ? evidence.share : finding.share, of = evidence.of || (finding.kind === 'communication' ? 'the accesses' : 'the time'), from = evidence.item.speedup_from;
  return [el('strong', null, 'Why: '), `it concerns ${percent(share)} of ${of}${!evidence.exact && isRange(evidence.ci) ? ` (95\u00a0% interval ${interval(evidence.ci)})` : ''}, by the ${evidenceText(evidence, ', ')}`,
    from === 'measured here' ? '; the accesses of its loops were run in both layouts on this machine'
      : finding.kind === 'locality' && !evidence.exact && isRange(finding.expected_speedup) ? '; the loop\u2019s accesses were run on this machine as they are and as advised' : isRange(finding.expected_speedup) ? '; the gain is estimated, not measured' : '', '.'];
}

function findingCard(finding, rank, most) {
  const link = findingLink(finding), evidence = findingEvidence(finding), layout = finding.kind === 'split' || finding.kind === 'regroup';
  const stake = finding.kind === 'redundancy' && isNumber(finding.time_at_stake); /* what is saved if all of the work went */
  const shareOf = finding.kind === 'communication' ? 'Share of the accesses' : stake ? 'Time at stake, at most' : 'Share of the time today';
  return el(evidence.confidence === 'low' ? 'li.finding.unsure' : 'li.finding', null, el('div.rank', {'aria-hidden': 'true'}, String(rank)),
    el('div.finding-body', null,
      el('h2', null, link ? el('a', {href: link}, prose(brief(finding.title))) : prose(brief(finding.title))),
      el('p.meta', null, severity(finding.severity), ' ', confidence(evidence.confidence)),
      layout && layoutGlance(finding, evidence.item),
      finding.kind === 'conflict' && conflictGlance(evidence.item),
      el('p', null, prose(finding.next_step)),
      el('p.soft', null, whyText(finding, evidence)),
      evidence.item.declaration && fold(finding.kind === 'conflict' || ['order', 'in-place'].includes(evidence.item.kind) ? 'What to write' : layout ? 'The new declaration' : 'The padded declaration', () => [el('div.code', null, copyButton(evidence.item.declaration), code(evidence.item.declaration, 'The declaration')), usageDiff(finding.kind, evidence.item)], true),
      triedPatch(finding.tried),
      link && el('p', null, el('a.button', {href: link}, ['order', 'in-place'].includes(evidence.item.kind) ? 'See the layout' : layout ? 'See the layout and the new declaration' : 'See the evidence'))),
    el('dl.finding-numbers', null,
      el('div', null, el('dt', null, `Predicted gain, ${wholeOf()}`), finding.expected_speedup ? el('dd.big', null, gainInTile(finding)) : el('dd', null, unknown(isNumber(finding.time_at_stake) && finding.time_at_stake < 0.9 ? `at most ${speedup(1 / (1 - finding.time_at_stake))}×` : 'not predicted')), el('dd.soft', null, saved(finding.expected_speedup)), gainBar(finding.expected_speedup, most)),
      triedGain(finding.tried),
      isNumber(evidence.share) && el('div', null, el('dt', null, `Share of ${evidence.of}`), el('dd', null, shareBar(evidence.share, evidence.ci)), !evidence.exact && isRange(evidence.ci) && el('dd.soft', null, `95\u00a0% interval ${interval(evidence.ci)}`)),
      el('div', null, el('dt', null, shareOf), el('dd', null, shareBar(finding.share, evidence.of ? null : evidence.ci)),
        !evidence.exact && !evidence.of && isRange(evidence.ci) && el('dd.soft', null, `95\u00a0% interval ${interval(evidence.ci)}`), el('dd.soft', null, evidenceText(evidence)))));
}

/* What expected gains are of: latencies do not say how much of the run they are. */
const wholeOf = () => data.run.weight_unit === 'cycles' ? 'time of accesses' : 'whole program';

const unknownShare = () => (page.shares || {}).unknown || 0;

/* What the table of data does not hold. */
function rest() {
  const given = (page.shares || {}).known || 0, lost = unknownShare();
  return `${percent(given)} of the time is memory stall on known data${lost > 0 ? `, ${percent(lost)} is memory stall on unknown data` : ''}; the rest is computation or unknown.`;
}

/* Nothing can be said of a run that was not sampled, whatever was asked for. */
const nothingSampled = () => data.run.engine !== 'exact' && !data.run.samples;

function missingParts() {
  const names = Object.entries(PARTS).filter(([key]) => nothingSampled() || data[key] === null || data[key] === undefined).map(([, name]) => name);
  return names.length > 0 && el('p.note.missing', null, el('strong', null, el('span', {'aria-hidden': 'true'}, '⊘ '), 'Not measured in this run: '), names.join(', '), '. Nothing is known about that, good or bad.');
}

/* Beside the CPU time that the run takes without lwp: a short one may take less than lwp's start. */
const briefRun = () => isNumber(data.run.cpu_s) && data.run.cpu_s < 1;
function measuringCost() {
  const added = data.run.overhead_percent;
  return !isNumber(added) ? 'unknown' : added >= 200 ? `${(added / 100).toFixed(1)} times the run` : `${added.toFixed(1)}\u00a0%`;
}

function measuredBy() {
  const run = data.run;
  return [run.engine && `${run.engine} engine`, `${plural(run.samples, 'sample', 'samples')}`,
    run.samples_lost ? `${count(run.samples_lost)} lost` : null,
    `cost of measuring ${measuringCost()}`].filter(Boolean).join(' · ');
}

/* A short type stays in one line. */
function typeCell(type) {
  const text = clip(brief(type), 80);
  return el(text.length <= 24 ? 'code.nowrap' : 'code', {title: type}, text);
}

/* The gain of doing the first alone. */
function firstGain(findings) {
  const first = findings[0], gain = first.expected_speedup;
  return isRange(gain) && gain[0] > 1 ? [el('strong', null, `Predicted for the first alone: ${gainOf(first)}, ${wholeOf()}`), ` (${saved(gain)}).`] : null;
}

/* Rows of one key as one, by which as much is added. */
function addedUp(rows, key, amounts) {
  const sums = new Map();
  for (const row of rows) {
    const sum = sums.get(row[key]) || {...row, ...Object.fromEntries(amounts.map(a => [a, 0]))};
    amounts.forEach(a => { sum[a] = isNumber(row[a]) && isNumber(sum[a]) ? sum[a] + row[a] : null; });
    sums.set(row[key], sum);
  }
  return [...sums.values()];
}

/* The structure of all objects that have one split: the fields and loops of each, together. */
function splitObject(split) {
  const first = at(data.objects, split.object) || {}, members = list(split.objects).map(i => at(data.objects, i)).filter(Boolean);
  if (members.length < 2) return first;
  const loops = members.flatMap(o => list(o.loops)).sort((a, b) => list(b.offsets).length - list(a.offsets).length); /* the one of most fields stands for all */
  return {...first, fields: addedUp(members.flatMap(o => list(o.fields)), 'offset', ['share', 'loop_share', 'samples']), loops: addedUp(loops, 'loop', ['share', 'samples'])};
}

function splitOfObject(index) {
  const split = list(data.splits).findIndex(s => s.object === index || list(s.objects).includes(index));
  return split >= 0 ? split : null;
}

function objectsTable(most) {
  const rows = list(data.objects).map((object, index) => ({object, index})).filter(r => r.object).sort((a, b) => (b.object.share || 0) - (a.object.share || 0)).slice(0, most);
  if (!rows.length) return el('p.soft', null, 'No sample could be attributed to a data object.');
  const full = Math.max(...rows.map(r => r.object.share || 0), 1e-9);
  return table('Data objects', [
    {title: 'Data', cell: r => [objectLink(r.index), splitOfObject(r.index) !== null && [' ', el('a.tag', {href: '#split/' + splitOfObject(r.index)}, 'advice')]],
      key: r => objectName(r.object), text: r => `${r.object.name} ${r.object.type} ${r.object.kind}`},
    {title: 'Share of the time', cell: r => shareBar(r.object.share, r.object.share_ci, full), key: r => r.object.share, number: true},
    {title: 'Samples', cell: r => count(r.object.samples), key: r => r.object.samples, number: true},
    {title: 'Type', cell: r => r.object.type ? typeCell(r.object.type) : unknown(), key: r => r.object.type || ''},
    {title: 'Kind', cell: r => r.object.kind, key: r => r.object.kind},
    {title: 'Element', cell: r => isNumber(r.object.element_bytes) ? bytes(r.object.element_bytes) : unknown(), key: r => r.object.element_bytes, number: true},
    {title: 'Size', cell: r => isNumber(r.object.bytes) ? bytes(r.object.bytes) : unknown(), key: r => r.object.bytes, number: true, hint: 'most bytes allocated at one time'},
    {title: 'Allocated in', cell: r => brief(allocationPlace(r.object) || '') || (r.object.kind === 'heap' ? unknown() : ''), key: r => allocationPlace(r.object) || '', wide: true},
  ], rows, {plain: most !== undefined});
}

/* Three things that are never mixed up: not measured, nothing to gain, and left alone for reasons. */
const SILENCE = {not_measured: ['⊘ ', 'Could not be measured: '], nothing_to_gain: ['✓ ', 'Measured, and nothing to gain: '], left_alone: ['✓ ', 'Measured, and left alone: ']};
function silenceText(silence) {
  const [sign, what] = Object.hasOwn(SILENCE, silence.kind) ? SILENCE[silence.kind] : ['', ''];
  return [el('strong', null, el('span', {'aria-hidden': 'true'}, sign), what), prose(silence.sentence || ''), '.', silence.help && [' ', prose(silence.help)]];
}

/* Data with much stall time that no advice is about. A reason that an earlier row has stands there. */
function leftAlone() {
  const rows = list(data.left_alone), link = row => at(data.objects, row.object) ? objectLink(row.object) : 'unknown data';
  return rows.length > 0 && el('section', null, el('h2', null, 'Left as it is, and why'), el('ul.left-alone', null, rows.map(row => {
    const object = at(data.objects, row.object), first = rows.find(r => r.sentence === row.sentence);
    return el('li', null, link(row), object && isNumber(object.share) && el('span.soft', null, ` ${percent(object.share)}`), ': ', first === row ? prose(row.sentence || '') : ['the same as for ', link(first)], '.');
  })));
}

const FIRST_CARDS = 2; /* what a screen has room for */

function exitText(exit)
{
    if (!exit)
        return 'unknown';
    if (isNumber(exit.signal))
        return `by signal ${exit.signal}`;
    return isNumber(exit.code) ? `with status ${exit.code}` : 'unknown';
}

const endedBadly = exit => exit && (isNumber(exit.signal) || exit.code > 0);

function viewFindings() {
  const findings = list(data.findings), run = data.run;
  const most = Math.max(2, ...findings.map(f => isRange(f.expected_speedup) ? Math.ceil(f.expected_speedup[1] * 2) / 2 : 1));
  const few = !(run.samples >= 100), cards = el('ol.findings', null, findings.slice(0, FIRST_CARDS).map((f, i) => findingCard(f, i + 1, most)));
  return [
    el('h1', null, findings.length ? `${plural(findings.length, 'thing', 'things')} to change in ${programName()}` : `No advice for ${programName()}`),
    el('p.lead', null, findings.length ? ['Data structures whose layout does not fit the loops that use them, and redundant work. ', findings.some(f => isRange(f.expected_speedup)) && 'The largest predicted gain is first. ', firstGain(findings)] :
      data.silence ? silenceText(data.silence) :
      nothingSampled() ? 'No sample was taken, so nothing is known, good or bad: the program ran too briefly or hardly used the processor.' :
      !run.samples && data.communication ? 'Nothing that was measured calls for a change.' : few ? `Only ${plural(run.samples, 'sample was', 'samples were')} taken: too few to say anything. Run the program longer or on a larger input.` :
        `In ${plural(run.samples, 'sample', 'samples')} no data structure was found whose layout would make the program measurably faster.` +
        (unknownShare() > 0.1 ? ` But ${percent(unknownShare())} of the time is memory stall on unknown data.` : '')),
    page.view === 'diff' && el('p.note', null, el('a', {href: '#diff'}, gainCame(diff.program || {}) || 'Before and after'), ': this is the report of the second run.'),
    tiles([
      ['Run time', seconds(run.wall_s), isNumber(run.cpu_s) ? `${seconds(run.cpu_s)} of CPU time` : null, endedBadly(run.exit) && `ended ${exitText(run.exit)}`],
      ['Memory stall', isNumber(run.stall_share) && run.samples > 0 ? percent(run.stall_share) : 'unknown', run.samples > 0 ? 'of the CPU time sampled' : 'nothing was sampled'],
      ['Samples', count(run.samples), `${count(run.samples_with_address)} with an address${run.samples_lost ? `, ${count(run.samples_lost)} lost` : ''}`],
      ['Cost of measuring', measuringCost(), !isNumber(run.overhead_percent) ? null : briefRun() ? 'so short a run bears the whole start of lwp' : 'of the CPU time without lwp', run.engine && `${run.engine} engine`],
    ]),
    findings.length > 0 && cards,
    () => { cards.append(...findings.slice(FIRST_CARDS).map((f, i) => findingCard(f, i + 1 + FIRST_CARDS, most))); },
    leftAlone,
    missingParts,
    data.coverage && data.coverage.sentence && el('p.soft', null, prose(data.coverage.sentence)),
    () => el('section', null, el('h2', null, 'Memory stall by data object'), run.samples > 0 ? [objectsTable(10), el('p.soft', null, rest())] : notMeasured('Which data the program is stalled on', nothingSampled() ? '-F 10000 --max-overhead 50' : '--detect layout'),
      el('p', null, el('a', {href: '#objects'}, 'All data'), ' · ', el('a', {href: '#loops'}, 'All loops'))),
    notes,
  ];
}

function notes() {
  const texts = list(data.run.notes);
  return texts.length > 0 && el('section', null, el('h2', null, 'Notes on this run'), el('ul.notes', null, texts.map(text => el('li', null, prose(text)))));
}

Object.assign(DRAW, {findings: viewFindings});
