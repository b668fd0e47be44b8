/* Arrays that belong into one: how they lie today, how they should, who was left out, and why. */

const ARRAYS_MAX = 12; /* arrays drawn one below the other */

const REJECTIONS = {
  order: 'is traversed in another order, or at unrelated indices',
  range: 'is used in another part of its length',
  time: 'is used at another time',
  scheme: 'has a different number of elements',
  lifetime: 'is not allocated while the others are used',
  location: 'has another location: static data and heap blocks, or data of two modules, cannot be one array',
  affinity: 'is mostly used without the others',
  unknown: 'is used by the same loops; the samples do not show whether at the same index',
};

const memberBytes = (group, i) => { const object = at(data.objects, list(group.objects)[i]); return object && object.element_bytes > 0 ? object.element_bytes : null; };

/* Each array's first cache line, one element coloured: a loop at index i fetches one line of each. */
function drawArrays(group, line) {
  const names = list(group.names);
  return [el('div.drawing', {role: 'img', 'aria-label': `${names.length} arrays, each with lines of its own`},
    names.slice(0, ARRAYS_MAX).map((name, i) => {
      const size = memberBytes(group, i);
      const boxes = !size ? [] : Array.from({length: Math.max(1, Math.min(16, Math.floor(line / size)))}, (_, k) => ({start: k * size, bytes: Math.min(size, line),
        class: k ? 'h0' : 'g' + i % GROUP_COLOURS, name: k ? '' : name, value: null, title: `${name}: element ${k}, ${bytes(size)}`, group: null}));
      return lineRow(groupLetter(i), boxes, line);
    }), ruler(line)),
    names.length > ARRAYS_MAX && el('p.folded', null, `and ${names.length - ARRAYS_MAX} more arrays`)];
}

/* One element of the new array, cut at cache lines; the ones after it are paler. */
function drawGrouped(group, line) {
  const fields = [];
  let end = 0, widest = 1;
  list(group.names).forEach((name, i) => {
    const size = memberBytes(group, i) || 0, align = Math.min(8, size & -size || 1);
    end = Math.ceil(end / align) * align;
    fields.push({name, start: end, size, index: i});
    end += size;
    widest = Math.max(widest, align);
  });
  end = Math.ceil(end / widest) * widest;
  if (!end) return unknown('sizes unknown');
  const rows = Array.from({length: Math.min(64, Math.ceil(end / line))}, () => []);
  for (let element = 0; element * end < rows.length * line; element++)
    for (const field of fields)
      for (let from = element * end + field.start, last = from + field.size; from < last;) {
        const row = Math.floor(from / line), upto = Math.min(last, (row + 1) * line);
        if (row < rows.length) rows[row].push({start: from - row * line, bytes: upto - from, class: 'g' + field.index % GROUP_COLOURS + (element ? '.ghost' : ''), name: field.name, value: null, group: null,
          title: `${field.name} of element ${element}: offset ${field.start}, ${bytes(field.size)}`});
        from = upto;
      }
  return el('div.drawing', {role: 'img', 'aria-label': `one element of ${bytes(end)}: ${fields.map(f => clip(f.name, 40)).join(', ')}`}, rows.map((boxes, i) => lineRow(i ? '+' + i * line : '0', boxes, line)), ruler(line));
}

