/* Communication between threads that was counted: for each code region a matrix of what is read for the first time, one of
 * what is read again and one of their ratio, and a histogram of the distances between two reads. */

const EXCHANGE_KINDS = {program: 'whole program, but for the runtime\u2019s own', runtime: 'runtime', function: 'function', parallel: 'OpenMP parallel region', loop: 'loop'};
const FLOWS_MAX = 25;

const regionLink = index => el('a', {href: '#region/' + index}, clip((at(list(data.communication && data.communication.regions), index) || {}).name || 'unknown', 80));

/* Reuse for each true communication, 0 where there was none. */
const reuseRatios = region => Array.isArray(region.crr) || !Array.isArray(region.reuse) ? region.crr :
  region.reuse.map((row, from) => list(row).map((again, to) => list(region.true[from])[to] > 0 ? again / region.true[from][to] : 0));

function exchangeMatrices(communication, region) {
  if (region.left_out) return leftOut('regions');
  const names = list(communication.threads).map(threadName);
  const matrix = (cells, caption) => Array.isArray(cells) && heatMatrix(names, (from, to) => list(cells[from])[to], shortCount, {caption, label: caption, corner: ['read by →', 'written by ↓']});
  return el(names.length > CELLS_WITH_NUMBERS ? 'div.matrices.large' : 'div.matrices', {style: {'--threads': String(names.length)}}, matrix(region.true, 'Read for the first time since it was written (true communication)'),
    matrix(region.reuse, 'Read again (reuse)'), matrix(reuseRatios(region), 'Times each is read again (reuse ratio, CRR)'));
}

function exchangeFlows(communication, region) {
  const threads = list(communication.threads), flows = [];
  threads.forEach((_, from) => threads.forEach((__, to) => {
    const first = list(list(region.true)[from])[to], again = list(list(region.reuse)[from])[to];
    if (from !== to && (first > 0 || again > 0)) flows.push({from, to, first, again});
  }));
  flows.sort((a, b) => b.first - a.first || b.again - a.again);
  const all = flows.reduce((sum, flow) => sum + (flow.first || 0), 0) || 1, shown = flows.slice(0, FLOWS_MAX);
  if (!flows.length) return el('p.soft', null, 'No thread read what another one had written here.');
  return [table('Flows', [
    {title: 'Written by', cell: f => threadCell(threads, f.from), key: f => f.from, text: f => `${threadName(threads[f.from], f.from)} ${threadTitle(threads[f.from])}`},
    {title: 'Read by', cell: f => threadCell(threads, f.to), key: f => f.to, text: f => `${threadName(threads[f.to], f.to)} ${threadTitle(threads[f.to])}`},
    {title: 'Part of the region', cell: f => shareBar(f.first / all, null, shown[0].first / all), key: f => f.first, number: true},
    {title: 'First reads', cell: f => count(f.first), key: f => f.first, number: true},
    {title: 'Read again', cell: f => isNumber(f.again) ? count(f.again) : unknown(), key: f => f.again, number: true},
  ], shown), flows.length > shown.length && el('p.soft', null, `The ${count(FLOWS_MAX)} largest of ${count(flows.length)}.`)];
}

/* [{name, words}] of the caches of a core, the smallest first; the last one for all cores together, as the cutoffs are. */
function cacheWords(crd) {
  const own = list(data.run.machine && data.run.machine.caches).filter(c => c.bytes > 0 && c.level < 3).sort((a, b) => a.level - b.level).map(c => ({name: `L${c.level} cache`, words: c.bytes / (crd.element_bytes || 8)}));
  return isNumber(crd.max_cutoff) ? [...own, {name: 'last-level cache', words: crd.max_cutoff}] : own;
}

const shareBeyond = (crd, words) => { const all = list(crd.buckets).reduce((sum, b) => sum + b.count, 0); return all ? list(crd.buckets).filter(b => b.up_to > words).reduce((sum, b) => sum + b.count, 0) / all : 0; };

/* One sentence: the largest cache that much of it misses, by name. */
function distanceVerdict(crd) {
  const levels = cacheWords(crd).map(level => ({...level, share: shareBeyond(crd, level.words)})), missed = levels.filter(level => level.share >= MISSED_MUCH).pop();
  if (!levels.length) return 'The cache sizes are unknown, so it is unknown which cache holds the data long enough.';
  if (!missed) return `${percent(1 - levels[0].share)} of these reads come soon enough for the ${levels[0].name}, which holds ${count(Math.round(levels[0].words))} words: nothing to do.`;
  const next = levels[levels.indexOf(missed) + 1];
  return `${percent(missed.share)} of these reads come too late for the ${missed.name}, which holds ${count(Math.round(missed.words))} words${next ? `; the ${next.name} holds ${percent(1 - next.share)} of them` : ''}.`;
}

