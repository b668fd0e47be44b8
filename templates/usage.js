/* What a new layout changes in the lines of the hottest loop: their text before and after. Only accesses whose form is known are
 * rewritten (array[index].field, pointer->field, array[index]); a loop without any has no such lines. */

const INDEX = '\\[((?:[^\\[\\]]|\\[[^\\[\\]]*\\])*)\\]';
const escapeWord = word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/* [[from, to(match...)]] for each field that moves. */
function splitRewrites(split) {
  const tag = String(split.type || '').replace(/^(struct|class|union)\s+/, '').replace(/.*::/, ''), rewrites = [];
  if (!tag || ['reorder', 'pool', 'order', 'in-place'].includes(split.kind) || split.caution) return rewrites;
  const structures = [...String(split.declaration || '').matchAll(/struct\s+(\w+)\s*\{([^}]*)\}/g)].map(([, name, body]) => ({name, body}));
  const home = field => structures.find(s => new RegExp(`\\b${escapeWord(field)}\\b\\s*(\\[[^\\]]*\\])*\\s*;`).test(s.body));
  for (const group of [...list(split.groups), split.cold || {}])
    for (const field of list(group.fields)) {
      const structure = /^\w+$/.test(field) && home(field), suffix = structure && structure.name.startsWith(tag) ? structure.name.slice(tag.length) : null;
      if (suffix === null || suffix === '') continue;
      if (split.link === 'pointer') rewrites.push([new RegExp(`->${field}\\b`, 'g'), () => `->${suffix.slice(1)}->${field}`]);
      else rewrites.push([new RegExp(`\\b(\\w+)${INDEX}\\.${field}\\b`, 'g'), (all, name, index) => `${name}${suffix}[${index}].${field}`]);
    }
  return rewrites;
}

const regroupRewrites = group => list(group.names).filter(name => /^\w+$/.test(name)).map(name => [new RegExp(`\\b${name}${INDEX}`, 'g'), (all, index) => `group[${index}].${name}`]);

/* The hottest loop of these objects whose source is here: its lines, as [before, after] where they change. */
function usageLines(objects, rewrites) {
  const uses = new Map();
  objects.forEach(index => list((at(data.objects, index) || {}).loops).forEach(use => uses.set(use.loop, (uses.get(use.loop) || 0) + (use.share || 0))));
  for (const [index] of [...uses].sort((a, b) => b[1] - a[1])) {
    const loop = at(data.loops, index), file = loop && sources.get(loop.file), lines = [];
    if (!file || file.missing || !isNumber(loop.first_line)) continue;
    list(file.excerpts).forEach(excerpt => list(excerpt.lines).forEach((text, i) => {
      const number = excerpt.first + i;
      if (number < loop.first_line || number > Math.max(loop.first_line, loop.last_line || 0)) return;
      const after = rewrites.reduce((now, [from, to]) => now.replace(from, to), text);
      if (after !== text) lines.push({number, before: text, after});
    }));
    if (lines.length) return {loop, index, lines: lines.slice(0, 12)};
  }
  return null;
}

function usageDiff(kind, advice) {
  const rewrites = kind === 'split' ? splitRewrites(advice) : kind === 'regroup' ? regroupRewrites(advice) : [];
  const usage = rewrites.length > 0 && usageLines(kind === 'split' ? list(advice.objects).length ? advice.objects : [advice.object] : list(advice.objects), rewrites);
  if (!usage) return null;
  const pre = el('pre.usage', {tabindex: '0', 'aria-label': 'accesses of the hottest loop before and after'});
  usage.lines.forEach(line => pre.append(el('span.minus', null, `- ${visible(line.before.trim())}\n`), el('span.plus', null, `+ ${visible(line.after.trim())}\n`)));
  return [el('h3', null, 'How accesses change ', el('span.soft', null, el('a', {href: '#loop/' + usage.index}, loopPlace(usage.loop)), `, ${percent(usage.loop.share)} of the time`)), pre, el('p.soft', null, 'Made from the text of these lines, in the hottest loop that has such: check names and types.')];
}
