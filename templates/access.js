/* What becomes of single accesses: redundant pairs with both call paths, and what threads do to each other's memory. */

const REDUNDANT = {
  dead_store: ['Dead stores', 'overwritten before anything read them', 'stores', 'Stored in', 'Overwritten in'],
  silent_store: ['Silent stores', 'left the value as it was', 'stores', 'Stored in', 'Stored again in'],
  silent_load: ['Silent loads', 'loaded again what had not changed', 'loads', 'Loaded in', 'Loaded again in'],
};
const FRAMES_MAX = 24;

const redundantKind = pair => REDUNDANT[pair.kind] || [pair.kind || 'unknown', '', 'accesses', 'First', 'Second'];
const framesOf = context => list((at(data.contexts, context) || {}).frames);

function framePlace(frame) {
  if (!frame) return unknown('unknown place');
  return [el('strong', null, clip(frame.function || 'unknown function', 80)),
    el('span.where', {title: frame.file || ''}, frame.file ? ` ${baseName(frame.file)}${isNumber(frame.line) ? ':' + frame.line : ''}` : ' no line information')];
}

/* The innermost frame that has a source line: the C library's own seldom says much. */
function ownFrame(context) {
  const frames = framesOf(context);
  return frames.find(frame => frame.file && isNumber(frame.line) && list(page.sources && page.sources.files).some(file => file.path === frame.file && !file.missing)) || frames[0];
}

function accessPath(title, context) {
  const frames = framesOf(context);
  return el('div.panel', null, el('h3', null, title),
    frames.length ? el('ol.path', null, frames.slice(0, FRAMES_MAX).map(frame => el('li', null, framePlace(frame), frame.inlined && el('span.soft', null, ' inlined')))) : el('p.soft', null, 'The call path is unknown.'),
    frames.length > FRAMES_MAX && el('p.soft', null, `and ${frames.length - FRAMES_MAX} more`));
}

function frameSource(context) {
  const frame = ownFrame(context);
  return sourceOf(frame && {file: frame.file, first_line: frame.line, last_line: frame.line});
}

function pairsTable(kind) {
  const [title, , what, first, second] = REDUNDANT[kind];
  const rows = list(data.redundancies).map((pair, index) => ({pair, index})).filter(row => row.pair.kind === kind);
  if (!rows.length) return null;
  return el('section', null, el('h2', null, title), table(title, [
    {title: `Share of all ${what}`, cell: r => el('a', {href: '#redundancy/' + r.index}, shareBar(r.pair.share, r.pair.share_ci)), key: r => r.pair.share, number: true},
    {title: first, cell: r => framePlace(ownFrame(r.pair.first)), key: r => (ownFrame(r.pair.first) || {}).function || '', text: r => (ownFrame(r.pair.first) || {}).function || ''},
    {title: second, cell: r => framePlace(ownFrame(r.pair.second)), key: r => (ownFrame(r.pair.second) || {}).function || '', text: r => (ownFrame(r.pair.second) || {}).function || ''},
    {title: 'Data', cell: r => at(data.objects, r.pair.object) ? el('a', {href: '#object/' + r.pair.object}, clip(objectName(at(data.objects, r.pair.object)), 50)) : unknown('unknown or small'), key: r => r.pair.share},
    {title: 'Pairs seen', cell: r => count(r.pair.samples), key: r => r.pair.samples, number: true},
  ], rows));
}

function viewRedundancies() {
  const totals = data.redundancy_totals;
  if (!totals) return [el('h1', null, 'Redundant accesses'), el('p.lead', null, 'Not measured in this run; the notes of the run say why.')];
  return [
    el('h1', null, 'Redundant accesses'),
    el('p.lead', null, 'Sampled stores and loads that were watched until the next access to the same bytes.'),
    tiles(Object.keys(REDUNDANT).map(kind => {
      const total = totals[kind], [title, what] = REDUNDANT[kind];
      return total ? [title, percent(total.share), `95 % interval ${interval(total.share_ci)}`, `${what}; ${count(total.decided)} of ${count(total.candidates)} watched`] : [title, 'unknown', 'none was decided', what];
    })),
    ...Object.keys(REDUNDANT).map(pairsTable),
  ];
}

