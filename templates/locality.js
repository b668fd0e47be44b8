/* Locality: how far apart each structure's uses are in each loop, in which steps it is walked, what the caches keep of it. */

const LEVELS = ['L1', 'L2', 'L3'];

const lineBytes = () => (data.run.machine && data.run.machine.line_bytes) || 64;

/* A distance or a step: in bytes where it is less than a line. */
const inLines = value => !isNumber(value) ? unknown() : value !== 0 && Math.abs(value) < 1 ? `${+(value * lineBytes()).toPrecision(3)}\u00a0B` :
  `${count(+value.toPrecision(3))} ${Math.abs(value) === 1 ? 'line' : 'lines'}`;

function missShare(row, level, of) {
  const misses = of && of.misses && of.misses[level];
  return isNumber(misses) && row.accesses > 0 ? misses / row.accesses : null;
}

const distanceText = value => `${count(+value.toPrecision(3))} ${value === 1 ? 'line' : 'lines'}`; /* a number of lines, and be it 2.37 */

/* A bar for each level of the caches: what it did not answer. */
function missBars(row) {
  return el('span.levels', null, LEVELS.map(level => {
    const here = missShare(row, level, row), there = missShare(row, level, row.elsewhere);
    return isNumber(here) && el('span.level', null, el('span.level-name', null, level), el('span.track', {'aria-hidden': 'true'}, el('span.fill', {style: {width: (100 * here).toFixed(1) + '%'}})),
      el('span.value', null, percent(here)), isNumber(there) && el('span.soft', null, ` there ${percent(there)}`));
  }));
}

function localityFinding(index) {
  return list(data.findings).find(f => f.kind === 'locality' && f.refs && f.refs.locality === index);
}

const localityName = row => Number.isInteger(row.object) ? objectName(at(data.objects, row.object)) : 'other data';

function localityTable(rows) {
  const full = Math.max(...rows.map(r => r.share || 0), 1e-9);
  return table('Locality', [
    {title: 'Data in its loop', cell: r => el('span.named', null, el('a', {href: '#locality/' + r.index}, clip(localityName(r), 60)), localityFinding(r.index) && [' ', el('span.tag', null, 'advice')],
      el('span.soft.below', null, Number.isInteger(r.loop) ? loopPlace(at(data.loops, r.loop)) : unknown('unknown loop'))),
      key: r => localityName(r), text: r => `${localityName(r)} ${loopText(at(data.loops, r.loop))}`},
    {title: 'Share of the time', cell: r => shareBar(r.share, null, full), key: r => r.share, number: true},
    {title: 'Cycles an access', cell: r => [r.cycles_per_access.toFixed(1), r.elsewhere && el('div.soft', null, `there ${r.elsewhere.cycles_per_access.toFixed(1)}`)], key: r => r.cycles_per_access, number: true, hint: 'of the cache model'},
    {title: 'Reuse distance', cell: r => [powersStrip(r.reuse_distance.buckets, r.reuse_distance.beyond, 'reuse distances'), el('div.soft', null, isNumber(r.reuse_distance.median) ? `median ${distanceText(r.reuse_distance.median)}` : 'mostly beyond')],
      key: r => isNumber(r.reuse_distance.median) ? r.reuse_distance.median : Infinity, number: true, hint: 'median; other cache lines between two uses of one, in powers of two'},
    {title: 'Stride', cell: r => [powersStrip(r.stride_lines.buckets, 0, 'strides in lines'), isNumber(r.stride_lines.dominant) && el('div.soft', null, inLines(r.stride_lines.dominant), isNumber(r.stride_lines.share) && `: ${percent(r.stride_lines.share)}`)], key: r => Math.abs(r.stride_lines.dominant || 0), number: true, hint: 'of an instruction, in cache lines'},
    {title: 'Misses', cell: missBars, key: r => missShare(r, 'L3', r) ?? missShare(r, 'L2', r), hint: 'share of the accesses that miss each level'},
  ], rows);
}

/* Without a trace: what samples say. */
function localitySampledTable(rows) {
  const full = Math.max(...rows.map(r => r.share || 0), 1e-9);
  return table('Locality', [
    {title: 'Data in its loop', cell: r => [Number.isInteger(r.object) ? objectLink(r.object) : unknown('other data'),
      el('span.soft.below', null, Number.isInteger(r.loop) ? el('a', {href: '#loop/' + r.loop}, loopPlace(at(data.loops, r.loop))) : unknown('unknown loop'))],
      key: r => localityName(r), text: r => `${localityName(r)} ${loopText(at(data.loops, r.loop))}`},
    {title: 'Share of the time', cell: r => shareBar(r.share, null, full), key: r => r.share, number: true},
    {title: 'Stride', cell: r => [inLines(r.stride_lines.dominant), isNumber(r.stride_lines.share) && el('div.soft', null, `${percent(r.stride_lines.share)} of ${count(r.seen)} accesses seen`)], key: r => Math.abs(r.stride_lines.dominant || 0), number: true, hint: 'of an instruction each time round its loop, in cache lines'},
    {title: 'Concurrent streams', cell: r => isNumber(r.streams) ? `${count(r.streams)} or more` : unknown(), key: r => r.streams || 0, number: true, hint: 'in the loop'},
    {title: 'Pages', cell: r => isNumber(r.pages) ? count(r.pages) : unknown(), key: r => r.pages || 0, number: true, hint: '4 KiB pages of its traversals and of its other sampled accesses'},
  ], rows);
}

