/* The data of the run: which waits for memory, its fields, and who uses it. */

/* One row for each place that allocates. */
function allocationSites() {
  const sites = new Map();
  list(data.objects).forEach((object, index) => {
    const place = allocationPlace(object);
    if (!place) return;
    const site = sites.get(place) || {place, share: 0, samples: 0, bytes: 0, allocations: 0, objects: []};
    site.share += object.share || 0;
    site.samples += object.samples || 0;
    site.bytes += object.bytes || 0;
    site.allocations += object.allocations || 0;
    site.objects.push(index);
    sites.set(place, site);
  });
  const rows = [...sites.values()].sort((a, b) => b.share - a.share), full = Math.max(...rows.map(r => r.share), 1e-9);
  return rows.length > 0 && el('section', null, el('h2', null, 'By allocation site'), table('Allocation sites', [
    {title: 'Allocated in', cell: r => brief(r.place), key: r => r.place, text: r => r.place, wide: true},
    {title: 'Share of the time', cell: r => shareBar(r.share, null, full), key: r => r.share, number: true},
    {title: 'Samples', cell: r => count(r.samples), key: r => r.samples, number: true},
    {title: 'Size', cell: r => r.bytes ? bytes(r.bytes) : unknown(), key: r => r.bytes, number: true},
    {title: 'Allocations', cell: r => r.allocations ? count(r.allocations) : unknown(), key: r => r.allocations, number: true},
    {title: 'Data', cell: r => r.objects.slice(0, 6).map((o, i) => [i ? ', ' : '', objectLink(o)]), wide: true},
  ], rows));
}

/* Data-centric attribution: where the data was, where it is allocated, and below what all its uses are. */
function memoryTable() {
  const rows = list(data.objects).map((object, index) => ({object, index, memory: object.memory})).filter(r => r.memory);
  const level = name => ({title: name === 'memory' ? 'Memory' : name, cell: r => percent(r.memory.levels[name]), key: r => r.memory.levels[name], number: true, hint: 'part of its accesses that found the line there'});
  const part = (title, key, hint) => rows.some(r => isNumber(r.memory[key])) && ({title, cell: r => isNumber(r.memory[key]) ? percent(r.memory[key]) : unknown(), key: r => r.memory[key], number: true, hint});
  const below = context => { const frame = framesOf(context)[0]; return frame ? brief(frameName(frame)) : ''; };
  return table('Data and where it was', [
    {title: 'Data', cell: r => objectLink(r.index), key: r => objectName(r.object), text: r => objectName(r.object)},
    {title: 'Share of the time', cell: r => percent(r.object.share), key: r => r.object.share, number: true},
    {title: 'Cycles', cell: r => count(r.memory.cycles), key: r => r.memory.cycles, number: true, hint: 'of its accesses, page walks included'},
    level('L1'), level('L2'), level('L3'), level('memory'),
    part('Page walks', 'walks', 'part of its accesses that missed the TLB'), part('Remote', 'remote', 'part of its accesses to another NUMA node'),
    {title: 'Allocated in', cell: r => brief(allocationPlace(r.object) || ''), key: r => allocationPlace(r.object) || '', wide: true},
    {title: 'Always used below', cell: r => below(r.object.common_context), key: r => below(r.object.common_context), wide: true},
  ].filter(Boolean), rows);
}

/* Which part of it each thread uses: a strip for each, from its first byte to its last one. */
function threadStrips(object) {
  const threads = list(object.threads), size = Math.max(...threads.map(t => t.bin_bytes * (t.bins.length - [...t.bins].reverse().findIndex(n => n > 0))), 1);
  const strip = t => el('span', {style: {display: 'flex', width: '100%', minWidth: '12rem', height: '1rem', border: '1px solid currentColor'}, role: 'img', 'aria-label': `thread ${t.tid}`},
    t.bins.filter((n, i) => i * t.bin_bytes < size).map(n => el('span', {title: count(n), style: {flex: '1', background: 'currentColor', opacity: String(n ? 0.2 + 0.8 * n / Math.max(...t.bins) : 0)}})));
  return table('Parts by thread', [
    {title: 'Thread', cell: t => String(t.tid), key: t => t.tid, number: true},
    {title: 'Accesses seen', cell: t => count(t.accesses), key: t => t.accesses, number: true},
    {title: 'First seen', cell: t => isNumber(t.first_s) ? seconds(t.first_s) : unknown(), key: t => t.first_s, number: true},
    {title: 'Part of the block it uses', cell: strip, wide: true},
  ], threads);
}

function objectFacts(object) {
  const accesses = (object.loads || 0) + (object.stores || 0);
  return facts(
      [
          [ 'Name', objectName(object) ],
          [ 'Type', object.type ? el('code', null, object.type) : unknown() ],
          [ 'Kind', object.kind || 'unknown' ],
          [ 'Element', isNumber(object.element_bytes) ? bytes(object.element_bytes) : unknown() ],
          [ 'Elements', isNumber(object.elements) ? `${isNumber(object.used_bytes) ? 'about ' : ''}${count(object.elements)}` : unknown() ],
          object.element_start > 0 && [ 'Before them', `a header of ${bytes(object.element_start)}` ],
          isNumber(object.element_bytes) && agreementText(object) && [ 'Fields', agreementText(object) ],
          object.fields_unknown && [ 'Fields', `unknown: ${object.fields_unknown}` ],
          [ 'Size', isNumber(object.bytes) ? bytes(object.bytes) : unknown() ],
          [ 'Allocations', isNumber(object.allocations) ? count(object.allocations) : unknown() ],
          isNumber(object.time_share) && [ 'Time in loops that use it', percent(object.time_share) ],
          [ 'Sampled accesses', `${count(accesses)} (${count(object.loads)} loads, ${count(object.stores)} stores)` ],
          object.module !== null && at(data.modules, object.module) && [ 'Module', at(data.modules, object.module).path ],
          Number.isInteger(object.context) && [ 'Allocated at', callPath(object.context) ],
          Number.isInteger(object.common_context) && [ 'Always used below', callPath(object.common_context) ],
      ],
      'dl.list');
}

