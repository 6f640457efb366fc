// The picture of a capture's timeline: where lanes are, and how rows of events or bins are drawn on a canvas. Uses
// figures.js; docs/formats/tiles.md describes the data.

const captureRow = 18;
const captureHeader = 26;
// What can be clicked is at least as tall (WCAG 2.2, target size).
const captureTarget = 24;
const captureAxis = 24;
// Narrower events are drawn together, as the share of each pixel that they fill.
const captureLeastBar = 2;
const captureLeastLabel = 36;

// The lanes from top to bottom with their places: headers of groups, and lanes with the rows that are shown.
function captureLayout(lanes, closedGroups, closedLanes) {
  const items = [];
  let y = captureAxis;
  let group = null;
  for (const lane of lanes) {
    if (lane.group !== group) {
      group = lane.group;
      items.push({kind: 'group', group, y, height: captureHeader});
      y += captureHeader;
    }
    if (closedGroups.has(group)) continue;
    const rows = closedLanes.has(lane.lane) ? 1 : lane.rows;
    const height = Math.max(rows * captureRow, lane.rows > 1 ? captureTarget : 0);
    items.push({kind: 'lane', lane, rows, y, height});
    y += height + 5;
  }
  return {items, height: y + 4};
}

// A kernel's name without its return type, template arguments and parameters.
function shortName(text, kind) {
  if (kind !== 'work') return text;
  const plain = text.replace(/^void /, '').replace(/\(anonymous namespace\)::/g, '');
  const end = plain.search(/[<(]/);
  const base = end > 0 ? plain.slice(0, end) : plain;
  return base.slice(base.includes('::') ? base.lastIndexOf('::') + 2 : 0) || text;
}

// The same name has the same colour everywhere.
function nameColour(text, colours) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; ++at) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return colours[((hash >>> 0) % 7919) % colours.length];
}

// Black or white, whichever is easier to read on a colour, `#rrggbb`.
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#000000' : '#ffffff';
}

function eventsOfRow(row) {
  const events = [];
  for (let at = 0; row.events && at < row.events.length; at += 4) {
    const [number, start, length, name] = row.events.slice(at, at + 4);
    events.push({id: row.row + '.' + number, start, length, name});
  }
  return events;
}

function binsOfRow(row) {
  const width = 2 ** (row.level || 0);
  const bins = [];
  for (let at = 0; row.bins && at < row.bins.length; at += 5) {
    const [index, busy, events, name, nameTime] = row.bins.slice(at, at + 5);
    bins.push({start: index * width, length: width, busy, events, name, nameTime});
  }
  return bins;
}

// Rows of an answer by lane and depth, with their events or bins as objects.
function rowsByPlace(answer) {
  const rows = new Map();
  for (const row of answer.rows) {
    rows.set(row.lane + ':' + row.depth, {...row, events: eventsOfRow(row), bins: binsOfRow(row)});
  }
  return rows;
}

// What a row contains at a time: the event there, else the bin. `reach` is how far beside the time an event may be.
function thingAt(row, time, reach) {
  const list = row.bins.length ? row.bins : row.events;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].start <= time) low = middle + 1;
    else high = middle;
  }
  let best = null;
  let distance = reach;
  for (const candidate of [list[low - 1], list[low]]) {
    if (!candidate) continue;
    const away = Math.max(candidate.start - time, time - candidate.start - candidate.length, 0);
    if (away <= distance && (best === null || away < distance)) [best, distance] = [candidate, away];
  }
  return best;
}

// The share of each pixel that events or bins fill, with the name that fills most of it. `toX` maps a time to a pixel.
function pixelColumns(things, toX, width) {
  const columns = new Map();
  for (const thing of things) {
    const from = Math.max(toX(thing.start), 0);
    const to = Math.min(Math.max(toX(thing.start + thing.length), from + 0.05), width);
    // Of a bin, a part is filled, and the name has a part of that.
    const [filled, named] = thing.busy === undefined ? [1, 1] : [thing.busy / thing.length, thing.nameTime / thing.length];
    for (let pixel = Math.floor(from); pixel < to; ++pixel) {
      const inside = Math.min(to, pixel + 1) - Math.max(from, pixel);
      const column = columns.get(pixel) || {share: 0, most: -1, name: thing.name};
      column.share = Math.min(column.share + inside * filled, 1);
      if (inside * named > column.most) [column.most, column.name] = [inside * named, thing.name];
      columns.set(pixel, column);
    }
  }
  return columns;
}

// Draws with `look`: {context, colours, left, width, toX, labels, colourOf, selected}. `y` is the top of the row.
function drawColumns(things, y, look) {
  const tall = captureRow - 2;
  for (const [pixel, column] of pixelColumns(things, look.toX, look.width)) {
    // Anything present stays visible.
    const height = Math.max(column.share * tall, 1.5);
    look.context.fillStyle = look.colourOf(column.name);
    look.context.fillRect(look.left + pixel, y + 1 + tall - height, 1, height);
  }
}

