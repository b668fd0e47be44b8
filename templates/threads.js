/* What threads do to each other's memory: who reads what whom has stored, and cache lines that go back and forth. */

const FLOWS_SHOWN = 10;
const LANES_MAX = 16;

/* T0, T1, ... in the order of the matrix; which thread that is stands below it. */
const threadName = (thread, index) => thread && isNumber(thread.tid) && isNumber(index) ? `T${index}` : clip((thread && thread.name) || 'unknown', 16);
const threadTitle = thread => `${thread && thread.name ? clip(thread.name, 40) : 'thread'}${thread && isNumber(thread.tid) ? ` ${thread.tid}` : ''}`;
const threadCell = (threads, index) => el('span', {title: threadTitle(threads[index])}, threadName(threads[index], index));
const threadLegend = threads => el('p.soft', null, list(threads).slice(0, 64).map((thread, i) => `${i ? ', ' : ''}${threadName(thread, i)}: ${threadTitle(thread)}`), '.');

/* ---- communication that was sampled ---- */

/* Cells of a region's matrix, row = writer: {from, to, share, ci, samples}. */
function communicationFlows(communication, region) {
  const flows = [];
  list(communication.threads).forEach((_, from) => list(communication.threads).forEach((__, to) => {
    const share = list(list(region.true)[from])[to];
    if (from !== to && isNumber(share)) flows.push({from, to, share, ci: list(list(region.true_ci)[from])[to], samples: list(list(region.samples)[from])[to]});
  }));
  return flows.sort((a, b) => b.share - a.share);
}

function communicationMatrix(communication, region) {
  const sure = (from, to) => list(list(region.true_ci)[from])[to];
  return heatMatrix(list(communication.threads).map(threadName), (from, to) => list(list(region.true)[from])[to], percent, {corner: ['loaded by →', 'stored by ↓'],
    label: 'A row for each thread that stored, a column for each thread that loaded it: share of all that was communicated',
    detail: (from, to) => isRange(sure(from, to)) && list(region.true)[from][to] > 0 && el('span.interval', null, interval(sure(from, to)))});
}

function flowsTable(communication, flows) {
  const threads = list(communication.threads), shown = flows.filter(flow => flow.share > 0).slice(0, FLOWS_SHOWN);
  const full = Math.max(...shown.map(f => isRange(f.ci) ? f.ci[1] : f.share));
  return table('Largest flows between two threads', [
    {title: 'Stored by', cell: f => threadCell(threads, f.from), key: f => f.from},
    {title: 'Loaded by', cell: f => threadCell(threads, f.to), key: f => f.to},
    {title: 'Share', cell: f => shareBar(f.share, f.ci, full), key: f => f.share, number: true},
    {title: '95\u00a0% interval', cell: f => isRange(f.ci) ? interval(f.ci) : unknown(), number: true},
    {title: 'Seen', cell: f => count(f.samples), key: f => f.samples, number: true, hint: 'decided watchpoints: stores followed until the reader loaded them'},
  ], shown);
}

/* ---- shared cache lines ---- */

const byteRange = run => run.bytes === 1 ? `byte ${run.offset}` : `bytes ${run.offset}–${run.offset + run.bytes - 1}`;
const byteRuns = runs => list(runs).filter(run => isNumber(run.offset) && isNumber(run.bytes) && run.bytes > 0);

function siteBoxes(site, index) {
  const stored = byteRuns(site.stored), loaded = byteRuns(site.loaded), name = site.field || (stored.length ? 'stores' : 'loads');
  const within = run => stored.some(s => s.offset <= run.offset && run.offset + run.bytes <= s.offset + s.bytes);
  return [
    ...loaded.filter(run => !within(run)).map(run => ({start: run.offset, bytes: run.bytes, class: 'loaded', name: clip(name, 24), title: `thread ${site.thread} loads ${byteRange(run)}`})),
    ...stored.map(run => ({start: run.offset, bytes: run.bytes, class: 'stored.g' + index % GROUP_COLOURS, name: clip(name, 24), title: `thread ${site.thread} stores ${byteRange(run)}`}))];
}

