/* One element of a structure in a row of boxes, coloured by the heat of its fields. Drawings are to scale. */

const GROUP_COLOURS = 8;

const groupLetter = index => index < 26 ? String.fromCharCode(65 + index) : String(index + 1);
const fieldName = field => field.name || '+' + field.offset;
const fieldShare = field => isNumber(field.loop_share) ? field.loop_share : field.share;

/* Five steps, by the largest; the number stands beside it, colour only repeats it. */
function heatStep(value, most) {
  if (!isNumber(value) || value <= 0 || !(most > 0)) return 0;
  return Math.min(5, 1 + Math.floor(4.999 * value / most));
}

function groupMark(group) {
  if (!group) return null;
  return el(group.index < 0 ? 'span.mark.cold' : `span.mark.g${group.index % GROUP_COLOURS}`, {title: group.index < 0 ? 'in the cold group' : `in group ${group.letter}`}, group.letter);
}

/* Pieces of one cache line: boxes {start, bytes, class, name, value, title, group} within [0, line). */
function lineBoxes(boxes, line) {
  const place = (start, length) => ({left: (100 * start / line).toFixed(3) + '%', width: (100 * length / line).toFixed(3) + '%'});
  return boxes.map(box => el(`div.box.${box.class}`, {style: place(box.start, box.bytes), title: box.title},
    el('span.box-top', null, box.group && groupMark(box.group), el('span.box-name', null, box.name)),
    box.value && el('span.box-value', null, box.value)));
}

/* Of two results: one scale of heat for both. */
const sharedScale = object => page.view === 'diff' ? diffScale(object) : undefined;

/* The element's fields cut at cache-line borders, gaps included. */
function layoutRows(fields, size, line, groups, typed, scale) {
  const most = scale || Math.max(...fields.map(f => fieldShare(f) || 0), 0);
  const gap = (first, end) => ({class: 'gap', name: typed && end - first >= line / 16 ? 'padding' : '', title: typed ? `bytes ${first}–${end - 1}: ${plural(end - first, 'byte', 'bytes')} of padding` : `bytes ${first}–${end - 1}: no sampled access`});
  const rows = Math.max(1, Math.ceil(size / line));
  const boxes = Array.from({length: Math.min(rows, 4096)}, () => []);
  const put = (start, length, box) => {
    for (let from = start, end = Math.min(start + length, size, 4096 * line); from < end;) {
      const row = Math.floor(from / line), upto = Math.min(end, (row + 1) * line);
      boxes[row].push({...box, start: from - row * line, bytes: upto - from});
      from = upto;
    }
  };
  let reached = 0;
  for (const field of fields.slice().sort((a, b) => a.offset - b.offset)) {
    if (field.offset > reached) put(reached, field.offset - reached, gap(reached, field.offset));
    const share = fieldShare(field), group = groups && groups.get(field.offset);
    put(field.offset, field.bytes, {class: 'h' + heatStep(share, most), name: fieldName(field), value: percent(share), group,
      title: `${fieldName(field)}: offset ${field.offset}, ${plural(field.bytes, 'byte', 'bytes')}, ${percent(share)} of the time, ${plural(field.samples, 'access', 'accesses')} seen`});
    reached = Math.max(reached, field.offset + field.bytes);
  }
  if (reached < size) put(reached, size - reached, gap(reached, size));
  return boxes;
}

const drawnFields = (object, size) => list(object.fields).filter(f => isNumber(f.offset) && isNumber(f.bytes) && f.bytes > 0 && f.offset < size);
const elementLabel = (fields, size) => `one element of ${bytes(size)}: ` + fields.map(f => `${clip(fieldName(f), 40)} ${percent(fieldShare(f))}`).join(', ');

/* Bytes that no declared field has: known where the type is. */
function paddingBytes(object, size) {
  if (!object.type || !list(object.fields).length) return null;
  let end = 0, padding = 0;
  for (const field of drawnFields(object, size).sort((a, b) => a.offset - b.offset)) {
    padding += Math.max(0, field.offset - end);
    end = Math.max(end, field.offset + field.bytes);
  }
  return padding + Math.max(0, size - end);
}

/* The whole element in one row, where there is little room. */
function drawStrip(object, size) {
  const fields = drawnFields(object, size);
  return el('span.strip', null, el('span.line', {role: 'img', 'aria-label': elementLabel(fields, size)}, lineBoxes(layoutRows(fields, size, size, null, object.type, sharedScale(object))[0].map(box => ({...box, value: null})), size)), el('span.soft', null, bytes(size), paddingBytes(object, size) > 0 && ` (${paddingBytes(object, size)}\u00a0B padding)`));
}
