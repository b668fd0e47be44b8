/* One structure: how it lies in memory today, how it should, and why. Drawings are to scale: a row is a cache line. */

const LINES_MAX = 24;     /* rows drawn of a large element before lines without fields are folded */
const MATRIX_MAX = 32;    /* fields of the affinity matrix */

/* What an expected gain rests on, a row for each thing that was counted or modelled. */
function gainEvidence(advice) {
  const traffic = advice.traffic || {}, replay = advice.replay, memory = advice.memory, rows = [];
  const add = (what, before, after, shown, how) => isNumber(before) && isNumber(after) && rows.push({what, before, after, shown, how});
  add(`Cache lines ${(traffic.unit || '').replace(/^cache lines /, '')}`, traffic.before, traffic.after, n => n.toFixed(2), 'from the layout and the fields that each loop uses');
  if (memory) add('Memory traversed', memory.before, memory.after, bytes, 'mean over the loops');
  if (replay) {
    const how = `${count(replay.accesses)} accesses of the trace, simulated in a cache model`;
    ['L1', 'L2', 'L3'].forEach(level => add(`Misses of ${level}`, replay.before[level], replay.after[level], shortCount, how));
    add('Cycles', replay.before.cycles, replay.after.cycles, shortCount, how);
  }
  const bar = (n, row) => el('span.share', null, el('span.track', {'aria-hidden': 'true'}, el('span.fill', {style: {width: `${100 * n / Math.max(row.before, row.after, 1e-9)}%`}})), el('span.value', null, row.shown(n)));
  const most = isRange(advice.expected_speedup) ? Math.max(2, Math.ceil(advice.expected_speedup[1])) : 2;
  return el('section', null, el('h2', null, 'Predicted gain and evidence'),
    el('p', null, isRange(advice.expected_speedup) ? [el('strong', null, gainOf(advice)), ` (${saved(advice.expected_speedup)}, ${wholeOf()}) `] : unknown('not predicted '), confidence(advice.confidence)),
    gainBar(advice.expected_speedup, most),
    rows.length > 0 && table('Evidence for the gain', [
      {title: 'What', cell: r => r.what}, {title: 'Today', cell: r => bar(r.before, r), number: true}, {title: 'Proposed', cell: r => bar(r.after, r), number: true},
      {title: 'After / before', cell: r => r.before > 0 ? percent(r.after / r.before) : unknown(), number: true}, {title: 'Evidence', cell: r => el('span.soft', null, r.how), wide: true},
    ], rows, {plain: true}),
    el('p.soft', null, advice.speedup_from === 'measured here' ?
      'Measured: a small kernel with the access pattern of the loops ran in both layouts on this machine. The interval covers the sampling error and the spread of these runs. ' :
      'Estimated from cache lines and from the memory stall of the loops. The interval covers the sampling error and what is unknown about the accesses. ',
      !replay && 'The new layout was not simulated in a cache model: that takes a trace (lwp collect -e exact --detect layout,locality).'));
}

/* offset -> {letter, index} or cold */
function groupsByOffset(split) {
  const map = new Map();
  list(split.groups).forEach((group, index) => list(group.offsets).forEach(offset => map.set(offset, {index, letter: groupLetter(index)})));
  list(split.cold && split.cold.offsets).forEach(offset => map.set(offset, {index: -1, letter: 'cold'}));
  return map;
}

const lineRow = (label, boxes, line) => el('div.line-row', null, el('span.line-label', null, label), el('div.line', null, lineBoxes(boxes, line)));

function ruler(line) {
  const marks = [];
  for (let byte = 0; byte <= line; byte += line / 8)
    marks.push(el('span', {style: {left: (100 * byte / line) + '%'}}, String(byte)));
  return el('div.line-row.ruler', {'aria-hidden': 'true'}, el('span.line-label', null, 'byte'), el('div.ticks', null, marks));
}

const paddingText = (object, size) => paddingBytes(object, size) > 0 ? `, of which ${plural(paddingBytes(object, size), 'byte is', 'bytes are')} padding` : '';

