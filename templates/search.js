/* One search over everything in the page ("/"), the theme, and what a view keeps in the address: filters, order, choices. */

/* ---- "#view/item?name=value&..." ---- */

function viewState() {
  const query = location.hash.split('?')[1];
  return query ? Object.fromEntries(new URLSearchParams(query)) : {};
}

/* null removes; the view is not drawn again, and Back comes back to it as it was left. */
function setState(values) {
  const state = {...viewState(), ...values}, place = location.hash.split('?')[0] || '#' + Object.keys(VIEWS)[0];
  const query = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== null && value !== '')).toString();
  history.replaceState(history.state, '', place + (query ? '?' + query : ''));
}

/* ---- everything ---- */

const FOUND_MAX = 20;

function searchable() {
  const rows = [];
  list(data.findings).forEach(f => { const href = findingLink(f); if (href) rows.push({kind: 'finding', text: f.title, href}); });
  list(data.objects).forEach((o, i) => rows.push({kind: 'data', text: objectName(o), more: [o.type, allocationPlace(o)].filter(Boolean).join(' '), href: '#object/' + i}));
  list(data.objects).forEach((o, i) => list(o.fields).forEach(f => { if (f.name) rows.push({kind: 'field', text: `${o.type || objectName(o)}.${f.name}`, href: '#object/' + i}); }));
  list(data.loops).forEach((l, i) => rows.push({kind: 'loop', text: `${l.function || 'unknown function'} ${l.file ? baseName(l.file) + linesOf(l) : ''}`, more: l.file || '', href: '#loop/' + i}));
  list(data.redundancies).forEach((p, i) => { const frame = ownFrame(p.second); rows.push({kind: 'redundancy', text: `${redundantKind(p)[0]} in ${frame ? frameName(frame) : 'unknown code'}`, more: p.cause || '', href: '#redundancy/' + i}); });
  list(data.sharing).forEach((s, i) => rows.push({kind: 'sharing', text: s.name || 'unknown data', href: '#sharing/' + i}));
  list(data.communication && data.communication.unit === 'count' ? data.communication.regions : []).forEach((r, i) => rows.push({kind: 'region', text: r.name || 'unknown', href: '#region/' + i}));
  list((data.stalls || {}).frames).forEach(f => { if (f.function) rows.push({kind: 'function', text: f.function, more: f.file || '', href: '#stalls?q=' + encodeURIComponent(f.function)}); });
  Object.entries(VIEWS).forEach(([name, view]) => { if (view.title) rows.push({kind: 'view', text: view.title, href: '#' + name}); });
  Object.entries(GLOSSARY).forEach(([term, text]) => rows.push({kind: 'term', text: term, more: text, href: null}));
  return rows;
}

/* What begins with the words comes first, then what has them in its name, then the rest. */
function searchFor(rows, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), rank = row => { const at = row.text.toLowerCase().indexOf(wanted[0]); return at === 0 ? 0 : at > 0 ? 1 : 2; };
  return rows.filter(row => { const text = `${row.text} ${row.more || ''} ${row.kind}`.toLowerCase(); return wanted.every(word => text.includes(word)); }).map(row => ({row, rank: rank(row)})).sort((a, b) => a.rank - b.rank).map(found => found.row);
}

function drawSearch() {
  const found = el('ul.found', {id: 'found', role: 'listbox', 'aria-label': 'Found', hidden: true}), input = el('input', {type: 'search', id: 'search', placeholder: 'Search (/)', 'aria-label': 'Search everything', spellcheck: 'false', autocomplete: 'off', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found'});
  let rows = null, chosen = 0;
  const close = () => { found.hidden = true; input.setAttribute('aria-expanded', 'false'); };
  const go = row => { if (row && row.href) { location.hash = row.href; input.value = ''; close(); } };
  let shown = [];
  const draw = () => {
    if (!rows && input.value.trim()) { whole().catch(() => {}).then(() => { rows = rows || searchable(); draw(); }); return; }
    shown = input.value.trim() ? searchFor(rows, input.value).slice(0, FOUND_MAX) : [];
    chosen = Math.max(0, Math.min(chosen, shown.length - 1));
    found.replaceChildren(...(shown.length ? shown.map((row, i) => el('li', {role: 'option', id: `found-${i}`, 'aria-selected': i === chosen ? 'true' : 'false', onmousedown: event => { event.preventDefault(); go(row); }}, el('span.tag', null, row.kind), ' ', clip(brief(row.text), 90), row.more && el('span.soft', null, ' ', clip(row.more, 90)))) :
      [el('li.soft', {role: 'option', 'aria-selected': 'false'}, 'Nothing found')]));
    found.hidden = !input.value.trim();
    input.setAttribute('aria-expanded', found.hidden ? 'false' : 'true');
    if (shown.length) input.setAttribute('aria-activedescendant', `found-${chosen}`); else input.removeAttribute('aria-activedescendant');
  };
  input.addEventListener('input', () => { chosen = 0; draw(); });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { chosen += event.key === 'ArrowDown' ? 1 : -1; draw(); event.preventDefault(); }
    else if (event.key === 'Enter') go(shown[chosen]);
    else if (event.key === 'Escape') { input.value = ''; close(); }
  });
  return el('div.search', null, input, found);
}

/* ---- light, dark, or as the system has it ---- */

const THEMES = ['system', 'light', 'dark'];
function stored(set) {
  try { if (set !== undefined) localStorage.setItem('lwp-theme', set); return localStorage.getItem('lwp-theme'); } catch (refused) { return set || null; } /* a file may not store anything */
}

function applyTheme(theme) {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function themeButton() {
  const kept = stored();
  let theme = THEMES.includes(kept) ? kept : 'system';
  const label = () => `Theme: ${theme}`, button = el('button.theme', {type: 'button', title: 'light, dark, or as the system has it'}, label());
  applyTheme(theme);
  button.addEventListener('click', () => { theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]; stored(theme); applyTheme(theme); button.textContent = label(); });
  return button;
}