function groupLoops(group) {
  const members = list(group.objects), traffic = new Map(list(group.traffic && group.traffic.loops).map(t => [t.loop, t])), rows = new Map();
  members.forEach((index, i) => list((at(data.objects, index) || {}).loops).forEach(use => {
    const row = rows.get(use.loop) || {loop: use.loop, share: 0, arrays: []};
    row.share += use.share || 0;
    row.arrays.push(i);
    rows.set(use.loop, row);
  }));
  const sorted = [...rows.values()].sort((a, b) => b.share - a.share), most = Math.max(...sorted.map(r => r.share), 1e-9);
  if (!sorted.length) return el('p.soft', null, 'No loop with samples uses these arrays.');
  return el('div.loops', null, sorted.slice(0, 40).map((row, index) => {
    const t = traffic.get(row.loop);
    return el('details.loop', {open: index === 0}, el('summary', null, el('span.loop-name', null, loopPlace(at(data.loops, row.loop))), shareBar(row.share, null, most),
      el('span.chips', null, row.arrays.map(i => el('span.chip', null, groupMark({index: i, letter: groupLetter(i)}), ' ', clip(list(group.names)[i], 40)))),
      el('span.lines-change', {title: 'cache lines per index, today and as one array'}, t ? `${t.before.toFixed(2)} → ${t.after.toFixed(2)} lines` : '')),
      el('p.soft', null, el('a', {href: '#loop/' + row.loop}, 'All data of this loop')), sourceOf(at(data.loops, row.loop)));
  }));
}

function arrayAffinity(group) {
  const pairs = list(group.affinity), names = list(group.names).slice(0, MATRIX_MAX);
  if (!pairs.length) return el('p.soft', null, 'Too few samples to say which arrays are used together.');
  const value = new Map(pairs.flatMap(p => [[JSON.stringify([p.a, p.b]), p.value], [JSON.stringify([p.b, p.a]), p.value]]));
  const shown = new Set(pairs.flatMap(p => [p.a, p.b])), ids = list(group.objects);
  const key = i => shown.has(names[i]) ? names[i] : ids[i];
  return el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': 'Affinity of arrays'}, el('table.matrix', null, el('caption.aside', null, 'Affinity of arrays'),
    el('thead', null, el('tr', null, el('td'), names.map(n => el('th', {scope: 'col', title: n}, clip(n, 14))))),
    el('tbody', null, names.map((a, i) => el('tr', null, el('th', {scope: 'row', title: a}, groupMark({index: i, letter: groupLetter(i)}), ' ', clip(a, 24)),
      names.map((b, j) => {
        const v = value.get(JSON.stringify([key(i), key(j)]));
        return i === j ? el('td.self', null, '·') : !isNumber(v) ? el('td', {title: 'not seen'}, '–') : el(`td.h${heatStep(v, 1)}`, {title: `${clip(a, 60)} with ${clip(b, 60)}: ${v.toFixed(2)}`}, v === 0 ? '0' : v.toFixed(2));
      }))))));
}

function rejectionsTable(rows) {
  return table('Left out', [
    {title: 'Array', cell: r => Number.isInteger(r.object) ? el('a', {href: '#object/' + r.object}, clip(r.name || objectName(at(data.objects, r.object)), 60)) : clip(r.name || 'unknown', 60), key: r => r.name || '', text: r => r.name || ''},
    {title: 'Reason', cell: r => el('span.tag', null, r.reason || 'unknown'), key: r => r.reason || ''},
    {title: 'It …', cell: r => [REJECTIONS[r.reason] || '', r.detail && el('span.soft', null, ' (', prose(r.detail), ')')], wide: true},
  ], rows);
}

function arrayPairsTable() {
  const arrays = list(data.arrays && data.arrays.arrays), name = i => clip((at(data.objects, (at(arrays, i) || {}).object) || {}).name || 'unknown', 40);
  const link = i => Number.isInteger((at(arrays, i) || {}).object) ? el('a', {href: '#object/' + arrays[i].object}, name(i)) : name(i);
  const part = p => p && isRange(p.range) ? `${percent(p.range[0])}–${percent(p.range[1])}` : unknown();
  return table('Pairs of arrays', [
    {title: 'Arrays', cell: r => [link(r.a), ', ', link(r.b)], key: r => name(r.a) + name(r.b), text: r => name(r.a) + ' ' + name(r.b)},
    {title: 'Affinity', cell: r => percent(r.affinity), key: r => r.affinity, number: true, hint: 'the part of their use that is in loops with both'},
    {title: 'Class', cell: r => (at(arrays, r.a) || {}).class === (at(arrays, r.b) || {}).class ? 'the same' : 'different', key: r => String((at(arrays, r.a) || {}).class === (at(arrays, r.b) || {}).class), hint: 'location, lifetime and number of elements'},
    {title: 'Parts used', cell: r => [part(r.of_a), ', ', part(r.of_b)], hint: 'of their lengths, in the heaviest loop with both'},
    {title: 'Conflict', cell: r => r.conflict === true ? 'yes' : r.conflict === false ? 'no' : unknown(), key: r => String(r.conflict), hint: 'other parts, or other times'},
    {title: 'Result', cell: r => [el('span.tag', null, r.reason), r.detail && el('span.soft', null, ' ', prose(r.detail))], key: r => r.reason, text: r => r.reason, wide: true},
  ], list(data.arrays && data.arrays.pairs));
}