function drawElement(object, size, line, groups, scale) {
  const fields = drawnFields(object, size);
  const rows = layoutRows(fields, size, line, groups, object.type, scale || sharedScale(object)), drawn = [];
  if (size < line && !object.single) { /* neighbours share the line */
    const own = rows[0];
    for (let start = size; start < line; start += size)
      for (const box of own)
        if (start + box.start < line)
          rows[0] = rows[0].concat({...box, class: box.class + '.ghost', value: null, start: start + box.start, bytes: Math.min(box.bytes, line - start - box.start)});
  }
  let folded = 0;
  const fold = () => {
    if (folded) drawn.push(el('p.folded', null, `${plural(folded, 'cache line', 'cache lines')} without a sampled access`));
    folded = 0;
  };
  rows.forEach((boxes, index) => {
    if (rows.length > LINES_MAX && boxes.every(box => box.class === 'gap')) { folded++; return; }
    fold();
    if (drawn.length < 4 * LINES_MAX) drawn.push(lineRow('+' + index * line, boxes, line));
  });
  fold();
  return el('div.drawing', {role: 'img', 'aria-label': elementLabel(fields, size)}, drawn, ruler(line));
}

/* A group's own array: the first element, then as many more as its cache line holds. */
function drawGroup(split, object, group, index, line) {
  const cold = index < 0, mark = {index, letter: cold ? 'cold' : groupLetter(index)};
  const byOffset = new Map(list(object.fields).map(f => [f.offset, f]));
  const fields = list(group.offsets).map((offset, i) => ({offset, name: list(group.fields)[i] || '+' + offset, bytes: (byOffset.get(offset) || {}).bytes}));
  const known = fields.every(f => isNumber(f.bytes)) && group.bytes > 0;
  const per = group.bytes > 0 ? line / group.bytes : 0;
  const rows = Array.from({length: known ? Math.min(8, Math.max(1, Math.ceil(group.bytes / line))) : 1}, () => []);
  /* the node keeps a pointer of 8 bytes to each other part */
  const others = list(split.groups).length - 1 + (split.cold && list(split.cold.fields).length ? 1 : 0);
  const room = known ? group.bytes - fields.reduce((sum, f) => sum + f.bytes, 0) : 0;
  const pointers = split.single && !['reorder', 'pool', 'order', 'in-place'].includes(split.kind) && index === 0 ? Math.min(8 * others, Math.max(0, room)) : 0;
  const put = (start, length, box) => {
    for (let from = start, end = Math.min(start + length, rows.length * line); from < end;) {
      const row = Math.floor(from / line), upto = Math.min(end, (row + 1) * line);
      rows[row].push({...box, start: from - row * line, bytes: upto - from});
      from = upto;
    }
  };
  if (known) {
    const align = f => f.bytes && (f.bytes & (f.bytes - 1)) === 0 && f.bytes <= 16 ? f.bytes : 1;
    const places = list(group.new_offsets);
    for (let start = 0, element = 0; start < rows.length * line && element < 4096; start += group.bytes, element++) {
      let reached = 0;
      fields.forEach((field, i) => {
        reached = isNumber(places[i]) ? places[i] : Math.ceil(reached / align(field)) * align(field);
        put(start + reached, field.bytes, {class: (cold ? 'cold' : 'g' + index % GROUP_COLOURS) + (element ? '.ghost' : ''), name: field.name, title: `${field.name} of element ${element}`});
        reached += field.bytes;
      });
      if (pointers > 0 && group.bytes <= line)
        put(start + group.bytes - pointers, pointers, {class: 'pointer' + (element ? '.ghost' : ''), name: '→ other groups', title: 'pointer to the other groups'});
    }
  }
  return el('div.group', null,
    el('div.group-head', null, groupMark(mark), ' ', el('strong', null, fields.map(f => f.name).join(', ')), ' ',
      el('span.soft', null, `${bytes(group.bytes)} an element`,
        per >= 1 ? `, ${per % 1 ? 'about ' + per.toFixed(1) : per} in a cache line` : '', isNumber(group.share) ? `, ${percent(group.share)} of the time` : cold ? ', rarely used by the hot loops' : '')),
    known ? el('div.drawing', {role: 'img', 'aria-label': `group ${mark.letter}: ${fields.map(f => clip(f.name, 40)).join(', ')}`}, rows.map((boxes, i) => lineRow(i ? '+' + i * line : '', boxes, line))) : null);
}

