/* Redundant accesses: pairs with both call paths, their source, and why. */

const amount = (total, n) => total.unit === 'bytes' ? bytes(n) : `${count(n)} ${total.unit}`;
const FRAMES_MAX = 24;
const TOGETHER_LINES = 24; /* so far apart two lines are still shown in one excerpt */

/* What --approx said. */
function tolerance() {
  const approx = String((data.run.options || {}).approx || 'on');
  return `${/^[0-9.]+/.test(approx) ? parseFloat(approx) : 1}\u00a0%`;
}
/* Pairs of which enough was seen and that people act on. */
const isActedOn = pair => !pair.line || pair.line.acted_on;
const isSure = pair => !pair.line || pair.line.sure;
const causeName = cause => typeof cause === 'string' && cause !== 'unknown' ? cause.replace(/_/g, ' ') : null;

function framePlace(frame) {
  if (!frame) return unknown('unknown place');
  return [el('strong', {title: frame.function}, clip(brief(frameName(frame)), 80)),
    el('span.where', {title: frame.file || ''}, frame.file ? ` ${baseName(frame.file)}${isNumber(frame.line) ? ':' + frame.line : ''}` : frame.function ? ' no line information' : '')];
}

const frameShort = frame => frame ? clip(brief(frameName(frame)), 40) + (isNumber(frame.line) ? ':' + frame.line : '') : 'unknown';
const sameFrame = (a, b) => a && b && a.function === b.function && a.file === b.file && a.line === b.line && a.module === b.module && a.address === b.address;

/* How many of their outermost frames two paths have in common; the accesses themselves stand out in any case. */
function framesShared(a, b) {
  let shared = 0;
  while (shared < Math.min(a.length, b.length) - 1 && sameFrame(a[a.length - 1 - shared], b[b.length - 1 - shared])) shared++;
  return shared;
}

/* `shared`: so many frames, from the outermost, that the other path has, too. */
function accessPath(context, shared) {
  const frames = framesOf(context), own = frames.length - shared;
  if (!frames.length) return el('p.soft', null, 'The call path is unknown.');
  return [
    el('ol.path', null, frames.slice(0, FRAMES_MAX).map((frame, i) =>
      el(i >= own ? 'li.shared' : 'li', null, framePlace(frame), frame.inlined && el('span.tag', null, 'inlined')))),
    frames.length > FRAMES_MAX && el('p.soft', null, `and ${frames.length - FRAMES_MAX} more`)];
}

const accessMark = which => el(`span.access-mark.a${which}`, {'aria-hidden': 'true'}, String(which));

/* Lines around `marks`, [{line, which}], of one file. */
function accessSource(frame, marks) {
  if (!frame || !frame.file || !isNumber(frame.line)) return el('p.soft', null, 'No line information: compile with -g to see the source here.');
  if (!page.sources || page.sources.policy === 'none') return el('p.soft', null, 'This report was exported without source.');
  const file = sources.get(frame.file);
  if (!file) return el('p.soft', null, 'The source of this line was left out of this report.');
  if (file.missing) return el('p.soft', null, `${frame.file}: ${file.missing}.`);
  const first = Math.min(...marks.map(m => m.line)) - 3, last = Math.max(...marks.map(m => m.line)) + 3;
  const pre = el('pre.source', {tabindex: '0', 'aria-label': `source, ${baseName(frame.file)} from line ${Math.max(1, first)}`});
  let before = null;
  for (const excerpt of list(file.excerpts))
    list(excerpt.lines).forEach((text, i) => {
      const number = excerpt.first + i, here = marks.filter(m => m.line === number);
      if (number < first || number > last) return;
      if (before !== null && number > before + 1) pre.append(el('span.row.skipped', null, '⋯\n'));
      before = number;
      const row = el(here.length ? 'span.row.in' : 'span.row', null, lineNumber(frame.file, number),
        el('span.marks', null, here.map(m => accessMark(m.which)), here.length > 0 && el('span.aside', null, here.map(m => `access ${m.which}: `).join(''))));
      row.append(sourceText(text) + '\n');
      pre.append(row);
    });
  if (!pre.childNodes.length) return el('p.soft', null, `${frame.file} does not have this line.`);
  return [file.changed && el('p.warning', null, 'This file was changed after the run: lines may be off.'), pre];
}

