/* The code: loops, their source, and the data they use. */

/* The line in the project's repository, where a pattern for that was given (--source-url). */
function sourceLink(file, number, ...shown) {
  const pattern = page.source_url;
  if (!pattern || !file || !/^https?:\/\//.test(pattern)) return shown;
  const href = pattern.replace('{path}', (folderPath(file) || baseName(file)).split('/').map(encodeURIComponent).join('/')).replace('{line}', String(number));
  return el('a.no-link', {href, rel: 'noopener noreferrer', target: '_blank', title: `${baseName(file)}:${number} in the repository`}, shown);
}

const lineNumber = (file, number) => page.source_url ? el('span.no', null, sourceLink(file, number, String(number))) : el('span.no', {'aria-hidden': 'true'}, String(number));

function sourceOf(loop) {
  if (!loop || !loop.file || !isNumber(loop.first_line)) return el('p.soft', null, 'No line information: compile with -g to see the source here.');
  if (!page.sources || page.sources.policy === 'none') return el('p.soft', null, 'This report was exported without source.');
  const file = sources.get(loop.file);
  if (!file) return el('p.soft', null, 'The source of this loop was left out of this report.');
  if (file.missing) return el('p.soft', null, `${loop.file}: ${file.missing}.`);
  const last = Math.max(loop.first_line, loop.last_line || 0), pre = el('pre.source', {tabindex: '0', 'aria-label': 'source of the loop'});
  for (const excerpt of list(file.excerpts))
    list(excerpt.lines).forEach((text, i) => {
      const number = excerpt.first + i;
      if (number < loop.first_line - 3 || number > last + 3) return;
      const stall = stallOfLine(loop.file, number), row = el(number >= loop.first_line && number <= last ? 'span.row.in' : 'span.row', null, stall ? el(`span.heat-mark.h${heatStep(stall.share, mostOfLines)}`, {'aria-hidden': 'true'}) : el('span.heat-mark', {'aria-hidden': 'true'}), lineNumber(loop.file, number));
      row.append(sourceText(text), stall ? el('span.line-note.stall', null, lineNote(stall)) : '', '\n');
      pre.append(row);
    });
  if (!pre.childNodes.length) return el('p.soft', null, `${loop.file} does not have these lines.`);
  return [folderPath(loop.file) && el('p.where', null, folderPath(loop.file)), file.changed && el('p.warning', null, 'This file was changed after the run: lines may be off.'), pre];
}

/* ---- a file with the heat of its loops ---- */

const FILES_OPEN = 2, FILE_SHARE = 0.001;

/* [{path, share, loops}], hottest first; loops compiled several times are one. */
function codeFiles() {
  const files = new Map();
  list(data.loops).forEach((loop, index) => {
    if (!loop.file || !isNumber(loop.first_line)) return;
    const file = files.get(loop.file) || {path: loop.file, share: 0, loops: new Map()}, key = `${loop.first_line}-${loop.last_line}-${loop.function}`;
    const known = file.loops.get(key) || {index, first: loop.first_line, last: Math.max(loop.first_line, loop.last_line || 0), share: 0, samples: 0};
    known.share += loop.share || 0;
    known.samples += loop.samples || 0;
    file.share += loop.share || 0;
    files.set(loop.file, file);
    file.loops.set(key, known);
  });
  return [...files.values()].sort((a, b) => b.share - a.share);
}

function codeHeat(file, touched) {
  const source = sources.get(file.path), loops = [...file.loops.values()].sort((a, b) => (a.last - a.first) - (b.last - b.first));
  if (!source || source.missing || !list(source.excerpts).length)
    return el('p.soft', null, !page.sources || page.sources.policy === 'none' ? 'This report was exported without source.' : `The source is not here: ${source && source.missing || 'left out of this report'}.`);
  const pre = el('pre.source.heated', {tabindex: '0', 'aria-label': `source of ${baseName(file.path)}`});
  let before = null;
  for (const excerpt of list(source.excerpts))
    list(excerpt.lines).forEach((text, i) => {
      const number = excerpt.first + i;
      if (before !== null && number > before + 1) pre.append(el('span.row.skipped', null, '⋯\n'));
      before = number;
      const stall = stallOfLine(file.path, number), row = el('span.row', null, el(`span.heat-mark.h${stall ? heatStep(stall.share, mostOfLines) : 0}`, {'aria-hidden': 'true'}), lineNumber(file.path, number));
      row.append(sourceText(text), stall ? el('span.line-note.stall', null, lineNote(stall)) : '');
      loops.filter(l => l.first === number && l.share > 0).forEach(l => row.append(el('a.line-note', {href: '#loop/' + l.index}, `loop ${percent(l.share)}, ${plural(l.samples, 'sample', 'samples')}`,
        list(touched.get(l.index)).slice(0, 3).map((o, n) => [n ? ', ' : ': ', clip(objectName(at(data.objects, o)), 24)]))));
      row.append('\n');
      pre.append(row);
    });
  return [source.changed && el('p.warning', null, 'This file was changed after the run: lines may be off.'), pre];
}

function viewLoops() {
  const rows = list(data.loops).map((loop, index) => ({loop, index})).sort((a, b) => (b.loop.share || 0) - (a.loop.share || 0));
  const full = Math.max(...rows.map(r => r.loop.share || 0), 1e-9), touched = new Map();
  list(data.objects).forEach((object, index) => list(object.loops).forEach(use => touched.set(use.loop, [...(touched.get(use.loop) || []), index])));
  const all = codeFiles(), files = all.filter(file => file.share >= FILE_SHARE);
  return [el('h1', null, 'Code'), el('p.lead', null, 'CPU time by source line and by loop. A loop\u2019s share excludes the loops inside of it.'),
    files.map((file, i) => fold([el('strong', null, baseName(file.path)), el('span.where.fold-path', {title: file.path}, clip(folderPath(file.path), 120)), shareBar(file.share)], () => codeHeat(file, touched), i < FILES_OPEN && sources.has(file.path))),
    all.length > files.length && el('p.soft', null, `${plural(all.length - files.length, 'more file has', 'more files have')} less than ${percent(FILE_SHARE)} of the time each.`),
    el('h2', null, 'All loops'),
    rows.length ? table('Loops', [
      {title: 'Loop', cell: r => el('a', {href: '#loop/' + r.index}, loopPlace(r.loop)), key: r => loopText(r.loop), text: r => loopText(r.loop)},
      {title: 'Share of the time', cell: r => shareBar(r.loop.share, null, full), key: r => r.loop.share, number: true},
      {title: 'Samples', cell: r => count(r.loop.samples), key: r => r.loop.samples, number: true},
      {title: 'Data it uses', cell: r => { const o = touched.get(r.index) || []; return [o.slice(0, 4).map((i, n) => [n ? ', ' : '', objectLink(i)]), o.length > 4 && ` and ${o.length - 4} more`]; }},
      {title: 'Module', wide: true, cell: r => baseName((at(data.modules, r.loop.module) || {}).path) || unknown(), key: r => (at(data.modules, r.loop.module) || {}).path || '', text: r => (at(data.modules, r.loop.module) || {}).path || ''},
    ], rows) : el('p.soft', null, 'No sample could be attributed to a loop.')];
}

function viewLoop(index) {
  const loop = at(data.loops, index);
  if (!loop) return missingView('There is no such loop in this result.');
  const users = list(data.objects).map((object, i) => ({object, i, use: list(object.loops).find(u => u.loop === index)})).filter(u => u.use).sort((a, b) => (b.use.share || 0) - (a.use.share || 0));
  const full = Math.max(...users.map(u => u.use.share || 0), 1e-9);
  return [
    el('p.crumbs', null, el('a', {href: '#loops'}, 'Code'), ' › loop'),
    el('h1', {title: loop.function}, brief(loop.function || 'unknown function'), el('span.soft', null, ' ', loop.file ? baseName(loop.file) + linesOf(loop) : '', isNumber(loop.level) && `, loop ${loop.level} of the nest`)),
    loop.inlined_into && el('p', null, 'The function is ', inlinedText(loop), '.'),
    tiles([['Share of the time', percent(loop.share), 'without the loops inside'], ['Samples', count(loop.samples), engineName()]]),
    Number.isInteger(loop.parent) && at(data.loops, loop.parent) && el('p', null, 'Inside of ', el('a', {href: '#loop/' + loop.parent}, loopPlace(at(data.loops, loop.parent)))),
    el('section', null, el('h2', null, 'Source and instructions'), el('div.pair-of-code', null, el('div', null, sourceOf(loop)), loop.file && isNumber(loop.first_line) && el('div', null, assemblyOf(loop.file, loop.first_line, Math.max(loop.first_line, loop.last_line || 0)) || el('p.soft', null, 'No instruction of this loop has memory stall.')))),
    el('section', null, el('h2', null, 'Data it uses'), users.length ? table('Data of the loop', [
      {title: 'Data', cell: u => el('a', {href: '#object/' + u.i}, objectName(u.object)), key: u => objectName(u.object)},
      {title: 'Share of the time', cell: u => shareBar(u.use.share, null, full), key: u => u.use.share, number: true},
      {title: 'Stride', cell: u => isNumber(u.use.stride) ? bytes(u.use.stride) : unknown('irregular'), key: u => u.use.stride, number: true},
      users.some(u => list(u.use.fields).length) && {title: 'Fields', wide: true, cell: u => list(u.use.fields).slice(0, 16).map((f, i) => [i ? ', ' : '', clip(f, 40)])},
    ].filter(Boolean), users) : el('p.soft', null, 'No access to a known object was seen in it.')),
  ];
}

Object.assign(DRAW, {loops: viewLoops, loop: viewLoop});
