/* The result that the page holds, and how its loops, objects and frames are called. */

let page, data, sources;
function take(text) {
  page = JSON.parse(text);
  data = page.analysis || {};
  data.run = data.run || {};
  sources = new Map(list(page.sources && page.sources.files).map(file => [file.path, file]));
}
take(document.getElementById('lwp-data').textContent);

/* The text in the elements of this class, which is deflated; null without any. */
async function inflated(name) {
  const pieces = [...document.querySelectorAll('.' + name)];
  if (!pieces.length) return null;
  if (typeof DecompressionStream === 'undefined') throw new Error('This browser cannot unpack the rest of the report; Chrome 80, Firefox 113, Safari 16.4 and later can.');
  const packed = atob(pieces.map(piece => piece.textContent).join(''));
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
}

/* What the first view needs stands in front, the whole result and the scripts of the other views behind it. */
async function unpack() {
  if (document.readyState === 'loading') await new Promise(done => document.addEventListener('DOMContentLoaded', done, {once: true}));
  const [result, scripts] = await Promise.all([inflated('lwp-rest'), inflated('lwp-later')]);
  if (result) take(result);
  if (!scripts) return;
  const script = document.createElement('script'); /* runs at once; the page's policy knows its hash */
  script.textContent = scripts;
  document.body.append(script);
  if (!scriptsAreHere()) throw new Error('The browser did not run the scripts of this view.');
}

let unpacking = null;
const whole = () => unpacking = unpacking || unpack();

function frameName(frame) {
  if (frame.function) return frame.function;
  const module = baseName((at(data.modules, frame.module) || {}).path);
  return module && isNumber(frame.address) ? `${module}+0x${frame.address.toString(16)}` : 'unknown function';
}

/* A file's path where it says more than its name: from the folder that the program ran in, as an exported page has it. */
function folderPath(path) {
  const from = data.run.cwd ? data.run.cwd + '/' : null, shown = from && path.startsWith(from) ? path.slice(from.length) : path;
  return shown.includes('/') ? shown : '';
}

function linesOf(loop) {
  if (!isNumber(loop.first_line)) return '';
  return ':' + loop.first_line + (loop.last_line > loop.first_line ? '–' + loop.last_line : '');
}

function loopPlace(loop) {
  if (!loop) return unknown('unknown loop');
  return [el('strong', {title: loop.function}, brief(loop.function || 'unknown function')), loop.kind === 'function' && el('span.soft', null, ' outside of loops'),
    loop.file ? el('span.where', {title: loop.file}, ' ', baseName(loop.file), el('span.nowrap', null, linesOf(loop))) : el('span.where', null, isNumber(loop.address) ? ` at 0x${loop.address.toString(16)}, no line information` : ' no line information'),
    isNumber(loop.level) && el('span.soft', null, `, loop ${loop.level} of the nest`), loop.inlined_into && el('span.soft', null, ', ', inlinedText(loop))];
}

const inlinedText = loop => `inlined into ${brief(frameName(loop.inlined_into))}${loop.inlined_into.file ? ` ${baseName(loop.inlined_into.file)}${isNumber(loop.inlined_into.line) ? ':' + loop.inlined_into.line : ''}` : ''}`;
const loopText = loop => loop ? `${loop.function || ''} ${loop.file || ''}${loop.inlined_into ? ' ' + inlinedText(loop) : ''}` : '';

const callName = name => /\)( \w+)?$/.test(name) ? name : name + '()';

/* Objects that are called the same are distinguished by the functions that allocate them, or by the innermost call in which the paths there differ. */
function nameAmong(object, namesakes) {
  const allocates = o => o.site && o.site.function, others = namesakes.filter(o => o !== object);
  if (others.some(o => allocates(o) && allocates(object) && allocates(o) !== allocates(object))) return `${object.name} in ${callName(brief(allocates(object)))}`;
  for (const other of others) {
    const frames = framesOf(other.context), differs = framesOf(object.context).find((frame, i) => JSON.stringify(frame) !== JSON.stringify(frames[i]));
    if (differs) return `${object.name}, below ${placeText(differs)}`;
  }
  return object.name;
}

let namedObjects, objectNames; /* tables ask for each name while they sort */
function objectName(object) {
  if (!object || !object.name) return 'unknown';
  if (namedObjects !== data.objects) {
    const namesakes = new Map(), named = o => namesakes.get(`${o.name}\n${o.type}`);
    namedObjects = data.objects;
    list(namedObjects).forEach(o => named(o) ? named(o).push(o) : namesakes.set(`${o.name}\n${o.type}`, [o]));
    objectNames = new Map(list(namedObjects).map(o => [o, nameAmong(o, named(o))]));
  }
  return objectNames.get(object) || object.name;
}

/* A name that may end a line behind "->", never inside of it. */
const breakable = name => clip(name).split('->').map((part, i) => i ? [el('span.nowrap', null, '->'), el('wbr'), part] : part);
const objectLink = index => el('a', {href: '#object/' + index}, breakable(objectName(at(data.objects, index))));

const placeText = frame => `${frameName(frame)}${frame.file ? ` (${baseName(frame.file)}${isNumber(frame.line) ? ':' + frame.line : ''})` : ''}`;

function allocationPlace(object) {
  const context = at(data.contexts, object.context), frame = object.site || (context && list(context.frames)[0]);
  return frame ? placeText(frame) : null;
}