function viewObjects() {
  const apart = list(data.kept_apart), pairs = list(data.arrays && data.arrays.pairs);
  return [el('h1', null, 'Data objects'), el('p.lead', null, 'All data with samples, the one with the most memory stall first.'), leftOut('objects', 'names'), objectsTable(), allocationSites(),
    list(data.objects).some(o => o.memory) && el('section', null, el('h2', null, 'Where the data was'), memoryTable()),
    apart.length > 0 && el('section', null, el('h2', null, 'Not regrouped'), el('p.soft', null, 'Arrays that loops use together and that do not fit into one array of structures, with the reason.'), rejectionsTable(apart)),
    pairs.length > 0 && el('section', null, el('h2', null, 'Pairs of arrays'), el('p.soft', null, 'Which arrays loops use together, and whether they could be one array of structures.'), arrayPairsTable())];
}

function viewObject(index) {
  const object = at(data.objects, index);
  if (!object) return missingView('There is no such data object in this result.');
  const split = splitOfObject(index), line = (data.run.machine && data.run.machine.line_bytes) || 64;
  const fields = list(object.fields), uses = list(object.loops).slice().sort((a, b) => (b.share || 0) - (a.share || 0));
  if (object.left_out)
    return [el('p.crumbs', null, el('a', {href: '#objects'}, 'Data'), ' › object'), el('h1', null, objectName(object)), tiles([['Share of the time', percent(object.share), isRange(object.share_ci) ? `95\u00a0% interval ${interval(object.share_ci)}` : null], ['Samples', count(object.samples), engineName()]]), leftOut('objects', 'names')];
  return [
    el('p.crumbs', null, el('a', {href: '#objects'}, 'Data'), ' › object'),
    el('h1', null, objectName(object)),
    split !== null && el('p', null, el('a.button', {href: '#split/' + split}, 'See the advice for its structure')),
    tiles([['Share of the time', percent(object.share), isRange(object.share_ci) ? `95\u00a0% interval ${interval(object.share_ci)}` : null],
      ['Samples', count(object.samples), engineName()],
      ['Element', isNumber(object.element_bytes) ? bytes(object.element_bytes) : 'unknown', object.type ? brief(object.type) : 'type unknown'],
      ['Size', isNumber(object.bytes) ? bytes(object.bytes) : 'unknown', isNumber(object.allocations) ? plural(object.allocations, 'allocation', 'allocations') : null]]),
    fields.length > 0 && isNumber(object.element_bytes) && object.element_bytes > 0 && el('section', null, el('h2', null, 'Fields'),
      el('div.panel', null, drawElement(object, object.element_bytes, line, null)),
      table('Fields', [
        {title: 'Offset', cell: f => '+' + f.offset, key: f => f.offset, number: true},
        {title: 'Field', cell: f => el('code', null, fieldName(f)), key: f => fieldName(f), text: f => fieldName(f)},
        {title: 'Bytes', cell: f => count(f.bytes), key: f => f.bytes, number: true},
        {title: 'Share of the time', cell: f => shareBar(fieldShare(f), null, Math.max(...fields.map(x => fieldShare(x) || 0), 1e-9)), key: f => fieldShare(f), number: true, hint: 'its equal part of the loops that use it'},
        {title: 'As observed', cell: f => percent(f.share), key: f => f.share, number: true, hint: 'the stall on a cache line counts for the field that is accessed first'},
        {title: 'Sampled accesses', cell: f => count(f.samples), key: f => f.samples, number: true},
      ], fields)),
    el('section', null, el('h2', null, 'Loops that use it'), uses.length ? table('Loops', [
      {title: 'Loop', cell: u => el('a', {href: '#loop/' + u.loop}, loopPlace(at(data.loops, u.loop))), key: u => loopText(at(data.loops, u.loop)), text: u => loopText(at(data.loops, u.loop))},
      {title: 'Share of the time', cell: u => shareBar(u.share, null, Math.max(...uses.map(x => x.share || 0), 1e-9)), key: u => u.share, number: true},
      {title: 'Stride', cell: u => isNumber(u.stride) ? bytes(u.stride) : unknown('irregular'), key: u => u.stride, number: true},
      uses.some(u => list(u.fields).length || list(u.offsets).length) && {title: 'Fields', wide: true, cell: u => list(u.fields).length ? list(u.fields).slice(0, 12).map((f, i) => [i ? ', ' : '', clip(f, 40)]) : list(u.offsets).length ? list(u.offsets).slice(0, 12).map(o => '+' + o).join(', ') : ''},
    ].filter(Boolean), uses) : el('p.soft', null, 'No loop with samples uses it.')),
    list(object.threads).length > 1 && el('section', null, el('h2', null, 'Which thread uses which part'), el('p.soft', null, 'From the first byte of a block to its last one, as far as samples fell there. Where each thread has a part of its own, let it be the one that fills it first; where all use all, spread the pages or give each its copy.'), threadStrips(object)),
    el('section', null, el('h2', null, 'About it'), objectFacts(object)),
  ];
}

Object.assign(DRAW, {objects: viewObjects, object: viewObject});