/* One access: where it is, its source unless that is shown for both together, and how it came there. */
function accessSide(which, title, context, shared, source) {
  const frame = ownFrame(context), line = frame && frame.line;
  return el('section.panel.side', null,
    el('h3', null, accessMark(which), title),
    el('p.side-place', null, framePlace(frame)),
    source && accessSource(frame, [{line, which}]),
    el('h4', null, 'Call path'), accessPath(context, shared));
}

function accessPair(pair) {
  const [, , , first, second] = redundantKind(pair), a = ownFrame(pair.first), b = ownFrame(pair.second);
  const shared = framesShared(framesOf(pair.first), framesOf(pair.second));
  const near = a && b && a.file && a.file === b.file && isNumber(a.line) && isNumber(b.line) && Math.abs(a.line - b.line) <= TOGETHER_LINES;
  return [
    near && el('div.together', null, folderPath(a.file) && el('p.where', null, folderPath(a.file)), accessSource(a, [{line: a.line, which: 1}, {line: b.line, which: 2}])),
    el('div.sides', null, accessSide(1, first, pair.first, shared, !near), accessSide(2, second, pair.second, shared, !near)),
    shared > 0 && el('p.soft.legend-shared', null, 'Grey frames are common to both paths.')];
}

/* Whether what was seen came back to one place. */
function placesTile(places) {
  if (!places || !isNumber(places.again) || !isNumber(places.moved) || places.again + places.moved === 0) return null;
  const all = places.again + places.moved;
  const what = places.moved === 0 || places.again > 10 * places.moved ? 'one' : places.moved > places.again ? 'many' : 'a few';
  return ['Addresses', what, `${count(places.again)} of ${count(all)} at the address of the one before`];
}

function otherPaths(pair) {
  const others = list(pair.others), [, , of, first, second] = redundantKind(pair);
  if (!others.length) return null;
  return el('section', null, el('h2', null, 'Other calling contexts of this pair'),
    el('p.soft', null, 'Included above: they differ only in how their thread started, or in the instruction of the line (or of a library function).'),
    others.slice(0, 20).map(other => {
      const firstFrames = framesOf(other.first), secondFrames = framesOf(other.second), shared = framesShared(firstFrames, secondFrames), root = firstFrames[firstFrames.length - 1];
      return el('details.loop', null,
        el('summary', null, el('span.loop-name', null, frameShort(firstFrames[0]), ' → ', frameShort(secondFrames[0]), root && el('span.soft', null, ` from ${clip(frameName(root), 40)}`)),
          el('span', null, shareBar(other.share)), el('span.soft', null, pair.by_time === undefined ? `of all ${of}` : 'of the time around these accesses'), el('span.lines-change', null, plural(other.samples, 'pair', 'pairs'))),
        el('div.sides.inside', null,
          el('div', null, el('h4', null, accessMark(1), first), accessPath(other.first, shared)),
          el('div', null, el('h4', null, accessMark(2), second), accessPath(other.second, shared))));
    }));
}

function pairsTable(kind) {
  const [title, , what, first, second] = REDUNDANT[kind];
  const all = list(data.redundancies).map((pair, index) => ({pair, index})).filter(row => row.pair.kind === kind);
  /* most loads find what has not changed: those of no kind to act on are only counted */
  const rows = kind === 'silent_load' ? all.filter(row => isActedOn(row.pair)) : all, folded = all.filter(row => !rows.includes(row));
  const rest = folded.length > 0 && el('p.soft', null, `${plural(folded.length, 'pair', 'pairs')} without a known remedy, ${percent(Math.min(1, folded.reduce((sum, row) => sum + row.pair.share, 0)))} of all ${what}.`);
  const name = context => ownFrame(context) ? frameName(ownFrame(context)) : '';
  if (!rows.length) return rest ? el('section', null, el('h2', null, title), rest) : null;
  return el('section', null, el('h2', null, title), table(title, [
    {title: first, cell: r => el('a', {href: '#redundancy/' + r.index}, framePlace(ownFrame(r.pair.first))), key: r => name(r.pair.first), text: r => name(r.pair.first)},
    {title: second, cell: r => framePlace(ownFrame(r.pair.second)), key: r => name(r.pair.second), text: r => name(r.pair.second), wide: true},
    {title: `Share of all ${what}`, cell: r => [shareBar(told(r.pair, what).share, told(r.pair, what).ci), r.pair.by_time && el('span.soft', null, ' of the time')], key: r => told(r.pair, what).share, number: true},
    {title: 'Cause', cell: r => r.pair.approximate > 0 ? `changes it by less than ${tolerance()}` : causeName(r.pair.cause) || unknown(), key: r => causeName(r.pair.cause) || '', text: r => causeName(r.pair.cause) || 'unknown'},
    {title: 'Data', cell: r => at(data.objects, r.pair.object) ? el('a', {href: '#object/' + r.pair.object}, clip(objectName(at(data.objects, r.pair.object)), 50)) : unknown('unknown or small'), key: r => objectName(at(data.objects, r.pair.object))},
    {title: 'Time at stake', cell: r => r.pair.line && isNumber(r.pair.line.time_at_stake) ? atMost(r.pair.line.time_at_stake) : unknown(), key: r => (r.pair.line || {}).time_at_stake || 0, number: true},
    {title: redundantExact(kind) ? 'Times' : 'Pairs seen', cell: r => [count(r.pair.samples), !isSure(r.pair) && el('span.soft', null, ' not sure')], key: r => r.pair.samples, number: true},
  ], rows), rest);
}