function callPath(index) {
  const context = at(data.contexts, index);
  if (!context) return unknown();
  return el('ol.path', null, list(context.frames).map(frame => el('li', null, el('strong', {title: frame.function}, brief(frameName(frame))),
    frame.inlined && el('span.soft', null, ' inlined'),
    frame.file ? el('span.where', {title: frame.file}, ' ', sourceLink(frame.file, frame.line || 1, baseName(frame.file) + (isNumber(frame.line) ? ':' + frame.line : ''))) :
      el('span.where', null, ' ', baseName((at(data.modules, frame.module) || {}).path) || ''))),
    context.various && el('li.soft', null, 'various callers'));
}

function programName() {
  return clip(baseName(list(data.run.command)[0]) || page.name || 'the program', 60);
}

const framesOf = context => list((at(data.contexts, context) || {}).frames);

/* The innermost frame whose source is here: the C library's own seldom says much. */
function ownFrame(context) {
  const frames = framesOf(context);
  return frames.find(frame => frame.file && isNumber(frame.line) && sources.has(frame.file) && !sources.get(frame.file).missing) || frames[0];
}

/* kind: [title, what is redundant of it, of what its share is, its first access, its second] */
const REDUNDANT = {
  dead_store: ['Dead stores', 'overwritten before anything read them', 'bytes stored', 'Stored in', 'Overwritten in'],
  overwritten: ['Overwritten by other threads', 'another thread stored there before anything read them', 'bytes stored', 'Stored in', 'Overwritten in'],
  silent_store: ['Silent stores', 'left the value as it was', 'bytes stored', 'Stored in', 'Stored again in'],
  silent_load: ['Silent loads', 'loaded again what had not changed', 'bytes loaded', 'Loaded in', 'Loaded again in'],
  computation: ['Computations', 'repeated with the same operands', 'computations', 'Computed in', 'Computed again in'],
  register: ['Registers', 'written with the value they had', 'bytes written to registers', 'Written in', 'Written again in'],
  spatial: ['Equal elements', 'array elements that have the same value as others', 'elements looked at', 'Stored in', 'Stored in'],
};
const ONLY_COUNTED = ['computation', 'register', 'spatial', 'overwritten']; /* and only when asked for */
const redundantKind = pair => REDUNDANT[pair.kind] || [pair.kind || 'unknown', '', 'accesses', 'First', 'Second'];

/* What this page lacks because the result is large: a sentence, or nothing. */
const LEFT_OUT = {objects: ['data object', 'data objects', 'without fields, loops and call paths here'], names: ['of them', 'of them', 'not even named'], redundancies: ['redundant pair', 'redundant pairs', 'left out'],
  locality: ['row of locality', 'rows of locality', 'left out'], regions: ['code region', 'code regions', 'without their matrices here']};
function leftOut(...what) {
  const items = list(page.left_out).filter(item => what.includes(item.what) && LEFT_OUT[item.what]);
  return items.length > 0 && el('p.note', null, 'To keep this page small: ', items.map(item => { const [one, many, how] = LEFT_OUT[item.what]; return `${plural(item.count, one, many)} below ${item.share >= 0.0005 ? percent(item.share) : (item.share * 100).toPrecision(2) + '\u00a0%'} ${how}. `; }),
    page.mode === 'served' && el('a', {href: location.pathname.endsWith('/') ? 'analysis.json' : location.pathname.replace(/.*\//, '') + '.json'}, 'All of it as JSON.'));
}

const engineName = () => `${data.run.engine || 'unknown'} engine`;

/* ---- what was not measured is never shown like what was not found ---- */

const shellWord = word => /^[\w./=:,+@%-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
const commandLine = () => list(data.run.command).map(word => shellWord(String(word))).join(' ');

/* `options`: those of lwp collect that would have measured it. */
function notMeasured(what, options) {
  const command = `lwp collect ${options} -- ${commandLine()}`;
  return el('div.not-measured', null, el('p', null, el('strong', null, el('span', {'aria-hidden': 'true'}, '⊘ '), 'Not measured in this run. '), `${what}: nothing is known, good or bad. To find out:`),
    list(data.run.command).length > 0 && el('div.code', null, copyButton(command), code(command, 'A command that measures it')));
}

const nothingFound = text => el('p.nothing-found', null, el('span', {'aria-hidden': 'true'}, '✓ '), el('strong', null, 'Measured, nothing found. '), text);

/* So little was decided that nothing found says nothing. */
const FEW_DECIDED = 20;
const nothingYet = text => el('p.nothing-found', null, el('span', {'aria-hidden': 'true'}, '⊘ '), el('strong', null, 'Too little was measured to say. '), text);

function severity(level) {
  const known = ['high', 'medium', 'low'].includes(level) ? level : 'low';
  return el(`span.severity.${known}`, null, known + ' severity');
}

/* ◔ ◑ ● : how sure. What is little sure looks like it. */
function confidence(level) {
  const known = ['high', 'medium', 'low'].includes(level) ? level : null;
  return known && el(`span.confidence.${known}`, null, el('span', {'aria-hidden': 'true'}, {high: '● ', medium: '◑ ', low: '◔ '}[known]), known + ' confidence');
}

function tiles(rows) {
  return el('dl.tiles', null, rows.map(([name, value, detail, note]) =>
    el('div', null, el('dt', null, name), el('dd.big', null, value), detail && el('dd', null, detail), note && el('dd.soft', null, note))));
}

// Whether the fields by address and by code are the same: both witnesses must agree.
function agreementText(object) {
  const agreement = object && object.agreement;
  if (!agreement) return null;
  return isNumber(agreement.share) ? `address and code name the same field for ${percent(agreement.share)} of the accesses` : 'fields known by addresses only, the code names none';
}

const missingView = text => [el('h1', null, 'Not here'), el('p', null, text), el('p', null, el('a', {href: '#findings'}, 'To the findings'))];
