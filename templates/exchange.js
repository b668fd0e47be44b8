/* Communication between threads that was counted: for each code region a matrix of what is read for the first time, one of
 * what is read again and one of their ratio, and a histogram of the distances between two reads. */

const REGIONS_OPEN = 3;
const EXCHANGE_KINDS = {program: 'all but the runtime\'s own', runtime: 'runtime', function: 'function', parallel: 'OpenMP parallel region', loop: 'loop'};

const shortCount = n => !isNumber(n) ? 'unknown' : n >= 1e9 ? (n / 1e9).toPrecision(3) + 'G' : n >= 1e6 ? (n / 1e6).toPrecision(3) + 'M' : n >= 1e4 ? (n / 1e3).toPrecision(3) + 'k' : Number.isInteger(n) ? count(n) : n.toPrecision(3);

function exchangeMatrix(communication, cells, caption) {
  const threads = list(communication.threads), small = threads.length > MATRIX_NUMBERS_MAX;
  const most = Math.max(0, ...list(cells).map(row => Math.max(0, ...list(row).filter(isNumber))));
  const cell = (from, to) => {
    if (from === to) return el('td.self', null, '·');
    const value = list(list(cells)[from])[to];
    if (!isNumber(value)) return el('td', null, '–');
    const shown = shortCount(value);
    return el(`td.h${heatStep(value, most)}`, {title: `${threadName(threads[from])} → ${threadName(threads[to])}: ${shown}`}, small ? el('span.aside', null, shown) : shown);
  };
  return el('div.panel', null, el('h4', null, caption),
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': caption},
      el(small ? 'table.matrix.heat.small' : 'table.matrix.heat', null,
        el('thead', null, el('tr', null, el('td.corner', null, 'written by ↓  read by →'), threads.map(t => el('th', {scope: 'col'}, el('span', null, threadName(t)))))),
        el('tbody', null, threads.map((t, from) => el('tr', null, el('th', {scope: 'row'}, threadName(t)), threads.map((_, to) => cell(from, to))))))),
    most > 0 && el('p.heat-legend', {'aria-hidden': 'true'}, '0', [0, 1, 2, 3, 4, 5].map(step => el(`span.swatch.h${step}`)), shortCount(most)));
}

/* Buckets by powers of two, a bar each. */
function distanceHistogram(crd) {
  const bars = [];
  list(crd.buckets).forEach(bucket => {
    const up = bucket.up_to === 0 ? 0 : Math.pow(2, Math.floor(Math.log2(bucket.up_to)) + 1) - 1;
    const last = bars[bars.length - 1];
    if (last && last.up_to === up) last.count += bucket.count; else bars.push({up_to: up, count: bucket.count});
  });
  const most = Math.max(...bars.map(bar => bar.count)), above = bar => isNumber(crd.max_cutoff) && bar.up_to > crd.max_cutoff ? 'above the maximum cutoff' : isNumber(crd.min_cutoff) && bar.up_to > crd.min_cutoff ? 'above the minimum cutoff' : '';
  return el('div.panel', null, el('h4', null, 'Communication reuse distance'),
    el('div.scroll', {tabindex: '0', role: 'region', 'aria-label': 'Histogram of distances'}, el('table', null,
      el('thead', null, el('tr', null, el('th.number', {scope: 'col'}, 'up to'), el('th.number', {scope: 'col'}, 'reads'), el('th.wide', {scope: 'col'}, ''), el('th', {scope: 'col'}, ''))),
      el('tbody', null, bars.map(bar => el('tr', null, el('td.number', null, count(bar.up_to)), el('td.number', null, count(bar.count)),
        el('td.wide', null, el('div', {'aria-hidden': 'true', style: {width: `${Math.max(1, 100 * bar.count / most)}%`, background: 'var(--h4)', height: '.8rem'}})), el('td.aside', null, above(bar))))))),
    el('p.legend', null, `Other elements that a thread read of the same writer between two reads of one: median ${count(crd.median)}, 90 % up to ${count(crd.p90)}. ` +
      (isNumber(crd.max_cutoff) ? `The caches hold ${count(crd.max_cutoff)} such elements (maximum cutoff), beside data of one thread each ${count(crd.min_cutoff)} (minimum cutoff).` : 'The caches\' sizes are not known.')));
}

function exchangeRegion(communication, region, index) {
  return el('details.region', {open: index < REGIONS_OPEN, id: `region-${index}`},
    el('summary', null, el('strong', null, clip(region.name || 'unknown', 80)), ' ', el('span.tag', null, EXCHANGE_KINDS[region.kind] || 'region'),
      ` ${count(region.communicated)} words communicated, read again ${count(region.reused)} times`),
    list(region.advice).map(advice => el('p.advice', null, prose(advice))),
    region.pattern && el('p', null, 'Pattern: ', el('strong', null, clip(region.pattern, 40))),
    region.pieces && el('p', null, `What is read for the first time lies in pieces of ${shortCount(region.pieces.bytes / region.pieces.count)} bytes (${shortCount(region.pieces.lines / region.pieces.count)} lines) on average.`),
    isNumber(region.homogeneity) && el('p', null, `Homogeneity ${shortCount(region.homogeneity)}, balance ${shortCount(region.balance_percent)} %: lower is more even.`),
    el('div', {style: {display: 'flex', 'flex-wrap': 'wrap', gap: '1rem'}}, exchangeMatrix(communication, region.true, 'True communication: read for the first time since it was written'),
      exchangeMatrix(communication, region.reuse, 'Reuse: read again'), exchangeMatrix(communication, region.crr, 'Reuse ratio')),
    region.crd && distanceHistogram(region.crd));
}

function viewExchange(communication) {
  const threads = list(communication.threads), regions = list(communication.regions);
  if (threads.length < 2) return [el('h1', null, 'Threads'), el('p.lead', null, 'One thread ran: nobody to communicate with.')];
  return [
    el('h1', null, 'Threads'),
    el('p.lead', null, `Who reads what another thread wrote, ${communication.scaled ? 'estimated from part of memory' : 'every single time'}; memory is told apart by ${plural(communication.granularity_bytes, 'byte', 'bytes')}.`),
    ...regions.map((region, index) => exchangeRegion(communication, region, index)),
  ];
}
