/* What threads do to each other's memory: who reads what whom has stored, and cache lines that go back and forth. */

const FLOWS_SHOWN = 10;
const MATRIX_NUMBERS_MAX = 12; /* threads; with more, cells have no room for a number */

const threadName = thread => thread && isNumber(thread.tid) ? (thread.name ? `${clip(thread.name, 16)} ` : '') + thread.tid : clip((thread && thread.name) || 'unknown', 16);

/* Cells of a region's matrix, row = writer: {from, to, share, ci, samples}. */
function communicationFlows(communication, region) {
  const flows = [];
  list(communication.threads).forEach((_, from) => list(communication.threads).forEach((__, to) => {
    const share = list(list(region.true)[from])[to];
    if (from !== to && isNumber(share)) flows.push({from, to, share, ci: list(list(region.true_ci)[from])[to], samples: list(list(region.samples)[from])[to]});
  }));
  return flows.sort((a, b) => b.share - a.share);
}

function heatLegend(most) {
  return el('p.heat-legend', {'aria-hidden': 'true'}, '0', [0, 1, 2, 3, 4, 5].map(step => el(`span.swatch.h${step}`)), percent(most));
}

function communicationMatrix(communication, region, flows) {
  const threads = list(communication.threads), most = flows.length ? flows[0].share : 0, small = threads.length > MATRIX_NUMBERS_MAX;
  const cells = new Map(flows.map(flow => [flow.from * threads.length + flow.to, flow]));
  const cell = (from, to) => {
    if (from === to) return el('td.self', null, '·');
    const flow = cells.get(from * threads.length + to);
    if (!flow) return el('td', null, '–');
    const sure = isRange(flow.ci) && flow.share > 0 ? interval(flow.ci) : null;
    return el(`td.h${heatStep(flow.share, most)}`, {title: `${threadName(threads[from])} → ${threadName(threads[to])}: ${percent(flow.share)}` + (sure ? `, 95 % interval ${sure}` : '')},
      small ? el('span.aside', null, percent(flow.share)) : flow.share === 0 ? '0' : percent(flow.share), !small && sure && el('span.interval', null, sure));
  };
  return el('div.panel', null,
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': 'Communication between threads'},
      el(small ? 'table.matrix.heat.small' : 'table.matrix.heat', null,
        el('caption.aside', null, 'A row for each thread that stored, a column for each thread that loaded it: share of all that was communicated'),
        el('thead', null, el('tr', null, el('td.corner', null, 'stored by ↓  loaded by →'), threads.map(t => el('th', {scope: 'col'}, el('span', null, threadName(t)))))),
        el('tbody', null, threads.map((t, from) => el('tr', null, el('th', {scope: 'row'}, threadName(t)), threads.map((_, to) => cell(from, to))))))),
    most > 0 && heatLegend(most));
}

function flowsTable(communication, flows) {
  const threads = list(communication.threads), shown = flows.filter(flow => flow.share > 0).slice(0, FLOWS_SHOWN);
  const full = Math.max(...shown.map(f => isRange(f.ci) ? f.ci[1] : f.share));
  return table('Largest flows', [
    {title: 'Stored by', cell: f => threadName(threads[f.from]), key: f => threadName(threads[f.from])},
    {title: 'Loaded by', cell: f => threadName(threads[f.to]), key: f => threadName(threads[f.to])},
    {title: 'Share', cell: f => shareBar(f.share, f.ci, full), key: f => f.share, number: true},
    {title: '95 % interval', cell: f => isRange(f.ci) ? interval(f.ci) : unknown(), number: true},
    {title: 'Seen', cell: f => count(f.samples), key: f => f.samples, number: true, hint: 'stores that were watched until the reader loaded them'},
  ], shown);
}

const byteRange = run => run.bytes === 1 ? `byte ${run.offset}` : `bytes ${run.offset}–${run.offset + run.bytes - 1}`;
const byteRuns = runs => list(runs).filter(run => isNumber(run.offset) && isNumber(run.bytes) && run.bytes > 0);