function viewRegroup(index) {
  const group = at(data.regroups, index);
  if (!group) return missingView('There is no such group of arrays in this result.');
  const finding = list(data.findings).find(f => f.kind === 'regroup' && f.refs && f.refs.regroup === index);
  const line = (data.run.machine && data.run.machine.line_bytes) || 64, names = list(group.names), members = list(group.objects).map(i => at(data.objects, i) || {});
  const share = finding ? finding.share : members.reduce((sum, object) => sum + (object.share || 0), 0);
  return [
    el('p.crumbs', null, el('a', {href: '#findings'}, 'Findings'), ' › group of arrays'),
    el('h1', null, names.slice(0, 6).map(n => clip(n, 40)).join(', ') + (names.length > 6 ? ` and ${names.length - 6} more` : ''), ' ', finding && severity(finding.severity)),
    el('p.lead', null, finding ? prose(brief(finding.title) + '.') : ''),
    tiles([
      ['Predicted gain', gainInTile(group), saved(group.expected_speedup), wholeOf()],
      ['Share of the time', percent(share), null, `${plural(members.reduce((sum, object) => sum + (object.samples || 0), 0), 'sample', 'samples')}, ${engineName()}`],
      changeTile(group),
      ['Confidence', confidence(group.confidence) || 'unknown', 'from the number of samples and their agreement'],
    ]),
    el('section', null, el('h2', null, 'What changes'),
      el('div.panel', null,
        el('h3', null, 'Today ', el('span.soft', null, `${plural(names.length, 'array', 'arrays')}; an index needs a cache line of each`)), drawArrays(group, line),
        el('h3', null, 'Proposed ', el('span.soft', null, 'one array of structures')), drawGrouped(group, line))),
    el('section', null, el('h2', null, 'The new declaration'),
      finding && el('p', null, prose(finding.next_step)),
      el('div.code', null, copyButton(group.declaration || ''), code(group.declaration || '', 'The new declaration')), usageDiff('regroup', group)),
    gainEvidence(group),
    el('section', null, el('h2', null, 'Why: the loops and the arrays they use'), groupLoops(group)),
    el('section', null, el('h2', null, 'Which arrays are used together'), el('p.soft', null, '1 is always by the same loops, 0 is never.'), arrayAffinity(group)),
    el('section', null, el('h2', null, 'The arrays'), table('The arrays', [
      {title: 'Array', cell: r => el('a', {href: '#object/' + r.index}, clip(r.name, 60)), key: r => r.name},
      {title: 'Element', cell: r => isNumber(r.object.element_bytes) ? bytes(r.object.element_bytes) : unknown(), key: r => r.object.element_bytes, number: true},
      {title: 'Elements', cell: r => isNumber(r.object.elements) ? count(r.object.elements) : unknown(), key: r => r.object.elements, number: true},
      {title: 'Share of the time', cell: r => shareBar(r.object.share, r.object.share_ci), key: r => r.object.share, number: true},
      {title: 'Allocated in', cell: r => allocationPlace(r.object) || '', key: r => allocationPlace(r.object) || '', wide: true},
    ], names.map((name, i) => ({name, index: list(group.objects)[i], object: members[i]})))),
    list(group.rejected).length > 0 && el('section', null, el('h2', null, 'Left out, and why'), rejectionsTable(list(group.rejected))),
  ];
}

Object.assign(DRAW, {regroup: viewRegroup});
