// A few steps as they happened: lanes for ranges, operators and calls of each thread, and one for each stream.

const eventKinds = ['range', 'operator', 'launch', 'synchronise', 'other call', 'kernel', 'copy', 'other work'];

// Each event is six numbers: lane, start, duration, name, kind, time since the launch.
function eventsOf(data) {
  const events = [];
  for (let at = 0; at < data.events.length; at += 6) {
    const [lane, start, length, name, kind, delay] = data.events.slice(at, at + 6);
    events.push({lane, start, length, name: data.names[name], kind, delay});
  }
  return events;
}

function timelineColours(colours) {
  const [blue, red, green, pink, orange, sky, violet, grey] = colours.series;
  return [grey, sky, red, orange, violet, green, blue, pink];
}

// Events narrower than this many pixels are not drawn as separate bars: bars have a minimum width, and many of them
// side by side would look like a lane that is never idle.
const leastBar = 3;
// A gap must be this wide to show its length, and wider to show the word "gap" as well.
const leastGapLabel = 46;
const leastGapWord = 76;
const callKinds = new Set([2, 3, 4]);

function drawEvent(events, fills, colours) {
  return (params, api) => {
    const event = events[params.dataIndex];
    const from = api.coord([event.start, event.lane]);
    const to = api.coord([event.start + event.length, event.lane]);
    if (to[0] - from[0] < leastBar) return null;  // drawShares draws it
    const height = barHeight(api);
    const area = params.coordSys;
    const shape = window.echarts.graphic.clipRectByRect(
      {x: from[0], y: from[1] - height / 2, width: to[0] - from[0], height},
      {x: area.x, y: area.y, width: area.width, height: area.height});
    if (!shape) return null;
    const rect = {type: 'rect', shape, style: {fill: fills[event.kind], opacity: 0.85}};
    if (shape.width < 40) return rect;
    return {type: 'group', children: [rect, {type: 'text', silent: true, style: {
      text: event.name, x: shape.x + 4, y: from[1], fill: colours.bg, fontSize: 12, fontFamily: colours.sans,
      textVerticalAlign: 'middle', width: shape.width - 8, overflow: 'truncate', ellipsis: '…'}}]};
  };
}

function barHeight(api) {
  return api.size([0, 1])[1] * 0.78;
}

// If there are few lanes, they are taller, so that shares can be read.
function laneHeight(lanes) {
  return lanes > 8 ? 26 : 36;
}

// The share of each pixel, 0 to 1 by kind, that is filled by events narrower than a bar. `scale` is pixels per
// nanosecond and `shift` the pixel of time 0, counted from the first of `width` pixels.
function pixelShares(events, scale, shift, width) {
  const shares = new Map();
  for (const event of events) {
    if (event.length * scale >= leastBar) continue;
    const from = Math.max(event.start * scale + shift, 0);
    const to = Math.min((event.start + event.length) * scale + shift, width);
    if (to <= from) continue;
    if (!shares.has(event.kind)) shares.set(event.kind, new Float64Array(width));
    const row = shares.get(event.kind);
    for (let pixel = Math.floor(from); pixel < to; ++pixel) {
      row[pixel] = Math.min(row[pixel] + Math.min(to, pixel + 1) - Math.max(from, pixel), 1);
    }
  }
  return shares;
}

// Stacked columns from the bottom of the lane, one per kind; anything present stays visible.
function shareColumns(shares, left, bottom, height) {
  const filled = new Float64Array(shares.size ? shares.values().next().value.length : 0);
  return Array.from(shares, ([kind, row]) => {
    let path = '';
    for (let pixel = 0; pixel < row.length; ++pixel) {
      if (row[pixel] <= 0) continue;
      const tall = Math.min(Math.max(row[pixel] * height, 1.5), height - filled[pixel]);
      if (tall <= 0) continue;
      path += 'M' + (left + pixel) + ' ' + (bottom - filled[pixel]) + 'h1v' + -tall + 'h-1z';
      filled[pixel] += tall;
    }
    return {kind, path};
  });
}

// The gaps of the lane between `begin` and `end`.
function gapsBetween(events, begin, end) {
  const gaps = [];
  let covered = begin;
  for (const event of events) {
    if (event.start > covered) gaps.push({start: covered, end: Math.min(event.start, end)});
    covered = Math.max(covered, event.start + event.length);
    if (covered >= end) return gaps;
  }
  gaps.push({start: covered, end});
  return gaps;
}

