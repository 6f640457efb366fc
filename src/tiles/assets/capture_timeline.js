// The timeline of a whole capture: pans, zooms, searches and adds up, with data fetched as it is needed.
//
//   const timeline = captureTimeline(element, ask, {changed: (view) => ...});
//
// `ask(parameters)` returns a promise of the answer to one query of docs/formats/tiles.md, for example
// `({what, ...rest}) => fetch('tiles?' + new URLSearchParams({what, ...rest})).then((reply) => reply.json())`.
// Needs figures.js, theme.js and capture_drawing.js, and page.css and capture_timeline.css.

const captureHelp = 'Drag to move, Ctrl and wheel or pinch to zoom, Shift and drag to select a span of time, click for ' +
  'details, double-click to zoom to an event. Keys: arrows, + and −, 0 for everything, comma and full stop for the ' +
  'previous and next event of the row, Escape to clear.';

function captureTimeline(root, ask, {changed = () => {}, from, to} = {}) {
  const state = {capture: null, view: {from: 0, to: 1}, rows: new Map(), labels: {}, closedGroups: new Set(),
    closedLanes: new Set(), layout: {items: [], height: 0}, span: null, selected: null, isSelecting: false, asked: 0,
    fetched: null, colours: palette(), isGone: false};
  const parts = captureParts(root);
  const left = () => parts.labels.offsetWidth;
  const width = () => Math.max(parts.canvas.clientWidth - left(), 1);
  const toX = (time) => (time - state.view.from) / (state.view.to - state.view.from) * width();
  const toTime = (x) => state.view.from + (x - left()) / width() * (state.view.to - state.view.from);

  // Fetching -------------------------------------------------------------------------------------------------------

  // Repeats a question while the index is being built.
  async function answerTo(parameters) {
    for (;;) {
      const answer = await ask(parameters);
      if (answer.state !== 'building') return answer;
      say('Reading the capture for the first time: ' + amount(answer.events, 'events') + ' so far …');
      await new Promise((resume) => setTimeout(resume, 400));
      if (state.isGone) throw new Error('closed');
    }
  }

  function say(text) {
    parts.status.textContent = text;
  }

  function shownLanes() {
    const top = parts.scroll.scrollTop;
    const bottom = top + parts.scroll.clientHeight;
    return state.layout.items.filter((item) => item.kind === 'lane' && item.y + item.height + 200 > top && item.y - 200 < bottom)
      .map((item) => item.lane.lane);
  }

  // More than is shown, so that moving a little needs nothing new.
  async function fetchView() {
    const lanes = shownLanes();
    const {from: begin, to: end} = state.view;
    const margin = (end - begin) / 2;
    const key = [Math.round(begin), Math.round(end), width(), lanes.join()].join(' ');
    if (key === state.fetched || lanes.length === 0) return;
    state.fetched = key;
    const number = ++state.asked;
    try {
      const answer = await answerTo({what: 'window', from: Math.floor(begin - margin), to: Math.ceil(end + margin),
        pixels: Math.min(Math.ceil(width() * 2), 16384), lanes: lanes.join()});
      if (number !== state.asked) return;
      state.rows = rowsByPlace(answer);
      state.labels = answer.names;
      state.drawnFor = key;
      draw();
      fetchTable(number);
    } catch (failure) {
      state.fetched = null;
      say('The timeline could not be read: ' + failure.message);
    }
  }

  // The text alternative: what is in view.
  async function fetchTable(number) {
    if (!parts.table.open) return;
    const answer = await answerTo({what: 'totals', from: Math.floor(state.view.from), to: Math.ceil(state.view.to)});
    if (number === state.asked) parts.tableBody.replaceChildren(totalsTable(answer));
  }

  let fetchTimer = 0;
  function viewChanged() {
    draw();
    changed({...state.view});
    clearTimeout(fetchTimer);
    fetchTimer = setTimeout(() => {
      fetchTimer = 0;
      fetchView();
    }, 50);
  }

  // Drawing --------------------------------------------------------------------------------------------------------

  let frame = 0;
  function draw() {
    if (!frame) frame = requestAnimationFrame(drawNow);
  }

  function drawNow() {
    frame = 0;
    if (!state.capture) return;
    const scale = window.devicePixelRatio || 1;
    const [across, high] = [parts.canvas.clientWidth, parts.canvas.clientHeight];
    if (parts.canvas.width !== Math.round(across * scale) || parts.canvas.height !== Math.round(high * scale)) {
      parts.canvas.width = Math.round(across * scale);
      parts.canvas.height = Math.round(high * scale);
    }
    const context = parts.canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const colourOf = (name) => nameColour(state.labels[name] || '', state.nameColours);
    drawCapture({layout: state.layout, rows: state.rows, view: state.view, span: state.span,
      scroll: parts.scroll.scrollTop, height: high},
    {context, colours: state.colours, left: left(), width: width(), toX, labels: state.labels, colourOf,
      selected: state.selected && state.selected.id});
    const wide = state.view.to - state.view.from;
    const range = duration(wide) + ' from ' + axisText(Math.max(state.view.from, 0), wide / 100);
    parts.range.textContent = range;
    parts.canvas.setAttribute('aria-label', 'Timeline of ' + state.capture.source + ', showing ' + range + '. ' + captureHelp);
  }

  function layOut() {
    state.layout = captureLayout(state.capture.lanes, state.closedGroups, state.closedLanes);
    parts.space.style.height = state.layout.height + 'px';
    const most = Math.min(window.innerHeight * 0.66, 640);
    parts.scroll.style.height = Math.min(state.layout.height, most) + 'px';
    parts.canvas.style.height = parts.scroll.style.height;
    parts.labels.replaceChildren(...state.layout.items.map(labelOf));
    viewChanged();
  }

  function labelOf(item) {
    const isGroup = item.kind === 'group';
    const [set, key] = isGroup ? [state.closedGroups, item.group] : [state.closedLanes, item.lane.lane];
    const name = isGroup ? item.group : item.lane.name;
    const canClose = isGroup || item.lane.rows > 1;
    const label = element(canClose ? 'button' : 'span', {class: isGroup ? 'ct-group' : 'ct-lane',
      title: isGroup ? name : name + ': ' + amount(item.lane.events, 'events'),
      ...(canClose ? {type: 'button', 'aria-expanded': String(!set.has(key))} : {})}, name);
    label.style.top = item.y + 'px';
    label.style.height = (canClose ? captureTarget : captureRow) + 'px';
    if (!canClose) return label;
    label.addEventListener('click', () => {
      if (!set.delete(key)) set.add(key);
      const index = state.layout.items.indexOf(item);
      layOut();
      parts.labels.children[index].focus();
    });
    return label;
  }

  // Moving ---------------------------------------------------------------------------------------------------------

  function show(begin, end) {
    const {length_ns: length} = state.capture;
    const wide = Math.min(Math.max(end - begin, 20), Math.max(length * 1.1, 20));
    const middle = (begin + end) / 2;
    const first = Math.min(Math.max(middle - wide / 2, -length * 0.05), Math.max(length * 1.05 - wide, -length * 0.05));
    state.view = {from: first, to: first + wide};
    parts.tip.hidden = true;
    viewChanged();
  }

  function fit() {
    show(-state.capture.length_ns * 0.01, state.capture.length_ns * 1.01);
  }

  function pan(share) {
    const moved = (state.view.to - state.view.from) * share;
    show(state.view.from + moved, state.view.to + moved);
  }

  function zoom(factor, around = (state.view.from + state.view.to) / 2) {
    show(around - (around - state.view.from) * factor, around + (state.view.to - around) * factor);
  }

  // So that the event is in the middle, and not too small to see.
  function reveal(event) {
    const isShown = event.start_ns >= state.view.from && event.start_ns + event.duration_ns <= state.view.to;
    const wide = state.view.to - state.view.from;
    if (!isShown || toX(event.start_ns + event.duration_ns) - toX(event.start_ns) < 3) {
      const next = Math.min(wide, Math.max(event.duration_ns * 40, 200));
      show(event.start_ns + event.duration_ns / 2 - next / 2, event.start_ns + event.duration_ns / 2 + next / 2);
    }
    const lane = state.capture.lanes[event.lane];
    const isClosed = state.closedGroups.delete(lane.group);
    if ((event.depth > 0 && state.closedLanes.delete(lane.lane)) || isClosed) layOut();
    const item = state.layout.items.find((one) => one.kind === 'lane' && one.lane.lane === event.lane);
    const top = item.y + event.depth * captureRow;
    const {scrollTop, clientHeight} = parts.scroll;
    if (top - captureAxis < scrollTop || top + captureRow > scrollTop + clientHeight) {
      parts.scroll.scrollTop = top - clientHeight / 2;
    }
  }

  // Selecting ------------------------------------------------------------------------------------------------------

  // Where the pointer is: row, event or bin, lane. Null between lanes.
  function under(pointer) {
    const box = parts.canvas.getBoundingClientRect();
    const [x, y] = [pointer.clientX - box.left, pointer.clientY - box.top];
    if (x < left() || y < captureAxis) return null;
    const at = y + parts.scroll.scrollTop;
    const item = state.layout.items.find((one) => one.kind === 'lane' && at >= one.y && at < one.y + one.height);
    if (!item) return null;
    const depth = Math.floor((at - item.y) / captureRow);
    const row = state.rows.get(item.lane.lane + ':' + depth);
    const time = toTime(x);
    const thing = row && thingAt(row, time, (state.view.to - state.view.from) / width() * 3);
    return {lane: item.lane, row, thing, time, x, y};
  }

  function thingTip({lane, thing, time}) {
    const name = state.labels[thing.name] || '(unnamed)';
    if (thing.id) {
      return tip(name, [['lane', lane.name], ['start', axisText(thing.start, 1)], ['duration', duration(thing.length)]]);
    }
    return tip(thing.events === 0 ? name : amount(thing.events, thing.events === 1 ? 'event begins' : 'events begin'),
      [['lane', lane.name], ['at', axisText(time, thing.length)], ['width', duration(thing.length)],
        ['busy', percent(thing.busy / thing.length)], ['most time', name + ', ' + duration(thing.nameTime)]]);
  }

  function showTip(pointer) {
    const found = under(pointer);
    if (!found || !found.thing) {
      parts.tip.hidden = true;
      return;
    }
    parts.tip.replaceChildren(thingTip(found));
    parts.tip.hidden = false;
    const room = parts.frame.clientWidth - parts.tip.offsetWidth - 8;
    parts.tip.style.left = Math.max(Math.min(found.x + 14, room), 0) + 'px';
    parts.tip.style.top = (found.y + 18 + parts.tip.offsetHeight > parts.canvas.clientHeight
      ? Math.max(found.y - parts.tip.offsetHeight - 10, 0) : found.y + 18) + 'px';
  }

  function select(event) {
    state.selected = event;
    state.span = null;
    parts.detail.replaceChildren(eventDetail(event, {
      zoomTo: () => show(event.start_ns - event.duration_ns, event.start_ns + event.duration_ns * 2),
      search: (direction) => search(direction, {name: event.name}, event.start_ns),
    }));
    draw();
  }

  async function selectId(id) {
    try {
      const answer = await answerTo({what: 'event', id});
      select(answer.event);
      return answer.event;
    } catch {
      return null;  // before the first or after the last event of the row
    }
  }

  async function selectSpan(begin, end) {
    state.selected = null;
    state.span = {from: Math.floor(begin), to: Math.ceil(end)};
    draw();
    const {span} = state;
    const answer = await answerTo({what: 'totals', ...span});
    if (state.span !== span) return;
    const zoomTo = element('button', {type: 'button'}, 'Zoom to it');
    zoomTo.addEventListener('click', () => show(span.from, span.to));
    parts.detail.replaceChildren(element('p', {class: 'ct-title'}, element('b', {}, duration(span.to - span.from) + ' selected'),
      ' from ' + axisText(span.from, 1) + ' ', zoomTo), totalsTable(answer));
  }

  function clear() {
    state.selected = null;
    state.span = null;
    parts.detail.replaceChildren();
    say('');
    draw();
  }

  // Searches from the selected event, or from the left edge.
  async function search(direction, what = {text: parts.search.value.trim()}, at = null) {
    if (what.text === '') return say('');
    const start = at ?? (state.selected ? state.selected.start_ns : Math.floor(state.view.from) - 1);
    const answer = await answerTo({what: 'find', ...what, at: start, direction});
    const total = amount(answer.events, answer.events === 1 ? 'event' : 'events') + ' of ' +
      amount(answer.different_names, answer.different_names === 1 ? 'name' : 'names') + ', ' + duration(answer.busy_ns) + ' in all';
    if (answer.event) {
      reveal(answer.event);
      select(answer.event);
      return say(total);
    }
    if (answer.events === 0) return say('No event has this name.');
    return say((direction === 'next' ? 'No later one. ' : 'No earlier one. ') + total);
  }

  // Input ----------------------------------------------------------------------------------------------------------

  const pointers = new Map();
  let drag = null;

  function pointerDown(event) {
    if (event.button !== 0) return;
    parts.canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event.clientX);
    parts.tip.hidden = true;
    const box = parts.canvas.getBoundingClientRect();
    const time = toTime(event.clientX - box.left);
    drag = {x: event.clientX, y: event.clientY, view: state.view, time, isSpan: event.shiftKey || state.isSelecting, moved: false};
    if (pointers.size === 2) drag = {pinch: pinchOf(), view: state.view, moved: true};
  }

  function pinchOf() {
    const box = parts.canvas.getBoundingClientRect();
    const [a, b] = Array.from(pointers.values());
    return {distance: Math.max(Math.abs(a - b), 10), middle: (a + b) / 2 - box.left};
  }

  function pointerMove(event) {
    if (!pointers.has(event.pointerId)) return showTip(event);
    pointers.set(event.pointerId, event.clientX);
    if (!drag) return undefined;
    if (drag.pinch) return pinchMove();
    if (!drag.moved && Math.abs(event.clientX - drag.x) < 4) return undefined;
    drag.moved = true;
    const wide = drag.view.to - drag.view.from;
    if (drag.isSpan) {
      const now = toTime(event.clientX - parts.canvas.getBoundingClientRect().left);
      state.span = {from: Math.min(drag.time, now), to: Math.max(drag.time, now)};
      return draw();
    }
    const moved = (drag.x - event.clientX) / width() * wide;
    return show(drag.view.from + moved, drag.view.to + moved);
  }

  function pinchMove() {
    const now = pinchOf();
    const wide = drag.view.to - drag.view.from;
    const at = drag.view.from + (drag.pinch.middle - left()) / width() * wide;
    const factor = drag.pinch.distance / now.distance;
    const first = at - (now.middle - left()) / width() * wide * factor;
    show(first, first + wide * factor);
  }

  function pointerUp(event) {
    if (!pointers.delete(event.pointerId) || !drag) return;
    const ended = drag;
    drag = pointers.size === 0 ? null : drag;
    if (ended.pinch) return;
    if (ended.isSpan && ended.moved && state.span.to - state.span.from >= 1) {
      selectSpan(state.span.from, state.span.to);
    } else if (!ended.moved && event.type === 'pointerup') {
      click(event);
    }
  }

  function click(event) {
    const found = under(event);
    if (!found || !found.thing) return clear();
    if (found.thing.id) return selectId(found.thing.id);
    return selectSpan(found.thing.start, found.thing.start + found.thing.length);
  }

  function wheel(event) {
    const isZoom = event.ctrlKey || event.metaKey;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (!isZoom && Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    if (isZoom) {
      const box = parts.canvas.getBoundingClientRect();
      zoom(1.0018 ** Math.max(Math.min(event.deltaY, 400), -400), toTime(event.clientX - box.left));
    } else {
      pan(sideways / width());
    }
  }

  async function step(by) {
    if (!state.selected) return search('next', {text: ''});
    const [row, number] = state.selected.id.split('.').map(Number);
    if (number + by < 0) return undefined;
    const event = await selectId(row + '.' + (number + by));
    return event ? reveal(event) : undefined;
  }

  const keys = {'+': () => zoom(0.5), '=': () => zoom(0.5), w: () => zoom(0.5), '-': () => zoom(2), s: () => zoom(2),
    ArrowLeft: () => pan(-0.125), a: () => pan(-0.125), ArrowRight: () => pan(0.125), d: () => pan(0.125), 0: fit, Home: fit,
    ',': () => step(-1), '.': () => step(1), Escape: clear, '/': () => parts.search.focus(),
    ArrowUp: () => parts.scroll.scrollBy(0, -captureRow), ArrowDown: () => parts.scroll.scrollBy(0, captureRow)};

  function keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  parts.canvas.addEventListener('pointerdown', pointerDown);
  parts.canvas.addEventListener('pointermove', pointerMove);
  parts.canvas.addEventListener('pointerup', pointerUp);
  parts.canvas.addEventListener('pointercancel', pointerUp);
  parts.canvas.addEventListener('pointerleave', () => { parts.tip.hidden = true; });
  parts.canvas.addEventListener('wheel', wheel, {passive: false});
  parts.canvas.addEventListener('keydown', keyDown);
  parts.canvas.addEventListener('dblclick', (event) => {
    const found = under(event);
    if (found && found.thing) show(found.thing.start - found.thing.length, found.thing.start + found.thing.length * 2);
  });
  parts.scroll.addEventListener('scroll', viewChanged);
  parts.search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') search(event.shiftKey ? 'previous' : 'next');
    if (event.key === 'Escape') parts.canvas.focus();
  });
  parts.previous.addEventListener('click', () => search('previous'));
  parts.next.addEventListener('click', () => search('next'));
  parts.closer.addEventListener('click', () => zoom(0.5));
  parts.farther.addEventListener('click', () => zoom(2));
  parts.fit.addEventListener('click', fit);
  parts.select.addEventListener('click', () => {
    state.isSelecting = !state.isSelecting;
    parts.select.setAttribute('aria-pressed', String(state.isSelecting));
  });
  parts.table.addEventListener('toggle', () => fetchTable(state.asked));
  let laidOutFor = 0;
  // Only the width: the height follows from the layout.
  const sizes = new ResizeObserver(() => {
    if (!state.capture || parts.frame.clientWidth === laidOutFor) return;
    laidOutFor = parts.frame.clientWidth;
    layOut();
  });
  sizes.observe(parts.frame);

  function restyle() {
    state.colours = palette();
    const style = getComputedStyle(document.documentElement);
    state.nameColours = Array.from({length: 20}, (unused, at) => style.getPropertyValue('--k' + (at + 1)).trim());
    draw();
  }

  async function start() {
    restyle();
    say('Reading the capture …');
    try {
      state.capture = await answerTo({what: 'capture'});
    } catch (failure) {
      return say('The timeline could not be read: ' + failure.message);
    }
    say('');
    for (const lane of state.capture.lanes) if (lane.rows > 12) state.closedLanes.add(lane.lane);
    parts.notes.replaceChildren(...state.capture.losses.map((loss) => element('li', {class: 'mark'}, 'Missing: ' + loss)),
      ...state.capture.notes.map((note) => element('li', {}, note)));
    if (state.capture.lanes.length === 0) return say('The capture contains no events.');
    layOut();
    return from === undefined ? fit() : show(from, to);
  }
  const ready = start();

  // `isIdle` and `state` are for inspection, as by tests.
  return {ready, show, fit, zoom, pan, search, restyle, state, isIdle: () => !fetchTimer && !frame,
    close: () => { state.isGone = true; sizes.disconnect(); root.replaceChildren(); }};
}

