/* Two runs side by side: the predicted and the measured gain, and how each structure lies in memory now. */

const diff = page.diff || {};
const VERDICTS = { /* of a promise: words, mark, look */
  arrived: ['gain as predicted', '✓', 'good'], more: ['more than predicted', '✓', 'good'], less: ['less than predicted', '◑', 'medium'], none: ['no gain', '✗', 'high'], slower: ['slower', '✗', 'high'],
  nothing_promised: ['nothing was predicted', '–', 'low'], not_followed: ['advice not followed', '–', 'low'], cannot_tell: ['unknown', '?', 'low'],
};
const STATUS = {same: 'same layout', changed: 'changed', split: 'split', regrouped: 'regrouped', gone: 'gone', new: 'new'};

function verdict(name) {
  const known = VERDICTS[name];
  return known ? el(`span.verdict.${known[2]}`, null, el('span', {'aria-hidden': 'true'}, known[1] + ' '), known[0]) : null;
}

const ratio = n => isNumber(n) ? speedup(n) + '×' : 'unknown';
const ratioRange = ci => isRange(ci) ? `95\u00a0% interval ${speedup(ci[0])}×–${speedup(ci[1])}×` : null;
/* A result is called by its folder, whatever path led to it. */
const sidePath = which => String((diff[which] || {}).result || which).replace(/\/+(analysis\.json)?$/, '');
const sideName = which => baseName(sidePath('before')) === baseName(sidePath('after')) ? sidePath(which) : baseName(sidePath(which));
const sentence = text => text ? prose(text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')) : '';

/* Both sides of a number, one bar below the other; `most` fills a bar. */
function twoBars(before, after, shown, most) {
  const bar = (value, name) => el('span.share', null, el('span.soft.side-name', null, name), el('span.track', {'aria-hidden': 'true'}, el('span.fill', {style: {width: `${100 * (value || 0) / most}%`}})), el('span.value', null, isNumber(value) ? shown(value) : '–'));
  return el('span.two-bars', null, bar(before, 'before'), bar(after, 'after'));
}

/* A column of them: one scale for all rows. */
function barsColumn(title, rows, side, shown) {
  const most = Math.max(1e-12, ...rows.flatMap(r => [side(r.before || {}), side(r.after || {})]).filter(isNumber));
  return {title, cell: r => twoBars(side(r.before || {}), side(r.after || {}), shown, most), key: r => side(r.before || {}), number: true};
}

/* Seconds, as `key` has them; shares where an engine does not know its seconds: never one beside the other. */
function timeColumn(title, rows, key) {
  const timed = rows.every(r => [r.before, r.after].every(side => !side || !isNumber(side.share) || isNumber(side[key])));
  return timed ? barsColumn(title, rows, side => side[key], seconds) : barsColumn('Share of the time', rows, side => side.share, percent);
}

/* The predicted range, and the measured gain as a mark on the same scale. */
function promiseBar(promised, came) {
  if (!isRange(promised) || !isNumber(came)) return null;
  const least = Math.min(1, came), most = Math.max(2, promised[1], came), place = x => 100 * (x - least) / (most - least);
  return el('div.gain-bar', {role: 'img', 'aria-label': `predicted ${times(promised)}, measured ${ratio(came)}`}, el('span.gain-track', null,
    el('span.gain-range', {style: {left: place(promised[0]) + '%', width: Math.max(1, place(promised[1]) - place(promised[0])) + '%'}}), el('span.gain-came', {style: {left: place(came) + '%'}})),
    el('span.gain-scale', null, el('span', null, ratio(least)), el('span', null, 'bar: predicted, line: measured'), el('span', null, ratio(most))));
}

/* "Predicted 1.24× (1.15–1.32), measured 1.27×", where the two runs can be compared. */
function gainCame(program) {
  const predicted = isRange(program.promised) && program.verdict !== 'cannot_tell' ? gainOf({speedup: program.predicted, expected_speedup: program.promised}) : null;
  return predicted && isNumber(program.cpu_ratio) ? `Predicted ${predicted}, measured ${ratio(program.cpu_ratio)}` : null;
}

function structureName(structure) {
  return clip(brief(structure.type || structure.name || 'unnamed'), 60);
}

const partObject = (which, part) => list((page.sides || {})[which]).find(o => o.name === part.name && o.type === part.type);

/* One scale of heat for both sides: the hottest field of either, else 1 % after would be as dark as 50 % before. */
function heatScale(structure) {
  const shares = (which, parts) => list(parts).flatMap(part => { const object = partObject(which, part); return object && list(object.fields).length ? object.fields.map(fieldShare) : [part.share]; });
  return Math.max(1e-9, ...[...shares('before', structure.whole), ...shares('after', structure.parts)].filter(isNumber));
}

/* The scale of the structure that an object of the second result is part of: all views have the same. */
function diffScale(object) {
  const structure = list(diff.structures).find(s => list(s.parts).some(part => part.name === object.name && part.type === object.type));
  return structure && heatScale(structure);
}

/* The part as it lies in memory: of the side's object of that name and type. */
function drawPart(which, part, scale) {
  const object = partObject(which, part), size = part.element_bytes;
  const fields = object && list(object.fields).length ? object.fields : isNumber(size) ? [{offset: 0, bytes: size, name: part.name || 'element', share: part.share, loop_share: part.share, samples: object ? object.samples : null}] : [];
  return el('div.part', null, el('div.group-head', null, el('strong', null, clip(part.type || part.name || 'unnamed', 60)), ' ', part.type && part.name && clip(part.name, 40),
    el('span.soft', null, ` ${isNumber(size) ? `${bytes(size)} an element, ` : ''}${percent(part.share)} of the time`)),
    isNumber(size) && size > 0 && fields.length ? drawElement({fields, type: part.type}, size, 64, null, scale) : el('p.soft', null, 'Its layout is unknown.'));
}

function structureFacts(structure) {
  const row = (title, shown) => [title, ...[structure.before, structure.after].map(side => side ? shown(side) : '–')]; /* not there is not unknown */
  return table('Before and after', [
    {title: 'Quantity', cell: r => r[0]}, {title: 'Before', cell: r => r[1], number: true}, {title: 'After', cell: r => r[2], number: true},
  ], [
    row('Share of the time', side => percent(side.share)), row('95\u00a0% interval', side => interval(side.share_ci) || '–'), row('Samples', side => count(side.samples)),
    row('Memory stall', side => seconds(side.waiting_s)), row('CPU time of its loops', side => seconds(side.loops_s)),
    row('Cache lines an element', side => isNumber(side.lines_per_element) ? side.lines_per_element.toFixed(2) : 'unknown'), row('Bytes', side => bytes(side.bytes)),
  ], {plain: true});
}

function viewDiffStructure(index) {
  const structure = at(diff.structures, index);
  if (!structure) return missingView('There is no such structure in this comparison.');
  const scale = heatScale(structure);
  return [
    el('p.crumbs', null, el('a', {href: '#diff'}, 'Before and after'), ' › structure'),
    el('h1', null, structureName(structure), ' ', el('span.tag', null, STATUS[structure.status] || 'unknown'), ' ', verdict(structure.verdict)),
    structure.sentence && el('p.lead', null, sentence(structure.sentence)),
    promiseBar(structure.promised, structure.arrived),
    isRange(structure.promised) && el('p', null, `Predicted ${times(structure.promised)}, ` + (isNumber(structure.arrived) ? `measured ${ratio(structure.arrived)} from the time of its loops${ratioRange(structure.arrived_ci) ? ` (${ratioRange(structure.arrived_ci)})` : ''}.` : 'not measured: the two runs say too little about its loops.')),
    el('section', null, el('h2', null, 'Layout in memory'), el('div.panel', null,
      el('p.soft', null, `One scale for both: the darkest field has ${percent(scale)} of its run\u2019s time.`), el('h3', null, 'Before'), list(structure.whole).length ? list(structure.whole).map(part => drawPart('before', part, scale)) : el('p.soft', null, 'It was not there.'),
      el('h3', null, 'After'), list(structure.parts).length ? list(structure.parts).slice(0, 24).map(part => drawPart('after', part, scale)) : el('p.soft', null, 'It is not there any more, or was not seen.'))),
    el('section', null, el('h2', null, 'In numbers'), structureFacts(structure)),
    list(structure.loops).length > 0 && el('section', null, el('h2', null, 'Its loops'), table('Loops before and after', [
      {title: 'Loop', cell: l => el('strong', null, clip(l.function || 'unknown function', 60)), key: l => l.function || '', text: l => l.function || ''},
      timeColumn('Time', structure.loops, 'seconds'),
      structure.loops.some(l => [l.before, l.after].some(side => side && isNumber(side.lines_per_element))) && {title: 'Cache lines an element', cell: l => [l.before, l.after].map(side => side && isNumber(side.lines_per_element) ? side.lines_per_element.toFixed(2) : '–').join(' → '), number: true},
      {title: 'Lines', cell: l => loopPlaces(l), wide: true},
    ].filter(Boolean), structure.loops)),
  ];
}

/* Where a loop stands: once, if it stands where it stood. */
function loopPlaces(loop) {
  const [before, after] = [loop.before, loop.after].map(side => side && side.file ? baseName(side.file) + linesOf(side) : null);
  return before === after ? before || unknown() : `${before || '–'} → ${after || '–'}`;
}

function findingLists() {
  const findings = diff.findings || {};
  return [['gone', 'Gone', 'what lwp advised before and does not any more'], ['new', 'New', 'what it advises now for the first time'], ['unchanged', 'Still there', 'what it advises in both runs']].map(([key, title, what]) =>
    el('section', null, el('h2', null, `${title} `, el('span.soft', null, `${plural(list(findings[key]).length, 'finding', 'findings')}: ${what}`)),
      list(findings[key]).length > 0 && el('ul.notes', null, list(findings[key]).map(f => el('li', null, prose(brief(f.title)), isRange(f.expected_speedup) && el('span.soft', null, ` ${times(f.expected_speedup)}`))))));
}

function diffRedundancies() {
  const rows = Object.entries(diff.redundancies || {}).filter(([, r]) => r);
  return rows.length > 0 && el('section', null, el('h2', null, 'Redundant accesses'), table('Redundant accesses', [
    {title: 'Kind', cell: ([kind]) => (REDUNDANT[kind] || [kind])[0]},
    ...['before', 'after'].map(side => ({title: side === 'before' ? 'Before' : 'After', cell: ([, r]) => r[side] ? [shareBar(r[side].share, r[side].share_ci), el('div.soft', null, interval(r[side].share_ci))] : el('span.unknown', null, 'not measured'), number: true})),
    {title: 'Verdict', cell: ([, r]) => ({less: '✓ less', more: '✗ more', within: 'no difference beyond the intervals'})[r.verdict] || unknown()},
  ], rows, {plain: true}));
}

function diffCommunication() {
  const rows = list(diff.communication);
  return rows.length > 0 && el('section', null, el('h2', null, 'Communication'), table('Communication', [
    {title: 'Region', cell: r => clip(r.name || 'unknown', 80), key: r => r.name || '', text: r => r.name || ''},
    barsColumn('Communicated', rows, side => side.communicated, shortCount),
    {...barsColumn('Distance of 90 %', rows, side => side.p90, shortCount), key: r => r.growth},
    {title: 'Growth steps until the caches are too small', cell: r => isNumber(r.steps_left) ? r.steps_left.toFixed(1) : '–', key: r => r.steps_left, number: true},
  ], rows));
}

function diffAgreement() {
  const agreement = diff.agreement;
  return agreement && el('section', null, el('h2', null, 'Agreement of sampling and the exact engine'),
    el('p', null, isNumber(agreement.weight_apart) ? `${percent(agreement.weight_apart)} of the time is attributed to different structures.` : unknown()), table('Agreement', [
      {title: 'Structure', cell: r => clip(r.type || r.name || 'unnamed', 60)}, {title: 'Sampled', cell: r => [percent(r.sampled), el('div.soft', null, interval(r.sampled_ci))], number: true}, {title: 'Exact', cell: r => percent(r.exact), number: true},
      {title: 'In the interval', cell: r => r.within === null ? unknown() : r.within ? '✓ yes' : '✗ no'}, {title: 'Advice', cell: r => ({same: 'the same', other: 'another', only_sampled: 'only sampled', only_exact: 'only exact', none: 'none'})[r.advice] || unknown()},
    ], list(agreement.structures), {plain: true}));
}

/* Both commands, or the one that both have. */
function commandRows(before, after) {
  const line = side => list(side.command).map(word => shellWord(String(word))).join(' ') || 'unknown';
  return line(before) === line(after) ? [['Command', line(after)]] : [['Command before', line(before)], ['Command after', line(after)]];
}

function viewDiff() {
  const program = diff.program || {}, before = diff.before || {}, after = diff.after || {};
  const rows = list(diff.structures).map((structure, index) => ({structure, index, before: structure.before || {}, after: structure.after || {}}));
  const promised = rows.some(r => isRange(r.structure.promised));
  const run = side => [clip(side.result || 'unknown', 200), el('div.soft', null, `${side.engine || 'unknown'} engine · ${plural(side.samples, 'sample', 'samples')} · ${plural(side.runs, 'run', 'runs')}`)];
  return [
    page.pages && el('p.crumbs', null, 'The reports: ', list(page.pages).map((address, i) => [i ? ' · ' : '', el('a', {href: `${page.index}r/${address}`}, sideName(i ? 'after' : 'before'))])),
    el('h1', null, gainCame(program) || 'Before and after', ' ', verdict(program.verdict)),
    el('p.lead', null, sentence(program.sentence)),
    promiseBar(program.promised, program.cpu_ratio),
    list(diff.doubts).filter(doubt => !String(program.sentence || '').includes(doubt.text)).map(doubt => el('p.note.warning', null, el('strong', null, doubt.serious ? 'Cannot be compared: ' : 'With care: '), prose(doubt.text))),
    tiles([
      ['CPU time', `${seconds(before.cpu_s)} → ${seconds(after.cpu_s)}`, isNumber(program.cpu_ratio) ? `${ratio(program.cpu_ratio)} as fast` : 'cannot be compared', isNumber(program.cpu_ratio) && (ratioRange(program.cpu_ratio_ci) || 'one run of each: the variation is unknown')],
      ['Predicted', isRange(program.promised) ? times(program.promised) : '–', list(program.followed).length ? plural(list(program.followed).length, 'piece of advice followed', 'pieces of advice followed') : 'no advice was followed'],
      ['Run time', `${seconds(before.wall_s)} → ${seconds(after.wall_s)}`, isNumber(program.wall_ratio) && ratio(program.wall_ratio), ratioRange(program.wall_ratio_ci)],
      ['Loops that did not change', program.control ? `${seconds(program.control.before_s)} → ${seconds(program.control.after_s)}` : 'unknown', program.control ? `${ratioRange(program.control.ratio_ci)}; 1×: the machine was equally fast` : 'too few samples on them'],
    ]),
    el('section', null, el('h2', null, 'Structures'), rows.length ? table('Structures', [
      {title: 'Structure', cell: r => el('span.named', null, el('a', {href: '#structure/' + r.index}, structureName(r.structure)), el('span.soft.below', null, r.structure.type && clip(r.structure.name || '', 40))), key: r => structureName(r.structure), text: r => `${r.structure.name} ${r.structure.type}`},
      timeColumn('Memory stall', rows, 'waiting_s'),
      {title: 'Samples', cell: r => `${count(r.before.samples ?? 0)} → ${count(r.after.samples ?? 0)}`, key: r => r.before.samples, number: true},
      {title: 'Layout', cell: r => el('span.tag', null, STATUS[r.structure.status] || 'unknown'), key: r => r.structure.status},
      ...promised ? [
        {title: 'Predicted', cell: r => isRange(r.structure.promised) ? times(r.structure.promised) : '–', key: r => isRange(r.structure.promised) ? r.structure.promised[1] : 0, number: true},
        {title: 'Measured', cell: r => isRange(r.structure.promised) ? [ratio(r.structure.arrived), isRange(r.structure.arrived_ci) && el('div.soft', {title: '95\u00a0% interval'}, r.structure.arrived_ci.map(ratio).join('–'))] : '–', key: r => r.structure.arrived, number: true, hint: 'with its 95\u00a0% interval'},
        {title: 'Verdict', cell: r => verdict(r.structure.verdict) || '', key: r => r.structure.verdict || ''},
      ] : [],
    ], rows) : el('p.soft', null, 'No structure was seen in either run.')),
    findingLists(), diffRedundancies(), diffCommunication(), diffAgreement(),
    list(diff.notes).length > 0 && el('section', null, el('h2', null, 'Notes'), el('ul.notes', null, diff.notes.map(text => el('li', null, prose(text))))),
    el('section', null, el('h2', null, 'The two runs'), facts([['Before', run(before)], ['After', run(after)], ...commandRows(before, after), ['Host', before.host === after.host ? after.host || unknown() : `${before.host} → ${after.host}`],
      ['Processor', before.cpu === after.cpu ? after.cpu || unknown() : `${before.cpu} → ${after.cpu}`]], 'dl.list')),
  ];
}

Object.assign(DRAW, {diff: viewDiff, structure: viewDiffStructure});