// A line from end to end with the gap's length in its middle.
function drawGap(gap, x, y, width, colours) {
  const text = (width < leastGapWord ? '' : 'gap ') + duration(gap.end - gap.start);
  const half = text.length * 3.4 + 4;
  const stroke = {stroke: colours.dim, lineWidth: 1, opacity: 0.6};
  const line = (from, to) => ({type: 'line', silent: true, shape: {x1: from, y1: y, x2: to, y2: y}, style: stroke});
  const tick = (at) => ({type: 'line', silent: true, shape: {x1: at, y1: y - 3, x2: at, y2: y + 3}, style: stroke});
  const middle = x + width / 2;
  return [tick(x + 1), line(x + 1, middle - half), line(middle + half, x + width - 1), tick(x + width - 1),
    {type: 'text', silent: true, style: {text, x: middle, y, fill: colours.dim, fontSize: 12, fontFamily: colours.sans,
      textAlign: 'center', textVerticalAlign: 'middle'}}];
}

// Lane by lane, what is too narrow for separate bars, and the gaps that are long enough to read.
function drawShares(lanes, length, fills, colours, hidden) {
  return (params, api) => {
    const lane = lanes[params.dataIndex];
    const area = params.coordSys;
    const [zero, y] = api.coord([0, lane.index]);
    const scale = (api.coord([length, lane.index])[0] - zero) / length;
    const height = barHeight(api);
    const left = Math.round(area.x);
    const width = Math.floor(area.width);
    const shown = lane.events.filter((event) => !hidden.has(event.kind));
    const children = [{type: 'rect', shape: {x: left, y: y - height / 2, width, height}, style: {fill: 'transparent'}}];
    for (const {kind, path} of shareColumns(pixelShares(shown, scale, zero - left, width), left, y + height / 2, height)) {
      if (path) children.push({type: 'path', shape: {pathData: path}, style: {fill: fills[kind], opacity: 0.85}});
    }
    if (lane.hasGaps) {
      const timeAt = (pixel) => (pixel - zero) / scale;
      for (const gap of gapsBetween(lane.events, Math.max(timeAt(left), 0), Math.min(timeAt(left + width), length))) {
        const wide = (gap.end - gap.start) * scale;
        if (wide >= leastGapLabel) children.push(...drawGap(gap, gap.start * scale + zero, y, wide, colours));
      }
    }
    return {type: 'group', children};
  };
}

// For the time of a pixel, or for the whole lane if no pointer is over it.
function shareTip(lane, begin, end) {
  let busy = 0;
  let longest = null;
  let count = 0;
  for (const event of lane.events) {
    const inside = Math.min(event.start + event.length, end) - Math.max(event.start, begin);
    if (inside <= 0) continue;
    ++count;
    busy += inside;
    if (!longest || event.length > longest.length) longest = event;
  }
  return tip(lane.name, [['at', duration(Math.max(begin, 0))], ['width of a pixel', duration(end - begin)],
    ['filled', percent(Math.min(busy / (end - begin), 1))], ['events', String(count)],
    ...(longest ? [['longest', cut(longest.name, 80) + ', ' + duration(longest.length)]] : [])]);
}

// Plus and minus zoom around the middle, arrows move, 0 shows everything: the keyboard equivalent of wheel and bar.
function addTimelineKeys(plot, chart) {
  plot.tabIndex = 0;
  plot.onkeydown = (event) => {
    const {start, end} = chart.getOption().dataZoom[0];
    const width = end - start;
    const moved = {'+': [width / 4, -width / 4], '-': [-width / 2, width / 2], ArrowLeft: [-width / 8, -width / 8],
      ArrowRight: [width / 8, width / 8], 0: [-100, 100]}[event.key];
    if (!moved) return;
    event.preventDefault();
    chart.dispatchAction({type: 'dataZoom', start: Math.max(start + moved[0], 0), end: Math.min(end + moved[1], 100)});
  };
}

function lanesOf(data, events) {
  const lanes = data.lanes.map((lane, index) => ({...lane, index, events: []}));
  for (const event of events) lanes[event.lane].events.push(event);
  for (const lane of lanes) {
    lane.events.sort((a, b) => a.start - b.start);
    // Ranges and operators are nested, so where one ends says nothing about what happened.
    lane.hasGaps = lane.is_device || lane.events.some((event) => callKinds.has(event.kind));
  }
  return lanes;
}

// A kind that is switched off in the legend is left out of the shares too.
function followLegend(chart, hidden, used) {
  chart.on('legendselectchanged', ({selected}) => {
    hidden.clear();
    for (const kind of used) if (!selected[eventKinds[kind]]) hidden.add(kind);
    const shares = chart.getOption().series.find((series) => series.id === 'shares');
    chart.setOption({series: [{id: 'shares', data: shares.data}]});
  });
}