function viewLocality(index) {
  if (!data.locality) return [el('h1', null, 'Locality'), notMeasured('Reuse distances, and what caches keep of the data', '-e exact --detect locality')];
  if (index !== undefined) return viewLocalityOf(index);
  const rows = list(data.locality).map((row, i) => ({...row, index: i}));
  if (rows.some(r => !isNumber(r.accesses))) return [el('h1', null, 'Locality'),
    el('p.lead', null, 'Each structure in each loop, as far as samples show. Reuse distances and cache misses take a full trace: lwp collect -e exact --detect locality.'),
    leftOut('locality'),
    localitySampledTable(rows)];
  return [el('h1', null, 'Locality'),
    el('p.lead', null, 'Each data object in each loop: reuse distance, stride, and misses in a cache model.',
      rows.some(r => r.elsewhere) && ' “There” is the machine that was asked about.'),
    leftOut('locality'),
    rows.length ? localityTable(rows) : nothingFound('The trace holds no access to known code.')];
}

/* Lines that each cache of the machine holds. */
function cacheMarks() {
  const machine = data.run.machine || {}, line = lineBytes();
  return list(machine.caches).filter(c => isNumber(c.bytes)).map(c => ({at: c.bytes / line, text: `L${c.level} holds ${shortCount(c.bytes / line)}`}));
}

function viewLocalityOf(index) {
  const row = at(data.locality, index);
  if (!row) return missingView('There is no such row in this result.');
  if (!isNumber(row.accesses)) return missingView('Samples show no more of it than the table of all locality has.');
  const loop = at(data.loops, row.loop), finding = localityFinding(index), object = at(data.objects, row.object);
  const pair = (here, there) => [here, row.elsewhere && el('span.soft', null, `; there ${there}`)];
  return [
    el('p.crumbs', null, el('a', {href: '#locality'}, 'Locality'), ' › ', loop ? clip(brief(loop.function || 'unknown function'), 60) : 'unknown loop'),
    el('h1', null, clip(localityName(row), 60), loop && el('span.soft', null, ' in ', clip(brief(loop.function || 'unknown function'), 60), loop.file && ` ${baseName(loop.file)}${linesOf(loop)}`), ' ', finding && severity(finding.severity)),
    finding && el('p.lead', null, prose(brief(finding.title) + '.')),
    tiles([
      ['Share of the time', percent(row.share), `${count(row.accesses)} accesses traced, ${percent(row.stores / row.accesses)} of them stores`],
      ['Cycles an access', row.cycles_per_access.toFixed(1), 'of the cache model', row.elsewhere && `there ${row.elsewhere.cycles_per_access.toFixed(1)}`],
      ['Stride', inLines(row.stride_lines.dominant), isNumber(row.stride_lines.share) ? `${percent(row.stride_lines.share)} of them` : null, row.stride_lines.outer ? ['then ', inLines(row.stride_lines.outer), ' to the next traversal'] : null],
      ['Concurrent streams', isNumber(row.streams) ? row.streams.toFixed(0) : 'none', 'in the loop, mean'],
    ]),
    finding && el('section', null, el('h2', null, 'What to do'), el('p', null, prose(finding.next_step))),
    el('section', null, el('h2', null, 'Reuse distance'), el('p.soft', null, 'Other cache lines that are used between two uses of a line. Accesses right of a mark miss that cache even if it holds nothing else.'),
      el('div.panel', null, powersChart('Accesses by reuse distance', row.reuse_distance.buckets, {of: 'accesses', unit: 'cache lines, powers of two', beyond: row.reuse_distance.beyond, marks: cacheMarks()}))),
    el('section', null, el('h2', null, 'Misses by cache level'), facts([
      ...LEVELS.filter(level => isNumber(missShare(row, level, row))).map(level => [level, pair(`${percent(missShare(row, level, row))} of the accesses miss`, percent(missShare(row, level, row.elsewhere))),
        row.reuse_factor[level] === 0 ? '; no line is reused before it is evicted' : `; a line is used ${isNumber(row.reuse_factor[level]) ? `${row.reuse_factor[level].toFixed(1)} times` : 'by all accesses'} before it is evicted`]),
      ['Conflict misses', `${percent(row.conflicts)} miss L1 although their reuse distance is shorter than its capacity`],
      row.core_conflicts && row.core_conflicts.count > 0 && ['Conflicts between cores', `${count(row.core_conflicts.count)} stores (${percent(row.core_conflicts.share)} of the accesses) to a line that another core stores to at the same time; ${count(row.core_conflicts.range[0])} to ${count(row.core_conflicts.range[1])}, depending on the order in which threads run`],
      ['Coherence misses', `${percent(row.restarted)} hit a line that another core wrote or held since`],
      ['Own NUMA node', isNumber(row.numa_hit_ratio) ? percent(row.numa_hit_ratio) : unknown('one node, or unknown')],
    ], 'dl.list')),
    loop && el('section', null, el('h2', null, 'Source'), el('p', null, el('a', {href: '#loop/' + row.loop}, 'All data of this loop'), object && [' · ', el('a', {href: '#object/' + row.object}, 'All about this data')]), sourceOf(loop)),
  ];
}

Object.assign(DRAW, {locality: viewLocality});