// The elements of the timeline, inside `root`.
function captureParts(root) {
  const button = (text, label) => element('button', {type: 'button', 'aria-label': label, title: label}, text);
  const parts = {
    search: element('input', {type: 'search', placeholder: 'Search a name', 'aria-label': 'search events by name'}),
    previous: button('‹', 'previous event with this name'), next: button('›', 'next event with this name'),
    closer: button('+', 'zoom in'), farther: button('−', 'zoom out'), fit: button('Fit', 'Fit: show everything'),
    select: element('button', {type: 'button', 'aria-pressed': 'false', title: 'drag selects a span of time'}, 'Select'),
    status: element('output', {class: 'ct-status', 'aria-live': 'polite'}), range: element('span', {class: 'ct-range'}),
    frame: element('div', {class: 'ct-frame'}), scroll: element('div', {class: 'ct-scroll'}),
    space: element('div', {class: 'ct-space'}), corner: element('div', {class: 'ct-corner'}), labels: element('div', {class: 'ct-labels'}),
    canvas: element('canvas', {tabindex: '0', role: 'application', 'aria-label': 'Timeline'}),
    tip: element('div', {class: 'ct-tip', role: 'tooltip', hidden: ''}), detail: element('div', {class: 'ct-detail', 'aria-live': 'polite'}),
    table: element('details', {class: 'more'}), tableBody: element('div', {}), notes: element('ul', {class: 'notes'}),
  };
  parts.table.append(element('summary', {}, 'What is in view, as a table'), parts.tableBody);
  parts.space.append(parts.canvas, parts.labels);
  parts.frame.append(parts.corner);
  parts.scroll.append(parts.space);
  parts.frame.append(parts.scroll, parts.tip);
  root.classList.add('ct');
  root.replaceChildren(
    element('div', {class: 'tools'}, parts.search, parts.previous, parts.next, parts.closer, parts.farther, parts.fit,
      parts.select, parts.range, parts.status),
    parts.frame, element('p', {class: 'from ct-help'}, captureHelp), parts.detail, parts.table, parts.notes);
  return parts;
}