/* RedSpy's R (thesis 3.4): of what comes into registers from memory or from computations, and of what goes to memory, how much
 * was there already; by the kind of number, as floating point also counts when it is close. */
function valuesTable(totals) {
  const register = totals.register, store = totals.silent_store;
  if (!register || !list(register.classes).length) return null;
  const rows = list(register.classes).map(c => ({what: c.loaded ? 'loaded into registers' : 'computed in registers', kind: c.floating_point ? 'floating point' : 'other',
    all: c.bytes, share: c.share, same: c.same, close: c.floating_point ? c.close : null, instructions: c.instructions}));
  if (store && store.exact)
    rows.push(...list(store.classes).map(c => ({what: 'stored to memory', kind: c.floating_point ? 'floating point' : 'other', all: c.bytes, share: c.share, same: c.same, close: c.floating_point ? c.close : null, instructions: null})));
  if (totals.generated)
    rows.push({what: 'all of these', kind: 'all', all: totals.generated.bytes, share: totals.generated.share, same: totals.generated.redundant, close: totals.generated.close, instructions: null});
  const part = (n, row) => isNumber(n) && row.all > 0 ? percent(n / row.all) : unknown();
  return el('section', null, el('h2', null, 'Values that did not change'),
    el('p.soft', null, 'R as RedSpy defines it: the part of the written bytes whose value did not change or, for floating-point numbers, changed by less than the tolerance. An instruction counts if its first value did not change.'),
    table('Values that did not change', [
      {title: 'Values', cell: r => r.what, key: r => r.what},
      {title: 'Numbers', cell: r => r.kind, key: r => r.kind},
      {title: 'R', cell: r => shareBar(r.share), key: r => r.share, number: true},
      {title: 'Precise', cell: r => part(r.same, r), key: r => r.same / r.all, number: true},
      {title: 'Approximate', cell: r => r.close === null ? el('span.soft', null, 'not asked') : part(r.close, r), key: r => (r.close || 0) / r.all, number: true},
      {title: 'Bytes in all', cell: r => bytes(r.all), key: r => r.all, number: true},
      {title: 'Of all instructions', cell: r => isNumber(r.instructions) ? percent(r.instructions) : unknown(), key: r => r.instructions, number: true},
    ], rows));
}