function viewRedundancy(index) {
  const pair = at(data.redundancies, index);
  if (!pair) return missingView('There is no such pair in this result.');
  const [title, what, of, first, second] = redundantKind(pair), object = at(data.objects, pair.object);
  return [
    el('p.crumbs', null, el('a', {href: '#redundancies'}, 'Redundant accesses'), ' › ' + title.toLowerCase()),
    el('h1', null, title + ' in ', clip((ownFrame(pair.second) || {}).function || 'unknown code', 60)),
    el('p.lead', null, prose(pair.meaning)),
    tiles([
      [`Share of all ${of}`, percent(pair.share), `95 % interval ${interval(pair.share_ci)}`, what],
      ['Pairs seen', count(pair.samples), `${data.run.engine || 'unknown'} engine`],
      ['Data', object ? clip(objectName(object), 40) : 'unknown', isNumber(pair.bytes) ? `${bytes(pair.bytes)} at a time` : null],
      pair.kind !== 'dead_store' && ['Values', pair.approximate > 0 ? `${percent(pair.approximate)} only about equal` : 'equal', pair.approximate > 0 ? 'numbers within 1 %' : null],
    ].filter(Boolean)),
    el('section', null, el('h2', null, 'What to do'), el('p', null, prose(pair.remedy)), object && el('p', null, el('a', {href: '#object/' + pair.object}, 'All about the data'))),
    el('section', null, el('h2', null, 'The two accesses'), el('div.sides', null, accessPath(first, pair.first), accessPath(second, pair.second))),
    el('section', null, el('h2', null, first), frameSource(pair.first)),
    el('section', null, el('h2', null, second), frameSource(pair.second)),
  ];
}

/* ---- threads ---- */

const threadName = thread => thread && isNumber(thread.tid) ? (thread.name ? `${clip(thread.name, 16)} ` : '') + thread.tid : clip((thread && thread.name) || 'unknown', 16);

function communicationMatrix(communication) {
  const threads = list(communication.threads), region = list(communication.regions)[0] || {}, rows = list(region.true);
  const most = Math.max(...rows.flat().filter(isNumber), 1e-9);
  if (threads.length < 2) return el('p.soft', null, 'One thread: nothing to share.');
  return el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': 'Communication'}, el('table.matrix', null, el('caption.aside', null, 'Communication'),
    el('thead', null, el('tr', null, el('th', null, 'writer \\ reader'), threads.map(t => el('th', {scope: 'col'}, threadName(t))))),
    el('tbody', null, threads.map((t, i) => el('tr', null, el('th', {scope: 'row'}, threadName(t)), threads.map((u, k) => {
      const value = list(rows[i])[k], between = list(list(region.true_ci)[i])[k];
      return i === k ? el('td.self', null, '·') : !isNumber(value) ? el('td', null, '–') :
        el(`td.h${heatStep(value, most)}`, {title: isRange(between) ? `95 % interval ${interval(between)}` : ''}, value === 0 ? '0' : percent(value));
    }))))));
}

function sharedLine(item) {
  const line = item.line_bytes || 64;
  return el('section', null,
    el('h2', null, clip(item.name || 'unknown data', 60), ' ', el('span.tag', null, item.kind === 'false' ? 'false sharing' : 'true sharing')),
    el('p', null, `${percent(item.share)} of the time, 95 % interval ${interval(item.share_ci)}, ${plural(item.samples, 'sample', 'samples')}` +
      (isNumber(item.line_offset) ? `; the line begins at +${item.line_offset}` : '') + (item.lines > 1 ? `; ${count(item.lines)} lines alike` : '')),
    table('Who uses which bytes of the line', [
      {title: 'Thread', cell: r => String(r.thread), key: r => r.thread},
      {title: 'Field', cell: r => r.field ? clip(r.field, 40) : unknown(), key: r => r.field || '', text: r => r.field || ''},
      {title: `Bytes of the ${line}`, cell: r => [...list(r.stored).map(b => `stores ${b.offset}–${b.offset + b.bytes - 1}`), ...list(r.loaded).map(b => `loads ${b.offset}–${b.offset + b.bytes - 1}`)].join(', '), key: r => (list(r.stored)[0] || list(r.loaded)[0] || {}).offset},
      {title: 'In', cell: r => framePlace(ownFrame(r.context)), key: r => (ownFrame(r.context) || {}).function || '', wide: true},
      {title: 'Samples', cell: r => count(r.samples), key: r => r.samples, number: true},
    ], list(item.sites)),
    item.advice && el('p', null, prose(item.advice)));
}

function viewThreads() {
  const communication = data.communication;
  if (!communication) return [el('h1', null, 'Threads'), el('p.lead', null, 'Not measured in this run; the notes of the run say why.')];
  return [
    el('h1', null, 'Threads'),
    el('p.lead', null, list(communication.threads).length < 2 ? 'One thread was seen.' :
      `Who loads what another thread stored: shares of all that was communicated, scaled from ${count(communication.decided)} stores that were watched to their end.`),
    el('section', null, el('h2', null, 'Communication'), communicationMatrix(communication)),
    ...list(data.sharing).map(sharedLine),
    communication && list(communication.threads).length > 1 && !list(data.sharing).length && el('p.soft', null, 'No cache line was seen to go back and forth between threads.'),
  ];
}