const MISSED_MUCH = 0.05;

function distanceChart(region) {
  const crd = region.crd;
  if (!crd) return null;
  return el('section', null, el('h2', null, 'Communication reuse distance'), el('p', null, distanceVerdict(crd)),
    el('div.panel', null, powersChart('Reads by communication reuse distance', crd.buckets, {of: 'reads', unit: `other words of ${crd.element_bytes ? crd.element_bytes.toFixed(0) : 'unknown'} bytes between two reads, powers of two`,
      marks: [{at: crd.min_cutoff, text: 'minimum cutoff'}, {at: crd.max_cutoff, text: 'maximum cutoff'}]})),
    fold('Details: distances, cutoffs, homogeneity', () => facts([
      ['Half of the reads', `up to ${count(crd.median)} words of the same writer in between`], ['90\u00a0% of the reads', `up to ${count(crd.p90)} words`],
      ['Maximum cutoff', isNumber(crd.max_cutoff) ? [`${count(crd.max_cutoff)} words: the size of the last-level cache; `, isNumber(crd.above_max) ? `${percent(crd.above_max)} of the reads are beyond it` : ''] : unknown('cache sizes unknown')],
      ['Minimum cutoff', isNumber(crd.min_cutoff) ? [`${count(crd.min_cutoff)} words: what is left of it beside each thread\u2019s own data; `, isNumber(crd.above_min) ? `${percent(crd.above_min)} of the reads are beyond it` : ''] : unknown('cache sizes unknown')],
      ['Homogeneity', isNumber(region.homogeneity) ? `${shortCount(region.homogeneity)}; 0: the same for all readers` : unknown()],
    ], 'dl.list')));
}

function regionTiles(region) {
  return tiles([
    ['Communication', shortCount(region.communicated), 'words read for the first time after another thread wrote them'],
    ['Read again', shortCount(region.reused), region.communicated > 0 && isNumber(region.reused) ? `${shortCount(region.reused / region.communicated)} times each` : null],
    ['Pattern', region.pattern || 'none known', 'shape of the matrix'],
    ['Balance', isNumber(region.balance_percent) ? `${shortCount(region.balance_percent)}\u00a0%` : 'unknown', 'the top thread above the mean; 0 is balanced'],
  ]);
}

const regionTips = region => list(region.advice).map(text => el('p.note', null, prose(text)));

/* Which threads share a cache: as they start, and as they should. */
function placementDrawing(communication, placement) {
  const threads = list(communication.threads), proposed = list(placement && placement.groups).map(list);
  if (!proposed.length) return null;
  const side = Math.max(...proposed.map(group => group.length), 1), inOrder = [];
  threads.forEach((_, i) => { if (i % side) inOrder[inOrder.length - 1].push(i); else inOrder.push([i]); });
  /* a thread keeps the colour of the group that it belongs to, so that what moves is seen */
  const home = new Map(proposed.flatMap((group, g) => group.map(i => [i, g])));
  const processors = list(placement.processors), cache = isNumber(placement.level) ? `the level ${placement.level} cache` : 'a cache';
  const caches = (groups, what) => el('div.caches', {role: 'img', 'aria-label': `${what}: ${groups.map(group => group.map(i => threadName(threads[i], i)).join(' with ')).join('; ')}`},
    groups.map(group => el('div.cache', null, group.map(i => el(`span.thread.g${home.get(i) % GROUP_COLOURS}`, {title: threadTitle(threads[i])}, threadName(threads[i], i), ' ', el('span.mark', null, groupLetter(home.get(i))),
      what === 'Proposed' && isNumber(processors[i]) && el('span.soft', null, ` on processor ${processors[i]}`))))));
  const row = (groups, what, share) => [el('h3', null, what, ' ', el('span.soft', null, `${percent(share)} of the communication stays within a cache`)), caches(groups, what)];
  return el('section', null, el('h2', null, 'Where the threads should run'), el('div.panel', null,
    row(inOrder, 'In the order they start', placement.before), row(proposed, 'Proposed', placement.within),
    el('p.soft', null, `A frame is a group of processors that share ${cache}; letters and colours name the group that a thread belongs to.`)));
}