/* The cache line, a lane for each thread. */
function sharedDrawing(item, line) {
  const sites = list(item.sites), told = [];
  const lanes = sites.slice(0, 16).map((site, index) => {
    const stored = byteRuns(site.stored), loaded = byteRuns(site.loaded), name = site.field || (stored.length ? 'stores' : 'loads');
    told.push(`thread ${site.thread}` + (stored.length ? ` stores ${stored.map(byteRange).join(', ')}` : '') + (loaded.length ? ` loads ${loaded.map(byteRange).join(', ')}` : ''));
    const within = run => stored.some(s => s.offset <= run.offset && run.offset + run.bytes <= s.offset + s.bytes);
    const boxes = [
      ...loaded.filter(run => !within(run)).map(run => ({start: run.offset, bytes: run.bytes, class: 'loaded', name: clip(name, 24), title: `thread ${site.thread} loads ${byteRange(run)}`})),
      ...stored.map(run => ({start: run.offset, bytes: run.bytes, class: 'stored.g' + index % GROUP_COLOURS, name: clip(name, 24), title: `thread ${site.thread} stores ${byteRange(run)}`}))];
    return lineRow(String(site.thread), boxes.filter(box => box.start + box.bytes <= line), line);
  });
  return el('div.drawing.lanes', {role: 'img', 'aria-label': `cache line of ${line} bytes: ` + told.join('; ')}, lanes, ruler(line));
}

function sharedLine(item) {
  const line = item.line_bytes || 64, isFalse = item.kind === 'false';
  return el('section', null,
    el('h2', null, clip(item.name || 'unknown data', 60), ' ', el(isFalse ? 'span.severity.high' : 'span.tag', null, isFalse ? 'false sharing' : 'true sharing')),
    el('p', null, `${percent(item.share)} of the time, 95 % interval ${interval(item.share_ci)}, ${plural(item.samples, 'sample', 'samples')}` +
      (isNumber(item.line_offset) ? `; the line begins at +${item.line_offset}` : '') + (item.lines > 1 ? `; ${count(item.lines)} lines alike` : '')),
    el('div.panel', null, sharedDrawing(item, line), el('p.legend', null, 'A row for each thread: filled bytes are stored, outlined ones only loaded.')),
    table('Who uses which bytes of the line', [
      {title: 'Thread', cell: r => String(r.thread), key: r => r.thread},
      {title: 'Field', cell: r => r.field ? clip(r.field, 40) : unknown(), key: r => r.field || '', text: r => r.field || ''},
      {title: `Bytes of the ${line}`, cell: r => [...byteRuns(r.stored).map(b => `stores ${b.offset}–${b.offset + b.bytes - 1}`), ...byteRuns(r.loaded).map(b => `loads ${b.offset}–${b.offset + b.bytes - 1}`)].join(', '), key: r => (list(r.stored)[0] || list(r.loaded)[0] || {}).offset},
      {title: 'In', cell: r => framePlace(ownFrame(r.context)), key: r => ownFrame(r.context) ? frameName(ownFrame(r.context)) : ''},
      {title: 'Samples', cell: r => count(r.samples), key: r => r.samples, number: true},
    ], list(item.sites)),
    list(item.sites).slice(0, 2).filter(site => ownFrame(site.context)).length > 0 && el('div.sides', null, list(item.sites).slice(0, 2).map((site, i) => {
      const frame = ownFrame(site.context);
      return el('section.panel.side', null, el('h3', null, accessMark(i + 1), `Thread ${site.thread}`), el('p.side-place', null, framePlace(frame)), frame && accessSource(frame, [{line: frame.line, which: i + 1}]));
    })),
    item.advice && [el('h3', null, 'What to do'), el('p', null, prose(item.advice))]);
}

function viewThreads() {
  const communication = data.communication;
  if (!communication) return [el('h1', null, 'Threads'), el('p.lead', null, 'Not measured in this run; the notes of the run say why.')];
  if (communication.unit === 'count') return viewExchange(communication);
  const threads = list(communication.threads), region = list(communication.regions)[0] || {}, flows = communicationFlows(communication, region), shared = list(data.sharing);
  if (threads.length < 2 && !shared.length) return [el('h1', null, 'Threads'), el('p.lead', null, 'One thread was seen: nothing to share.')];
  return [
    el('h1', null, 'Threads'),
    el('p.lead', null, `Who loads what another thread stored: shares of all that was communicated, scaled from ${count(communication.decided)} stores that were watched to their end.`),
    threads.length > 1 && el('section', null, el('h2', null, 'Communication'),
      flows.length && flows[0].share > 0 ? [communicationMatrix(communication, region, flows), el('h3', null, 'Largest flows'), flowsTable(communication, flows)] :
        el('p.soft', null, 'No thread was seen to load what another one had stored.')),
    ...shared.map(sharedLine),
    threads.length > 1 && !shared.length && el('section', null, el('h2', null, 'Shared cache lines'), el('p.soft', null, 'No cache line was seen to go back and forth between threads.')),
  ];
}
