/* The views and the way between them; an index when several results are served. */

/* ---- several results ---- */

function viewIndex() {
  return [el('h1', null, 'Results'), el('p.lead', null, `${plural(list(page.results).length, 'result', 'results')} in this folder.`),
    table('Results', [
      {title: 'Result', cell: r => el('a', {href: 'r/' + r.address}, r.name), key: r => r.name, text: r => r.name},
      {title: 'First finding', wide: true, cell: r => r.title ? [prose(brief(r.title)), r.findings > 1 && el('span.soft', null, ` and ${r.findings - 1} more`)] : r.running ? el('span.running', null, 'running') :
        !r.analysed ? unknown('not analysed yet') : r.samples > 0 || r.engine === 'exact' ? 'none' : unknown('nothing was sampled'), text: r => r.title || ''},
      {title: 'Expected', cell: r => isRange(r.expected_speedup) ? gainOf(r) : '', key: r => isRange(r.expected_speedup) ? r.expected_speedup[1] : 0, number: true},
      {title: 'Command', cell: r => list(r.command).length ? el('code', {title: r.command.join(' ')}, clip([baseName(r.command[0]), ...r.command.slice(1)].join(' '), 100)) : '', key: r => list(r.command).join(' '), text: r => list(r.command).join(' ')},
      {title: 'Started', cell: r => r.started ? el('span.nowrap', {title: dateText(r.started)}, dateText(r.started).slice(0, 16)) : unknown(), key: r => String(r.started || '')},
      {title: 'Samples', cell: r => r.analysed ? count(r.samples) : '', key: r => r.samples, number: true},
    ], list(page.results))];
}

/* ---- the way between views ---- */

const DIFF_VIEWS = {
  diff: {title: 'Before and after', draw: viewDiff, menu: () => null},
  structure: {under: 'diff', draw: viewDiffStructure, item: true},
};

const RESULT_VIEWS = {
  findings: {title: 'Findings', draw: viewFindings, menu: () => list(data.findings).length},
  split: {under: 'findings', draw: viewSplit, item: true},
  regroup: {under: 'findings', draw: viewRegroup, item: true},
  objects: {title: 'Data', draw: viewObjects, menu: () => list(data.objects).length},
  object: {under: 'objects', draw: viewObject, item: true},
  loops: {title: 'Code', draw: viewLoops, menu: () => list(data.loops).length},
  loop: {under: 'loops', draw: viewLoop, item: true},
  redundancies: {title: 'Redundancy', draw: viewRedundancies, measured: () => data.redundancy_totals, menu: () => data.redundancies ? list(data.redundancies).length : null},
  redundancy: {under: 'redundancies', draw: viewRedundancy, item: true},
  locality: {title: 'Locality', draw: viewLocality, item: 'also', measured: () => data.locality, menu: () => data.locality ? list(data.locality).length : null},
  threads: {title: 'Threads', draw: viewThreads, menu: () => data.sharing || data.communication ? list(data.sharing).length || null : null, measured: () => data.sharing || data.communication},
  region: {under: 'threads', draw: viewRegion, item: true},
  sharing: {under: 'threads', draw: sharedLine, item: true},
  run: {title: 'Run', draw: viewRun, menu: () => null},
};

const RUNNING_VIEWS = {running: {title: 'Progress', draw: viewRunning, menu: () => null}};

const VIEWS = page.view === 'diff' ? DIFF_VIEWS : page.view === 'running' ? RUNNING_VIEWS : RESULT_VIEWS;

function drawMenu(current) {
  document.getElementById('nav').replaceChildren(...Object.entries(VIEWS).filter(([, view]) => view.title).map(([name, view]) =>
    el('a', {href: '#' + name, 'aria-current': name === current ? 'page' : null}, view.title,
      view.measured && !view.measured() ? el('span.count', {title: 'not measured in this run'}, el('span', {'aria-hidden': 'true'}, '⊘'), el('span.aside', null, ' not measured')) : isNumber(view.menu()) && el('span.count', null, count(view.menu())))));
  showCurrent();
}

/* A phone has room for a few entries: the current one is among them. */
function showCurrent() {
  const here = document.querySelector('nav [aria-current]');
  if (here) here.parentNode.scrollLeft = here.offsetLeft - (here.parentNode.clientWidth - here.offsetWidth) / 2;
}

let drawnBefore = false;

function draw() {
  const main = document.getElementById('main');
  if (location.hash === '#main') { main.focus(); return; }
  const [name, item] = location.hash.slice(1).split('/');
  const known = Object.hasOwn(VIEWS, name) ? name : Object.keys(VIEWS)[0], view = VIEWS[known];
  let content;
  try {
    content = page.view === 'index' ? viewIndex() : view.item && (item !== undefined || view.item !== 'also') ? view.draw(/^\d{1,9}$/.test(item || '') ? Number(item) : -1) : view.draw();
  } catch (problem) { /* a result that breaks its schema: say so, keep the other views usable */
    content = [el('h1', null, 'This view cannot be drawn'), el('p', null, 'The result does not have the form expected: ' + problem.message)];
  }
  main.replaceChildren(...content.flat(Infinity).filter(node => node instanceof Node));
  if (page.view !== 'index') drawMenu(view.under || known);
  const heading = main.querySelector('h1');
  document.title = `${heading ? clip(heading.textContent, 80) : programName()} – lwp`;
  if (drawnBefore) { window.scrollTo(0, 0); main.focus({preventScroll: true}); }
  drawnBefore = true;
}

function drawFrame() {
  document.getElementById('run-name').replaceChildren(el('span', {title: list(data.run.command).join(' ')}, page.view === 'index' ? '' : page.view === 'diff' ? `${sideName('before')} → ${sideName('after')}` : programName()));
  document.getElementById('footer').replaceChildren(el('p', null, page.view !== 'result' ? `lwp ${page.lwp}` :
    `lwp ${page.lwp} · ${measuredBy()} · ${page.mode === 'exported' ? 'one file, loads nothing' : 'served from this machine'}`));
}

/* What is folded away on a screen stands on paper. */
window.addEventListener('beforeprint', () => document.querySelectorAll('main .finding .fold:not([open])').forEach(node => { node.open = true; node.dispatchEvent(new Event('toggle')); }));

/* "/" goes to the view's filter, as on many pages. */
window.addEventListener('keydown', event => {
  const filter = document.querySelector('main .filter input');
  if (event.key !== '/' || !filter || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  filter.focus();
});
/* A served page looks whether its result has changed and then loads itself again; the place in it stays. */
const LOOK_MS = 2000;

async function follow(known) {
  let tag = known;
  try {
    if (!document.hidden) tag = (await fetch(location.pathname, {method: 'HEAD', cache: 'no-store'})).headers.get('ETag') || known;
  } catch (problem) {
    document.getElementById('footer').append(el('p.warning', null, 'lwp serve has ended: this page will not change any more.'));
    return;
  }
  if (known && tag !== known) location.reload();
  else setTimeout(follow, LOOK_MS, tag);
}

if (page.mode === 'served') follow(null);
window.addEventListener('hashchange', draw);
window.addEventListener('resize', showCurrent);
drawFrame();
draw();
