// A few steps as they happened: a lane for ranges, operators and calls of each thread, and one for each stream.

const eventKinds = ['range', 'operator', 'launch', 'synchronise', 'other call', 'kernel', 'copy', 'other work'];

// Events come six numbers each: lane, start, duration, name, kind, time since the launch.
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

function drawEvent(events, fills, colours) {
  return (params, api) => {
    const event = events[params.dataIndex];
    const from = api.coord([event.start, event.lane]);
    const to = api.coord([event.start + event.length, event.lane]);
    const height = Math.min(api.size([0, 1])[1] * 0.78, 20);
    const area = params.coordSys;
    const shape = window.echarts.graphic.clipRectByRect(
      {x: from[0], y: from[1] - height / 2, width: Math.max(to[0] - from[0], 0.8), height},
      {x: area.x, y: area.y, width: area.width, height: area.height});
    if (!shape) return null;
    const rect = {type: 'rect', shape, style: {fill: fills[event.kind], opacity: 0.85}};
    if (shape.width < 40) return rect;
    return {type: 'group', children: [rect, {type: 'text', silent: true, style: {
      text: event.name, x: shape.x + 4, y: from[1], fill: colours.bg, fontSize: 12, fontFamily: colours.sans,
      textVerticalAlign: 'middle', width: shape.width - 8, overflow: 'truncate', ellipsis: '…'}}]};
  };
}

// Plus and minus zoom around the middle, arrows move, 0 shows all: what the wheel and the bar do for a mouse.
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

function timeline(data, colours, plot) {
  const events = eventsOf(data);
  const fills = timelineColours(colours);
  const used = Array.from(new Set(events.map((event) => event.kind))).sort();
  const byKind = used.map((kind) => events.filter((event) => event.kind === kind));
  const zoom = {xAxisIndex: 0, filterMode: 'weakFilter', minValueSpan: 100};
  document.querySelector('[data-export]').onclick = () => saveTrace(data, events);
  return {points: events.length, height: data.lanes.length * 26 + 96, option: {
    legend: {top: 0, left: 0, textStyle: {color: colours.dim}, itemWidth: 12, itemHeight: 10,
      data: used.map((kind) => ({name: eventKinds[kind], itemStyle: {color: fills[kind]}}))},
    tooltip: {formatter: (at) => {
      const event = byKind[at.seriesIndex][at.dataIndex];
      return tip(event.name, [['kind', eventKinds[event.kind]], ['lane', data.lanes[event.lane].name],
        ['start', duration(Math.max(event.start, 0))], ['duration', duration(event.length)],
        ...(event.delay >= 0 ? [['since its launch', duration(event.delay)]] : [])]);
    }},
    grid: {left: 8, right: 24, top: 30, bottom: 46, containLabel: true},
    dataZoom: [{type: 'inside', ...zoom, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false},
      {type: 'slider', ...zoom, height: 18, bottom: 8, borderColor: colours.line, textStyle: {color: colours.dim},
        labelFormatter: (at) => duration(Math.max(at, 0)), showDataShadow: false, brushSelect: false}],
    xAxis: axisOf(colours, {type: 'value', min: 0, max: data.length_ns,
      axisLabel: {color: colours.dim, formatter: tickDuration, hideOverlap: true, showMaxLabel: false}}),
    yAxis: axisOf(colours, {type: 'category', inverse: true, data: data.lanes.map((lane) => lane.name),
      axisLabel: {color: colours.ink, fontSize: 12, width: 150, overflow: 'truncate', interval: 0},
      splitLine: {show: true, lineStyle: {color: colours.line}}}),
    series: used.map((kind, index) => ({type: 'custom', name: eventKinds[kind], itemStyle: {color: fills[kind]},
      renderItem: drawEvent(byKind[index], fills, colours), encode: {x: [0, 1], y: 2}, progressive: 0,
      data: byKind[index].map((event) => [event.start, event.start + event.length, event.lane])})),
  }, after: (chart) => addTimelineKeys(plot, chart)};
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