function viewRedundancies() {
  const totals = data.redundancy_totals;
  if (!totals) return [el('h1', null, 'Redundant accesses'), notMeasured('Stores that nothing reads, and loads and stores of what is there already', '--detect redundancy')];
  return [
    el('h1', null, 'Redundant accesses'),
    el('p.lead', null, Object.keys(REDUNDANT).some(redundantExact) ?
      'Exact: counted, not sampled, in all of the run or in the windows that were traced.' :
      'Sampled stores and loads, each followed by a watchpoint until the next access to the same bytes.'),
    tiles(Object.keys(REDUNDANT).filter(kind => totals[kind] || !ONLY_COUNTED.includes(kind)).map(kind => {
      const total = totals[kind], [title, what] = REDUNDANT[kind];
      if (total && !total.exact && total.decided < FEW_DECIDED) return [title, 'unknown', `too few: ${total.decided} of ${plural(total.candidates, 'watchpoint', 'watchpoints')} decided`, what];
      const share = total && told(total, REDUNDANT[kind][2]);
      return total ? [title, percent(share.share), total.exact ? 'exact' : `of ${share.of}; 95\u00a0% interval ${interval(share.ci)}`,
        (total.exact ? `${what}; ${amount(total, total.wasted)} of ${amount(total, total.decided)}` : `${what}; ${count(total.decided)} of ${count(total.candidates)} watchpoints`) + (total.approximate > 0.005 ? `; ${percent(total.approximate)} more change it by less than ${tolerance()}` : '') + (total.undecided > 0.005 ? `; ${percent(total.undecided)} undecided` : '')] :
        [title, 'unknown', 'no watchpoint was decided', what];
    })),
    ONLY_COUNTED.some(kind => !totals[kind]) && el('p.note.missing', null, el('strong', null, el('span', {'aria-hidden': 'true'}, '⊘ '), 'Not measured in this run: '),
      prose(ONLY_COUNTED.filter(kind => !totals[kind]).map(kind => `${REDUNDANT[kind][0].toLowerCase()} (${REDUNDANT[kind][1]})`).join(', ') + '. '), el('code', null, 'lwp collect -e exact --detect values,registers,spatial'), ' measures them.'),
    valuesTable(totals),
    leftOut('redundancies'),
    list(data.redundancies).length ? Object.keys(REDUNDANT).map(pairsTable) : nothingFound('No pair of accesses stood out.'),
  ];
}

function viewRedundancy(index) {
  const pair = at(data.redundancies, index);
  if (!pair) return missingView('There is no such pair in this result.');
  const [title, what, of] = redundantKind(pair), object = at(data.objects, pair.object), cause = causeName(pair.cause);
  return [
    el('p.crumbs', null, el('a', {href: '#redundancies'}, 'Redundant accesses'), ' › ' + title.toLowerCase()),
    el('h1', null, title + ' in ', ownFrame(pair.second) ? clip(brief(frameName(ownFrame(pair.second))), 60) : 'unknown code', ' ',
      el(cause ? 'span.tag.cause' : 'span.tag.cause.soft', null, cause || 'cause unknown')),
    el('p.lead', null, prose(pair.meaning)),
    tiles([
      [`Share of ${told(pair, of).of}`, isSure(pair) ? percent(told(pair, of).share) : atMost(told(pair, of).ci[1]), redundantExact(pair.kind) ? `exact: ${amount(data.redundancy_totals[pair.kind], pair.amount)}` : `95\u00a0% interval ${interval(told(pair, of).ci)}`, what],
      isNumber(pair.own_share) && ['Equal elements', percent(pair.own_share), 'of the elements looked at here have a value that another one has'],
      isNumber(pair.neighbour_share) && ['Equal to the one before', percent(pair.neighbour_share), 'of the elements looked at here'],
      [redundantExact(pair.kind) ? 'Times' : 'Pairs seen', count(pair.samples), engineName()],
      pair.line && isNumber(pair.line.time_at_stake) && ['Time at stake', atMost(pair.line.time_at_stake), pair.line.sure ? 'of the program\u2019s time' : 'seen, not sure'],
      placesTile(pair.places),
      ['Data', object ? clip(objectName(object), 40) : 'unknown', isNumber(pair.bytes) ? `${bytes(pair.bytes)} at a time` : null, object && el('a', {href: '#object/' + pair.object}, 'all about it')],
      pair.kind !== 'dead_store' && ['Values', pair.approximate > 0 ? 'changed a little' : 'equal', pair.approximate > 0 ? `by less than ${tolerance()}` : null],
    ].filter(Boolean)),
    el('section', null, el('h2', null, 'What to do'), el('p', null, prose(pair.remedy))),
    pair.kind === 'spatial' ? el('section', null, el('h2', null, 'The store'), accessSide(1, 'Stored in', pair.second, 0, true)) :
      el('section', null, el('h2', null, pair.kind === 'computation' ? 'The two computations' : pair.kind === 'register' ? 'The two writes' : 'The two accesses'), accessPair(pair)),
    otherPaths(pair),
  ];
}

Object.assign(DRAW, {redundancies: viewRedundancies, redundancy: viewRedundancy});