const captureKinds = {work: 'GPU work', copies: 'copies and fills', ranges: 'ranges', 'shared ranges': 'ranges across threads',
  operators: 'operators', calls: 'CUDA calls'};

// Totals by kind and name. Time of nested events counts for each of them.
function totalsTable({kinds, from_ns: from, to_ns: to}) {
  if (kinds.length === 0) return element('p', {class: 'nothing'}, 'Nothing happened in this time.');
  const body = element('tbody', {});
  const cell = (text) => element('td', {class: 'n'}, text);
  for (const kind of kinds) {
    for (const name of kind.names) {
      body.append(element('tr', {}, element('th', {scope: 'row', title: name.text}, cut(name.text, 100)),
        element('td', {}, captureKinds[kind.kind]), cell(String(name.events)), cell(duration(name.busy_ns)),
        cell(percent(name.busy_ns / Math.max(to - from, 1)))));
    }
    const rest = kind.different_names - kind.names.length;
    if (rest > 0) {
      body.append(element('tr', {}, element('th', {scope: 'row'}, 'and ' + rest + (rest === 1 ? ' more name' : ' more names')),
        element('td', {}, captureKinds[kind.kind]), cell(''), cell(''), cell('')));
    }
  }
  const head = element('tr', {}, ...['name', 'kind', 'events', 'time', 'of the span'].map((text, at) =>
    element('th', {scope: 'col', ...(at > 1 ? {class: 'n'} : {})}, text)));
  const summary = kinds.map((kind) => captureKinds[kind.kind] + ': ' + amount(kind.events, kind.events === 1 ? 'event' : 'events') +
    ', ' + duration(kind.busy_ns)).join('; ');
  return element('div', {}, element('p', {class: 'from'}, summary), element('div', {class: 'scroll ct-totals', tabindex: '0'},
    element('table', {class: 'data'}, element('thead', {}, head), body)));
}