/* The cache line, a lane for each thread. */
function sharedDrawing(item, line) {
  const sites = list(item.sites).slice(0, LANES_MAX);
  const told = sites.map(site => `thread ${site.thread}` + byteRuns(site.stored).map(run => ` stores ${byteRange(run)}`).join() + byteRuns(site.loaded).map(run => ` loads ${byteRange(run)}`).join());
  return el('div.drawing.lanes', {role: 'img', 'aria-label': `cache line of ${line} bytes: ` + told.join('; ')},
    sites.map((site, index) => lineRow(`thread ${site.thread}`, siteBoxes(site, index).filter(box => box.start + box.bytes <= line), line)), ruler(line));
}

/* The same bytes, each thread's in a line of its own. */
function paddedDrawing(item, line) {
  const sites = list(item.sites).slice(0, LANES_MAX);
  return el('div.drawing.lanes', {role: 'img', 'aria-label': `${sites.length} cache lines, one for each thread`}, sites.map((site, index) => {
    const boxes = siteBoxes(site, index), first = Math.min(...boxes.map(box => box.start)), end = Math.max(0, ...boxes.map(box => box.start + box.bytes - first));
    return lineRow(`thread ${site.thread}`, [...boxes.map(box => ({...box, start: box.start - first})).filter(box => box.start + box.bytes <= line),
      end < line && {start: end, bytes: line - end, class: 'gap', name: '', title: 'padding'}].filter(Boolean), line);
  }), ruler(line));
}

function sharedLine(index) {
  const item = at(data.sharing, index);
  if (!item) return missingView('There is no such shared cache line in this result.');
  const line = item.line_bytes || 64, isFalse = item.kind === 'false', sites = list(item.sites), object = at(data.objects, item.object);
  return [
    el('p.crumbs', null, el('a', {href: '#threads'}, 'Threads'), ' › shared cache line'),
    el('h1', null, clip(item.name || 'unknown data', 60), ' ', el(isFalse ? 'span.severity.high' : 'span.tag', null, isFalse ? 'false sharing' : 'true sharing')),
    el('p.lead', null, isFalse ? `False sharing: ${plural(item.thread_count, 'thread', 'threads')} use different bytes of one cache line.` :
      `True sharing: ${plural(item.thread_count, 'thread', 'threads')} use the same bytes. Another layout does not help; fewer accesses do.`),
    tiles([['Share of the time', percent(item.share), `95\u00a0% interval ${interval(item.share_ci)}`, 'accesses to it while other threads used it'],
      ['Samples', count(item.samples), engineName()],
      ['Offset of the line', isNumber(item.line_offset) ? (item.line_offset < 0 ? `${-item.line_offset} B before` : `+${item.line_offset} B`) : 'unknown', item.line_offset < 0 ? 'the line starts before the data object' : 'from the start of the data object', object && el('a', {href: '#object/' + item.object}, 'all about it')],
      ['Cache lines', count(item.lines), 'of this data object, shared in this way']]),
    item.advice && el('section', null, el('h2', null, 'What to do'), el('p', null, prose(item.advice)),
      item.declaration && [el('h3', null, 'The padded declaration'), el('div.code', null, copyButton(item.declaration), code(item.declaration, 'The padded declaration'))]),
    el('section', null, el('h2', null, 'The cache line'), el('div.panel', null,
      el('h3', null, 'Today ', el('span.soft', null, `one line of ${line} bytes, a row for each thread`)), sharedDrawing(item, line),
      isFalse && [el('h3', null, 'Padded ', el('span.soft', null, `a line for each thread`)), paddedDrawing(item, line)],
      el('p.legend', null, 'Filled: bytes stored. Outlined: only loaded. Hatched: padding.', sites.length > LANES_MAX && ` ${sites.length - LANES_MAX} more threads are not drawn.`))),
    el('section', null, el('h2', null, 'Who uses which bytes'), table('Who uses which bytes of the line', [
      {title: 'Thread', cell: r => String(r.thread), key: r => r.thread, text: r => r.thread},
      {title: 'Field', cell: r => r.field ? clip(r.field, 40) : unknown(), key: r => r.field || '', text: r => r.field || ''},
      {title: `Bytes of the ${line}`, cell: r => [...byteRuns(r.stored).map(b => `stores ${b.offset}–${b.offset + b.bytes - 1}`), ...byteRuns(r.loaded).map(b => `loads ${b.offset}–${b.offset + b.bytes - 1}`)].join(', '), key: r => (list(r.stored)[0] || list(r.loaded)[0] || {}).offset},
      {title: 'In', cell: r => framePlace(ownFrame(r.context)), key: r => ownFrame(r.context) ? frameName(ownFrame(r.context)) : '', text: r => ownFrame(r.context) ? frameName(ownFrame(r.context)) : ''},
      {title: 'Samples', cell: r => count(r.samples), key: r => r.samples, number: true},
    ], sites)),
    el('div.sides', null, sites.slice(0, 2).map((site, i) => {
      const frame = ownFrame(site.context);
      return frame && el('section.panel.side', null, el('h3', null, accessMark(i + 1), `Thread ${site.thread}`), el('p.side-place', null, framePlace(frame)), accessSource(frame, [{line: frame.line, which: i + 1}]));
    })),
  ];
}