function regionsTable(communication) {
  const rows = list(communication.regions).map((region, index) => ({region, index})).filter(r => r.region.kind !== 'program');
  if (!rows.length) return null;
  const full = Math.max(...rows.map(r => r.region.communicated || 0), 1);
  return el('section', null, el('h2', null, 'By code region'), el('p.soft', null, 'Functions and loops hold what is read in them; a loop\u2019s reads are in its function\u2019s, too.'), leftOut('regions'), table('Code regions', [
    {title: 'Region', cell: r => [regionLink(r.index), ' ', list(r.region.advice).length > 0 && el('span.tag', null, 'advice')], key: r => r.region.name || '', text: r => r.region.name || ''},
    {title: 'Kind', cell: r => EXCHANGE_KINDS[r.region.kind] || 'region', key: r => r.region.kind || ''},
    {title: 'Communicated', cell: r => countBar(r.region.communicated, full), key: r => r.region.communicated, number: true, hint: 'words read for the first time after another thread wrote them'},
    {title: 'Read again', cell: r => shortCount(r.region.reused), key: r => r.region.reused, number: true},
    {title: 'Balance', cell: r => isNumber(r.region.balance_percent) ? `${shortCount(r.region.balance_percent)} %` : unknown(), key: r => r.region.balance_percent, number: true},
    {title: 'Distance', cell: r => r.region.crd ? [`${shortCount(r.region.crd.p90)} `, powersStrip(r.region.crd.buckets, 0, 'distances')] : unknown('none'), key: r => r.region.crd ? r.region.crd.p90 : -1, number: true, hint: 'communication reuse distance that 90 % of the reads are up to'},
    {title: 'Pattern', cell: r => r.region.pattern || '', key: r => r.region.pattern || ''},
  ], rows));
}

function viewExchange(communication) {
  const threads = list(communication.threads), regions = list(communication.regions), whole = regions.findIndex(r => r.kind === 'program');
  if (threads.length < 2) return [el('h1', null, 'Threads'), nothingFound('One thread ran: nobody to communicate with.')];
  const tips = list(data.findings).filter(f => f.kind === 'communication');
  return [
    el('h1', null, 'Threads'),
    el('p.lead', null, `Who reads what another thread wrote, ${communication.scaled ? 'estimated from part of memory' : 'every access counted'}; tracked at ${communication.granularity_bytes}-byte granularity. `,
      communication.others > 0 && `The last row stands for ${plural(communication.others, 'more thread', 'more threads')}. `, communication.unwatched > 0 && `${plural(communication.unwatched, 'thread was', 'threads were')} not followed: what they read is unknown.`),
    whole >= 0 && [regionTiles(regions[whole]), tips.map(tip => el('p.note', null, el('strong', null, 'Finding: '), el('a', {href: findingLink(tip)}, prose(brief(tip.title))))), regionTips(regions[whole]), placementDrawing(communication, regions[whole].placement), exchangeMatrices(communication, regions[whole]), threadLegend(threads)],
    regionsTable(communication),
    whole >= 0 && [distanceChart(regions[whole]), el('section', null, el('h2', null, 'Largest flows between two threads'), exchangeFlows(communication, regions[whole]))],
  ];
}

function viewRegion(index) {
  const communication = data.communication || {}, region = communication.unit === 'count' ? at(list(communication.regions), index) : null;
  if (!region) return missingView('There is no such code region in this result.');
  const loop = at(data.loops, region.loop), tip = list(data.findings).find(f => f.kind === 'communication' && f.refs && f.refs.communication === index);
  return [
    el('p.crumbs', null, el('a', {href: '#threads'}, 'Threads'), ' › code region'),
    el('h1', null, clip(region.name || 'unknown', 120), ' ', el('span.tag', null, EXCHANGE_KINDS[region.kind] || 'region')),
    tip && el('p.lead', null, prose(brief(tip.title) + '.')),
    regionTiles(region),
    list(region.advice).length > 0 && el('section', null, el('h2', null, 'What to do'), region.advice.map(text => el('p', null, prose(text)))),
    placementDrawing(communication, region.placement),
    el('section', null, el('h2', null, 'Communication by pair of threads'), exchangeMatrices(communication, region), threadLegend(communication.threads)),
    region.pieces && region.pieces.count > 0 && el('p', null, `What is read for the first time lies in ${plural(region.pieces.count, 'piece', 'pieces')} of ${shortCount(region.pieces.bytes / region.pieces.count)} bytes (${shortCount(region.pieces.lines / region.pieces.count)} cache lines) on average` +
      (region.pieces.step > 0 ? `, most of them ${count(region.pieces.step)} bytes from one to the next.` : '.')),
    distanceChart(region),
    !region.left_out && el('section', null, el('h2', null, 'Largest flows between two threads'), exchangeFlows(communication, region)),
    loop && el('section', null, el('h2', null, 'Source'), el('p', null, el('a', {href: '#loop/' + region.loop}, 'All data of this loop')), sourceOf(loop)),
  ];
}

Object.assign(DRAW, {region: viewRegion});
