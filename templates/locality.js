/* Locality: how far apart each structure's uses are in each loop, in which steps it is walked, what the caches keep of it. */

/* A histogram of powers of two as a strip: darker where more is. */
function powersStrip(buckets, beyond, label) {
  const rows = list(buckets).filter(b => b.count > 0), all = rows.reduce((sum, b) => sum + b.count, beyond || 0);
  if (!all) return unknown('none');
  const most = 21, cells = new Array(most).fill(0);
  rows.forEach(b => { cells[Math.min(most - 1, Math.round(Math.log2(b.up_to + 1)))] += b.count; });
  const text = rows.map(b => `up to ${count(b.up_to)}: ${percent(b.count / all)}`).concat(beyond ? [`beyond the window: ${percent(beyond / all)}`] : []).join(', ');
  return el('span.powers', {role: 'img', title: text, 'aria-label': `${label}: ${text}`},
    cells.map(value => el('span', {style: {height: (value ? 10 + 90 * Math.sqrt(value / all) : 0) + '%'}})),
    beyond > 0 && el('span.beyond', {style: {height: 10 + 90 * Math.sqrt(beyond / all) + '%'}}));
}

const inLines = value => isNumber(value) ? `${+value.toPrecision(3)} ${Math.abs(value) === 1 ? 'line' : 'lines'}` : unknown();

function missShare(row, level, of) {
  const misses = of && of.misses && of.misses[level];
  return isNumber(misses) && row.accesses > 0 ? misses / row.accesses : null;
}

function missCell(level) {
  return row => {
    const here = missShare(row, level, row), there = missShare(row, level, row.elsewhere);
    return [isNumber(here) ? percent(here) : unknown(), isNumber(there) && el('div.soft', null, `there ${percent(there)}`)];
  };
}

function localityFinding(index) {
  return list(data.findings).find(f => f.kind === 'locality' && f.refs && f.refs.locality === index);
}

function localityTable(rows) {
  const full = Math.max(...rows.map(r => r.share || 0), 1e-9);
  return table('Locality', [
    {title: 'Data', cell: r => [Number.isInteger(r.object) ? objectLink(r.object) : unknown('other data'), localityFinding(r.index) && [' ', el('a.tag', {href: '#findings'}, 'advice')]],
      key: r => objectName(at(data.objects, r.object)), text: r => objectName(at(data.objects, r.object))},
    {title: 'Loop', cell: r => Number.isInteger(r.loop) ? el('a', {href: '#loop/' + r.loop}, loopPlace(at(data.loops, r.loop))) : unknown(), key: r => loopText(at(data.loops, r.loop)), text: r => loopText(at(data.loops, r.loop))},
    {title: 'Share of the time', cell: r => shareBar(r.share, null, full), key: r => r.share, number: true},
    {title: 'Cycles an access', cell: r => [r.cycles_per_access.toFixed(1), r.elsewhere && el('div.soft', null, `there ${r.elsewhere.cycles_per_access.toFixed(1)}`)], key: r => r.cycles_per_access, number: true, hint: 'of the cache model'},
    {title: 'Reuse distance', cell: r => [isNumber(r.reuse_distance.median) ? inLines(r.reuse_distance.median) : 'beyond', powersStrip(r.reuse_distance.buckets, r.reuse_distance.beyond, 'reuse distances')],
      key: r => isNumber(r.reuse_distance.median) ? r.reuse_distance.median : Infinity, number: true, hint: 'median; other cache lines between two uses of one, in powers of two'},
    {title: 'Stride', cell: r => [inLines(r.stride_lines.dominant), isNumber(r.stride_lines.share) && el('div.soft', null, `${percent(r.stride_lines.share)} of steps`)], key: r => Math.abs(r.stride_lines.dominant || 0), number: true, hint: 'of an instruction, most often'},
    {title: 'Streams', cell: r => isNumber(r.streams) ? r.streams.toFixed(0) : unknown('none'), key: r => r.streams || 0, number: true, hint: 'walks side by side in the loop'},
    {title: 'Own node', cell: r => isNumber(r.numa_hit_ratio) ? percent(r.numa_hit_ratio) : unknown(), key: r => isNumber(r.numa_hit_ratio) ? r.numa_hit_ratio : 2, number: true, hint: 'accesses to memory of the own NUMA node'},
    {title: 'Misses L1', cell: missCell('L1'), key: r => missShare(r, 'L1', r), number: true, hint: 'of the accesses'},
    {title: 'L2', cell: missCell('L2'), key: r => missShare(r, 'L2', r), number: true},
    {title: 'L3', cell: missCell('L3'), key: r => missShare(r, 'L3', r), number: true},
    {title: 'Uses of a line in L1', cell: r => isNumber(r.reuse_factor.L1) ? r.reuse_factor.L1.toFixed(1) : unknown('all'), key: r => isNumber(r.reuse_factor.L1) ? r.reuse_factor.L1 : Infinity, number: true, hint: 'before it is gone'},
    {title: 'Conflicts', cell: r => percent(r.conflicts), key: r => r.conflicts, number: true, hint: 'accesses that missed L1 though fewer lines than it holds lay between'},
    {title: 'Taken by others', cell: r => percent(r.restarted), key: r => r.restarted, number: true, hint: 'accesses to lines that another core had, or wrote to, since'},
  ], rows);
}

function viewLocality() {
  if (!data.locality) return [el('h1', null, 'Locality'), el('p.lead', null, 'Not measured in this run: it takes a full trace, which lwp collect -e exact --detect locality makes.')];
  const rows = list(data.locality).map((row, index) => ({...row, index}));
  return [el('h1', null, 'Locality'),
    el('p.lead', null, 'Each structure in each loop: how many other cache lines were used between two uses of one, in which steps it is walked, and what a model of the caches keeps of it.',
      rows.some(r => r.elsewhere) && ' “There” is the machine that was asked about.'),
    rows.length ? localityTable(rows) : el('p.soft', null, 'The trace holds no access to known code.')];
}