function sharingSection() {
  if (data.sharing === null || data.sharing === undefined) return el('section', null, el('h2', null, 'Shared cache lines'), notMeasured('Cache lines that go back and forth between threads', '--detect sharing'));
  const rows = list(data.sharing).map((item, index) => ({item, index}));
  return el('section', null, el('h2', null, 'Shared cache lines'), rows.length ? table('Shared cache lines', [
    {title: 'Data', cell: r => el('a', {href: '#sharing/' + r.index}, clip(r.item.name || 'unknown data', 60)), key: r => r.item.name || '', text: r => r.item.name || ''},
    {title: 'Kind', cell: r => el(r.item.kind === 'false' ? 'span.severity.high' : 'span.tag', null, r.item.kind === 'false' ? 'false sharing' : 'true sharing'), key: r => r.item.kind || ''},
    {title: 'Share of the time', cell: r => shareBar(r.item.share, r.item.share_ci), key: r => r.item.share, number: true},
    {title: '95\u00a0% interval', cell: r => interval(r.item.share_ci) || unknown(), number: true},
    {title: 'Samples', cell: r => count(r.item.samples), key: r => r.item.samples, number: true},
    {title: 'Threads', cell: r => count(r.item.thread_count), key: r => r.item.thread_count, number: true},
    {title: 'Fields', cell: r => [...new Set(list(r.item.fields).filter(Boolean))].slice(0, 6).map(f => clip(f, 30)).join(', '), text: r => list(r.item.fields).join(' '), wide: true},
  ], rows) : nothingFound('No cache line was seen to go back and forth between threads.'));
}

function viewThreads() {
  const communication = data.communication;
  if (communication && communication.unit === 'count') return [...viewExchange(communication), sharingSection()];
  const head = el('h1', null, 'Threads');
  if (!communication) return [head, notMeasured('Who reads what another thread stored', '-e exact --detect communication'), sharingSection()];
  const threads = list(communication.threads), region = list(communication.regions)[0] || {}, flows = communicationFlows(communication, region);
  if (nothingSampled()) return [head, notMeasured('Who reads what another thread stored, and which cache lines they share', '-F 10000 --max-overhead 50 --detect sharing,communication')];
  if (threads.length < 2 && !list(data.sharing).length) return [head, nothingFound('One thread was seen: nothing to share.')];
  return [
    head,
    el('p.lead', null, `Communication between threads: a load of what another thread stored. Shares of all communication, estimated from ${count(communication.decided)} decided watchpoints.`,
      communication.others > 0 && ` The last entry stands for ${plural(communication.others, 'more thread', 'more threads')}.`),
    list(data.sharing).length > 0 && sharingSection(),
    threads.length > 1 && el('section', null, el('h2', null, 'Communication'),
      flows.length && flows[0].share > 0 ? [list(region.advice).map(text => el('p.note', null, prose(text))), communicationMatrix(communication, region), threadLegend(threads), el('h3', null, 'Largest flows between two threads'), flowsTable(communication, flows)] :
        (communication.decided >= FEW_DECIDED ? nothingFound : nothingYet)(`No thread was seen to load what another one had stored: ${count(communication.decided)} of ${plural(communication.watched, 'watchpoint', 'watchpoints')} on stores decided.`)),
    !list(data.sharing).length && sharingSection(),
  ];
}

Object.assign(DRAW, {threads: viewThreads, sharing: sharedLine});