function affinityMatrix(split, object) {
  const pairs = list(split.affinity);
  if (!pairs.length) return el('p.soft', null, 'Too few samples to say which fields are used together.');
  const value = new Map();
  for (const pair of pairs) { value.set(JSON.stringify([pair.a, pair.b]), pair.value); value.set(JSON.stringify([pair.b, pair.a]), pair.value); }
  const named = new Set(pairs.flatMap(p => [p.a, p.b]));
  const groups = groupsByOffset(split);
  /* in the order of the parts, so that what belongs together stands together */
  const order = [...list(split.groups), split.cold || {}].flatMap(g => list(g.fields)).filter(name => named.has(name));
  const names = order.slice(0, MATRIX_MAX);
  const mark = new Map(list(object && object.fields).map(f => [f.name, groups.get(f.offset)]));
  return [el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': 'Affinity of fields'}, el('table.matrix', null, el('caption.aside', null, 'Affinity of fields'),
    el('thead', null, el('tr', null, el('td'), names.map(n => el('th', {scope: 'col', title: n}, clip(n, 14))))),
    el('tbody', null, names.map(a => el('tr', null, el('th', {scope: 'row', title: a}, groupMark(mark.get(a)), ' ', clip(a, 24)),
      names.map(b => {
        if (a === b) return el('td.self', null, '·');
        const v = value.get(JSON.stringify([a, b]));
        if (!isNumber(v)) return el('td', {title: 'not seen'}, '–');
        return el(`td.h${heatStep(v, 1)}`, {title: `${clip(a, 60)} with ${clip(b, 60)}: ${v.toFixed(2)}`}, v === 0 ? '0' : v.toFixed(2));
      })))))),
  order.length > names.length && el('p.soft', null, `${count(order.length - names.length)} more fields are left out of the matrix.`)];
}

function structureLoops(split, object) {
  const groups = groupsByOffset(split);
  const traffic = new Map(list(split.traffic && split.traffic.loops).map(t => [t.loop, t]));
  const uses = list(object.loops).slice().sort((a, b) => (b.share || 0) - (a.share || 0));
  if (!uses.length) return el('p.soft', null, 'No loop with samples uses this structure.');
  const most = Math.max(...uses.map(u => u.share || 0));
  const nameOf = new Map(list(object.fields).map(f => [f.offset, fieldName(f)]));
  return el('div.loops', null, uses.slice(0, 60).map((use, index) => {
    const t = traffic.get(use.loop), names = list(use.offsets);
    return el('details.loop', {open: index === 0}, el('summary', null,
      el('span.loop-name', null, loopPlace(at(data.loops, use.loop))),
      shareBar(use.share, null, most),
      el('span.chips', null, names.length ? names.map((o, i) => el('span.chip', null, groupMark(groups.get(o)), ' ', clip(nameOf.get(o) || list(use.fields)[i] || '+' + o, 40))) : unknown('fields unknown')),
      el('span.lines-change', {title: 'cache lines per element visited, today and after the split'}, t ? `lines: ${fromTo(t.before, t.after)}` : '')),
      el('p.soft', null, isNumber(use.stride) ? `Stride ${bytes(use.stride)}. ` : 'No regular stride. ', isNumber(use.samples) ? `${plural(use.samples, 'sampled access', 'sampled accesses')} to this structure. ` : '',
        el('a', {href: '#loop/' + use.loop}, 'All data of this loop')),
      sourceOf(at(data.loops, use.loop)));
  }), uses.length > 60 && el('p.soft', null, `${count(uses.length - 60)} more loops use it; each has less than ${percent(uses[60].share)} of the time.`));
}

/* Of all data that has the structure. */
function shareTile(finding, item, object) {
  const evidence = finding ? layoutEvidence(finding, item) : {ci: object.share_ci, samples: object.samples};
  return ['Share of the time', percent(finding ? finding.share : object.share), isRange(evidence.ci) ? `95\u00a0% interval ${interval(evidence.ci)}` : null, `${plural(evidence.samples, 'sample', 'samples')}, ${engineName()}`];
}

