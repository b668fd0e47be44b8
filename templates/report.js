/* The views and the way between them. */

/* ---- the way between views ---- */

/* A number in the menu counts findings, not rows; none: nothing to say. */
const aboutCount = (...kinds) => list(data.findings).filter(f => kinds.includes(f.kind)).length || null;

const RESULT_VIEWS = {
  findings: {title: 'Findings', menu: () => list(data.findings).length},
  split: {under: 'findings', item: true},
  regroup: {under: 'findings', item: true},
  objects: {title: 'Data', menu: () => null},
  object: {under: 'objects', item: true},
  stalls: {title: 'Memory stall', menu: () => null},
  loops: {title: 'Code', menu: () => null},
  loop: {under: 'loops', item: true},
  redundancies: {title: 'Redundancy', measured: () => data.redundancy_totals, menu: () => aboutCount('redundancy')},
  redundancy: {under: 'redundancies', item: true},
  locality: {title: 'Locality', item: 'also', measured: () => data.locality, menu: () => aboutCount('locality')},
  threads: {title: 'Threads', menu: () => aboutCount('sharing', 'communication'), measured: () => data.sharing || data.communication},
  region: {under: 'threads', item: true},
  sharing: {under: 'threads', item: true},
  run: {title: 'Run', menu: () => null},
};

/* Of two results: what changed, then the report of the second one. */
const VIEWS = page.view === 'running' ? {running: {title: 'Progress', menu: () => null}} : page.view !== 'diff' ? RESULT_VIEWS :
  {diff: {title: 'Comparison', menu: () => null}, structure: {under: 'diff', item: true}, ...RESULT_VIEWS};

function drawMenu(current) {
  document.getElementById('nav').replaceChildren(...page.index ? [el('a', {href: page.index}, 'All results')] : [], ...Object.entries(VIEWS).filter(([, view]) => view.title).map(([name, view]) =>
    el('a', {href: '#' + name, 'aria-current': name === current ? 'page' : null}, view.title,
      view.measured && !view.measured() ? el('span.count', {title: 'not measured in this run'}, el('span', {'aria-hidden': 'true'}, '⊘'), el('span.aside', null, ' not measured')) : isNumber(view.menu()) && el('span.count', {title: plural(view.menu(), 'finding', 'findings')}, count(view.menu())))));
  requestAnimationFrame(showCurrent); /* when the page is laid out anyway */
}

/* A phone has room for a few entries: the current one is among them. */
function showCurrent() {
  const here = document.querySelector('nav [aria-current]');
  if (here) here.parentNode.scrollLeft = here.offsetLeft - (here.parentNode.clientWidth - here.offsetWidth) / 2;
}

/* A heading without the chips behind it. */
const ownText = node => [...node.childNodes].filter(child => child.nodeType === Node.TEXT_NODE || !/severity|tag|verdict|soft/.test(child.className)).map(child => child.textContent).join('').trim();

let drawnBefore = false, shownView = null;
let below = null; /* draws what is below the first screen, until that is done */
const drawnAt = () => { shownView = location.hash.split('?')[0]; };
const settled = () => shownView === location.hash.split('?')[0] && !below;
const redraw = () => { const at = window.scrollY; draw(); window.scrollTo(0, at); }; /* the same view in another state */

/* What the address names; of this only the first view does without the whole result and all scripts. */
function draw() {
  const main = document.getElementById('main');
  if (location.hash === '#main') { main.focus(); return; }
  const [name, item] = location.hash.slice(1).split('?')[0].split('/'), first = Object.keys(VIEWS)[0];
  const known = Object.hasOwn(VIEWS, name) ? name : first;
  if (DRAW[known] && (known === first || (!page.partial && scriptsAreHere()))) show(main, known, item);
  else whole().then(draw, problem => { main.replaceChildren(el('h1', null, 'This view cannot be shown'), el('p', null, problem.message)); drawnAt(); });
}

/* A result that breaks its schema: say so, and keep the other views usable. */
function tried(make) {
  try {
    return [make()].flat(Infinity);
  } catch (problem) {
    return [el('h1', null, 'This view cannot be drawn'), el('p', null, 'The result does not have the form expected: ' + problem.message)];
  }
}

/* What a view gives as functions lies below the first screen: when the page opens, they are called after the screen is there. */
function drawParts(main, parts) {
  const nodes = some => some.map(part => typeof part === 'function' ? tried(part) : part).flat().filter(node => node instanceof Node);
  const cut = drawnBefore ? -1 : parts.findIndex(part => typeof part === 'function');
  main.replaceChildren(...nodes(cut < 0 ? parts : parts.slice(0, cut)));
  const rest = () => { if (below === rest) { below = null; main.append(...nodes(parts.slice(cut))); } };
  below = cut < 0 ? null : rest;
  if (below) requestAnimationFrame(() => setTimeout(rest));
}

function show(main, known, item) {
  const view = VIEWS[known];
  tablesDrawn = 0;
  drawParts(main, tried(() => page.view === 'index' ? DRAW.index() : view.item && (item !== undefined || view.item !== 'also') ? DRAW[known](/^\d{1,9}$/.test(item || '') ? Number(item) : -1) : DRAW[known]()));
  const help = page.view === 'index' || page.view === 'running' ? null : helpOf(known), lead = main.querySelector('.lead') || main.querySelector('h1');
  if (help && lead) lead.after(help);
  if (page.view !== 'index') drawMenu(view.under || known);
  const heading = main.querySelector('h1');
  document.title = `${heading ? clip(ownText(heading), 80) : programName()} – lwp`;
  drawnAt();
  if (drawnBefore) { window.scrollTo(0, 0); main.focus({preventScroll: true}); }
  drawnBefore = true;
}

function drawFrame() {
  document.getElementById('tools').replaceChildren(...[(page.view === 'result' || page.view === 'diff') && drawSearch(), themeButton()].filter(Boolean));
  document.getElementById('run-name').replaceChildren(el('span', {title: list(data.run.command).join(' ')}, page.view === 'index' ? '' : page.view === 'diff' ? `${sideName('before')} → ${sideName('after')}` : programName()));
  document.getElementById('footer').replaceChildren(el('p', null, VIEWS === RESULT_VIEWS && page.view !== 'index' && [PURPOSE, el('br')], page.view !== 'result' ? `lwp ${page.lwp}. ${PURPOSE}` :
    `lwp ${page.lwp} · ${measuredBy()} · ${page.mode === 'exported' ? 'one file, loads nothing' : 'served from this machine'}`));
}

/* What is folded away on a screen stands on paper, unless it is pages long. */
window.addEventListener('beforeprint', () => { if (below) below(); document.querySelectorAll('main .finding .fold:not([open], .long)').forEach(node => { node.open = true; node.dispatchEvent(new Event('toggle')); }); });

/* "/" goes to the search, as on many pages. */
window.addEventListener('keydown', event => {
  const search = document.getElementById('search') || document.querySelector('main .filter input');
  if (event.key !== '/' || !search || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  search.focus();
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