// What is known of an event, with buttons to go on from it.
function eventDetail(event, {zoomTo, search}) {
  const rows = [['kind', event.kind], ['lane', event.group + ', ' + event.lane_name], ['start', axisText(event.start_ns, 1)],
    ['duration', duration(event.duration_ns) + ' (' + event.duration_ns + ' ns)']];
  if (event.grid) {
    rows.push(['grid', event.grid.join(' × ')], ['block', event.block.join(' × ')],
      ['registers per thread', String(event.registers_per_thread)],
      ['shared memory', event.static_shared_bytes + ' B static, ' + event.dynamic_shared_bytes + ' B dynamic']);
  }
  if (event.bytes !== undefined) {
    rows.push(['size', amount(event.bytes, 'B')], ['rate', event.duration_ns > 0 ? amount(event.bytes / event.duration_ns * 1e9, 'B/s') : '–']);
    if (event.to !== 'unknown') rows.push(['memory', (event.from && event.from !== 'unknown' ? event.from + ' to ' : '') + event.to]);
  }
  if (event.domain) rows.push(['domain', event.domain]);
  if (event.input_shapes) rows.push(['input shapes', event.input_shapes]);
  const list = element('dl', {});
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', {}, value));
  const button = (text, action) => {
    const made = element('button', {type: 'button'}, text);
    made.addEventListener('click', action);
    return made;
  };
  return element('div', {class: 'ct-event'}, element('p', {class: 'ct-title'}, element('b', {}, event.text || '(unnamed)')),
    list, element('div', {class: 'tools'}, button('Zoom to it', zoomTo), button('Previous of this name', () => search('previous')),
      button('Next of this name', () => search('next'))));
}