function viewSplit(index) {
  const split = at(data.splits, index);
  if (!split) return missingView('There is no such structure in this result.');
  const object = splitObject(split), first = at(data.objects, split.object) || {};
  const finding = list(data.findings).find(f => f.kind === 'split' && f.refs && f.refs.split === index);
  const line = (data.run.machine && data.run.machine.line_bytes) || 64;
  const groups = groupsByOffset(split), parts = list(split.groups);
  const cold = split.cold && list(split.cold.offsets).length ? split.cold : null;
  const others = list(split.objects).filter(o => o !== split.object);
  return [
    el('p.crumbs', null, el('a', {href: '#findings'}, 'Findings'), ' › structure'),
    el('h1', {title: split.type}, brief(split.type || object.name || 'unnamed structure'), ' ', finding && severity(finding.severity)),
    el('p.lead', null, finding ? prose(brief(finding.title) + '.') : ''),
    tiles([
      ['Predicted gain', gainInTile(split), saved(split.expected_speedup), wholeOf()],
      shareTile(finding, split, object),
      changeTile(split),
      ['Confidence', confidence(split.confidence) || 'unknown', agreementText(object) || 'from the number of samples and their agreement', isNumber(split.element_probability) && split.element_probability < 0.995 ? `element size right with ${percent(split.element_probability)}` : null],
    ]),
    el('section', null, el('h2', null, 'What changes'),
      el('div.panel', null,
        el('h3', null, 'Today ', el('span.soft', null, `${bytes(split.element_bytes)} an element${paddingText(object, split.element_bytes)}; a row is a cache line of ${bytes(line)}`)),
        drawElement(object, split.element_bytes, line, groups),
        el('p.legend', null, 'Share of the time: ', [1, 2, 3, 4, 5].map(n => el(`span.swatch.h${n}`, null, n === 1 ? 'less' : n === 5 ? 'more' : '\u00a0')),
          el('span.swatch.gap', null, '\u00a0'), ' padding or bytes without a sampled access. A letter names the group that a field moves to.'),
        el('h3', null, `Proposed `, el('span.soft', null, split.kind === 'reorder' ? 'the same structure, its fields in another order' : split.kind === 'pool' ? 'the same structure, from large blocks' : split.kind === 'order' ? 'the same structure, its elements in another order' : split.kind === 'in-place' ? 'the same structure, in the place of the pointers to it' : split.single ? `${plural(parts.length + (cold ? 1 : 0), 'group', 'groups')}; the first keeps a pointer to each other` : `${plural(parts.length + (cold ? 1 : 0), 'array', 'arrays')}, each with only the fields that its loops use`)),
        parts.map((group, i) => drawGroup(split, object, group, i, line)),
        cold && drawGroup(split, object, cold, -1, line))),
    el('section', null, el('h2', null, ['order', 'in-place'].includes(split.kind) ? 'What to write' : 'The new declaration'),
      split.caution ? el('p.note.warning', null, prose(split.caution)) : finding && el('p', null, prose(finding.next_step)),
      el('div.code', null, copyButton(split.declaration || ''), code(split.declaration || '', 'The new declaration')), usageDiff('split', split)),
    gainEvidence(split),
    el('section', null, el('h2', null, 'Why: the loops and the fields they use'),
      el('p.soft', null, 'Memory stall on this structure in each loop, as a share of the program\u2019s time.'),
      structureLoops(split, object)),
    el('section', null, el('h2', null, 'Which fields are used together'),
      el('p.soft', null, 'Affinity 1: always used by the same loops; 0: never. Fields with a high affinity stay in one group.'),
      affinityMatrix(split, object)),
    el('section', null, el('h2', null, 'Allocation and lifetime'), objectFacts(first),
      others.length > 0 && el('p', null, 'Also of this type: ', others.slice(0, 20).map((o, i) => [i ? ', ' : '', objectLink(o)]))),
  ];
}

Object.assign(DRAW, {split: viewSplit});