function timeline(data, colours, plot) {
  const events = eventsOf(data);
  const lanes = lanesOf(data, events);
  const fills = timelineColours(colours);
  const used = Array.from(new Set(events.map((event) => event.kind))).sort();
  const byKind = used.map((kind) => events.filter((event) => event.kind === kind));
  const hidden = new Set();
  const zoom = {xAxisIndex: 0, filterMode: 'weakFilter', minValueSpan: 100};
  let pointer = null;
  let drawnChart = null;
  const eventTip = (event) => tip(event.name, [['kind', eventKinds[event.kind]], ['lane', data.lanes[event.lane].name],
    ['start', duration(Math.max(event.start, 0))], ['duration', duration(event.length)],
    ...(event.delay >= 0 ? [['since its launch', duration(event.delay)]] : [])]);
  const pixelTip = (lane) => {
    if (pointer === null) return shareTip(lane, 0, data.length_ns);
    const at = (pixel) => drawnChart.convertFromPixel({xAxisIndex: 0}, pixel);
    return shareTip(lane, at(Math.floor(pointer)), at(Math.floor(pointer) + 1));
  };
  document.querySelector('[data-export]').onclick = () => saveTrace(data, events);
  return {points: events.length, height: data.lanes.length * laneHeight(data.lanes.length) + 96, option: {
    legend: {top: 0, left: 0, textStyle: {color: colours.dim}, itemWidth: 12, itemHeight: 10, type: 'scroll',
      pageTextStyle: {color: colours.dim}, pageIconColor: colours.accent, pageIconInactiveColor: colours.line,
      data: used.map((kind) => ({name: eventKinds[kind], itemStyle: {color: fills[kind]}}))},
    tooltip: {formatter: (at) => at.seriesId === 'shares' ? pixelTip(lanes[at.dataIndex]) :
      eventTip(byKind[used.findIndex((kind) => eventKinds[kind] === at.seriesName)][at.dataIndex])},
    grid: {left: 8, right: 24, top: 30, bottom: 46, containLabel: true},
    dataZoom: [{type: 'inside', ...zoom, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false},
      {type: 'slider', ...zoom, height: 18, bottom: 8, borderColor: colours.line, textStyle: {color: colours.dim},
        labelFormatter: (at) => duration(Math.max(at, 0)), showDataShadow: false, brushSelect: false}],
    xAxis: axisOf(colours, {type: 'value', min: 0, max: data.length_ns,
      axisLabel: {color: colours.dim, formatter: tickDuration, hideOverlap: true, showMaxLabel: false}}),
    yAxis: axisOf(colours, {type: 'category', inverse: true, data: data.lanes.map((lane) => lane.name),
      axisLabel: {color: colours.ink, fontSize: 12, width: 150, overflow: 'truncate', interval: 0},
      splitLine: {show: true, lineStyle: {color: colours.line}}}),
    series: [{type: 'custom', id: 'shares', name: 'shares', z: 2, encode: {x: [0, 1], y: 2}, progressive: 0, clip: true,
      renderItem: drawShares(lanes, data.length_ns, fills, colours, hidden),
      data: lanes.map((lane) => [0, data.length_ns, lane.index])},
    ...used.map((kind, index) => ({type: 'custom', name: eventKinds[kind], itemStyle: {color: fills[kind]}, z: 3,
      renderItem: drawEvent(byKind[index], fills, colours), encode: {x: [0, 1], y: 2}, progressive: 0,
      data: byKind[index].map((event) => [event.start, event.start + event.length, event.lane])}))],
  }, after: (chart) => {
    drawnChart = chart;
    chart.getZr().on('mousemove', (event) => { pointer = event.offsetX; });
    addTimelineKeys(plot, chart);
    followLegend(chart, hidden, used);
  }};
}

// Chrome's trace format, which ui.perfetto.dev opens; times in microseconds.
function traceOf(data, events) {
  const rows = data.lanes.flatMap((lane, index) => [
    {ph: 'M', name: 'process_name', pid: lane.is_device ? 2 : 1, args: {name: lane.is_device ? 'GPU' : 'host'}},
    {ph: 'M', name: 'thread_name', pid: lane.is_device ? 2 : 1, tid: index + 1, args: {name: lane.name}},
  ]);
  for (const event of events) {
    rows.push({ph: 'X', name: event.name, cat: eventKinds[event.kind], pid: data.lanes[event.lane].is_device ? 2 : 1,
      tid: event.lane + 1, ts: event.start / 1e3, dur: event.length / 1e3});
  }
  return {displayTimeUnit: 'ns', traceEvents: rows};
}

function saveTrace(data, events) {
  const blob = new Blob([JSON.stringify(traceOf(data, events))], {type: 'application/json'});
  const link = element('a', {href: URL.createObjectURL(blob), download: data.run.replace(/[^\w.-]/g, '_') + '-steps.json'});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