function drawEvents(row, y, kind, look) {
  const {context} = look;
  const tall = captureRow - 2;
  const narrow = [];
  for (const event of row.events) {
    const from = look.toX(event.start);
    const to = look.toX(event.start + event.length);
    if (to < 0 || from > look.width) continue;
    if (to - from < captureLeastBar) {
      narrow.push(event);
      continue;
    }
    const x = Math.max(from, 0);
    const wide = Math.min(to, look.width) - x;
    context.fillStyle = look.colourOf(event.name);
    // A line of background between neighbours, where there is room for it.
    context.fillRect(look.left + x, y + 1, Math.max(wide - (wide > 4 ? 0.75 : 0), 1), tall);
    if (wide > captureLeastLabel) {
      drawLabel(shortName(look.labels[event.name] || '', kind), x, y, wide, inkOn(look.colourOf(event.name)), look);
    }
  }
  drawColumns(narrow, y, look);
  for (const event of row.events) {
    if (event.id !== look.selected) continue;
    const x = Math.max(look.toX(event.start), -4);
    const wide = Math.min(look.toX(event.start + event.length), look.width + 4) - x;
    context.strokeStyle = look.colours.ink;
    context.lineWidth = 2;
    context.strokeRect(look.left + x - 1, y, Math.max(wide, 2) + 2, captureRow);
  }
}

function drawLabel(text, x, y, wide, ink, look) {
  const {context} = look;
  const room = wide - 8;
  const widthOf = (shown) => context.measureText(shown).width;
  let shown = text;
  if (widthOf(shown) > room) {
    shown = cut(text, Math.max(Math.floor(text.length * room / widthOf(text)), 1));
    if (widthOf(shown) > room + 4) return;
  }
  context.fillStyle = ink;
  context.fillText(shown, look.left + x + 4, y + captureRow / 2 + 0.5);
}

// Times for the axis: steps of 1, 2 or 5 times a power of ten that are at least `least` pixels apart.
function axisSteps(view, width, least) {
  const rough = (view.to - view.from) / Math.max(width, 1) * least;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const steps = [];
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) steps.push(at);
  return {step, steps};
}

// Enough digits to tell neighbours apart: 1.2345 ms, 1.2346 ms.
function axisText(time, step) {
  if (Math.abs(time) < step / 2) return '0';
  const size = Math.abs(time);
  const [unit, word] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'us'] : [1, 'ns'];
  const digits = Math.max(Math.ceil(Math.log10(unit / step)), 0);
  return (time / unit).toFixed(Math.min(digits, 9)) + ' ' + word;
}

function drawAxis(view, height, look) {
  const {context, colours} = look;
  context.fillStyle = colours.bg;
  context.fillRect(0, 0, look.left + look.width, captureAxis);
  context.fillStyle = colours.dim;
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  const {step, steps} = axisSteps(view, look.width, 110);
  for (const at of steps) {
    const x = Math.round(look.left + look.toX(at)) + 0.5;
    context.moveTo(x, captureAxis - 6);
    context.lineTo(x, captureAxis);
    const text = axisText(at, step);
    if (x + context.measureText(text).width + 6 < look.left + look.width) context.fillText(text, x + 4, captureAxis / 2);
  }
  context.moveTo(Math.round(look.left) - 0.5, captureAxis);
  context.lineTo(Math.round(look.left) - 0.5, height);
  context.moveTo(0, captureAxis - 0.5);
  context.lineTo(look.left + look.width, captureAxis - 0.5);
  context.stroke();
}

function drawGrid(view, height, look) {
  const {context} = look;
  context.strokeStyle = look.colours.line;
  context.lineWidth = 1;
  context.globalAlpha = 0.6;
  context.beginPath();
  for (const at of axisSteps(view, look.width, 110).steps) {
    const x = Math.round(look.left + look.toX(at)) + 0.5;
    context.moveTo(x, captureAxis);
    context.lineTo(x, height);
  }
  context.stroke();
  context.globalAlpha = 1;
}

// Everything that is in the viewport: `scroll` is how far the lanes are scrolled, `span` the selected time or null.
function drawCapture({layout, rows, view, span, scroll, height}, look) {
  const {context, colours} = look;
  context.clearRect(0, 0, look.left + look.width, height);
  context.font = '12px ' + colours.sans;
  context.textBaseline = 'middle';
  drawGrid(view, height, look);
  for (const item of layout.items) {
    const top = item.y - scroll;
    if (top + item.height < captureAxis || top > height) continue;
    if (item.kind === 'group') {
      context.fillStyle = colours.soft;
      context.fillRect(0, top, look.left + look.width, item.height - 2);
      continue;
    }
    for (let depth = 0; depth < item.rows; ++depth) {
      const row = rows.get(item.lane.lane + ':' + depth);
      if (!row) continue;
      if (row.bins.length) drawColumns(row.bins, top + depth * captureRow, look);
      else drawEvents(row, top + depth * captureRow, item.lane.kind, look);
    }
  }
  if (span) {
    const from = Math.max(look.toX(span.from), 0);
    const to = Math.min(look.toX(span.to), look.width);
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.16;
    if (to > from) context.fillRect(look.left + from, captureAxis, to - from, height - captureAxis);
    context.globalAlpha = 1;
    for (const x of [look.toX(span.from), look.toX(span.to)]) {
      if (x >= 0 && x <= look.width) context.fillRect(look.left + x - 0.5, 0, 1.5, height);
    }
  }
  drawAxis(view, height, look);
}
