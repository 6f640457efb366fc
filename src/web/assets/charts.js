// Every chart: a function from its data and the page's colours to an ECharts option, and its number of points.

// A page may have several charts of one kind: they differ in what follows the dot in their names.
const chartMakers = {waterfall, images, tokens, steps, idle, classes, nvml, roofline, timeline, seconds, search, tradeoff, swept, pairs,
  ttft: latency, tpot: latency, itl: latency, e2e: latency};

// Many marks are drawn faster on a canvas; everything else is sharper as SVG, also in print.
const onCanvas = new Set(['timeline']);

function axisOf(colours, more) {
  return Object.assign({
    axisLine: {onZero: false, lineStyle: {color: colours.dim}}, axisTick: {show: false},
    axisLabel: {color: colours.dim, fontSize: 12, hideOverlap: true},
    splitLine: {lineStyle: {color: colours.line}},
    nameTextStyle: {color: colours.dim, fontSize: 12},
  }, more);
}

function baseOption(colours) {
  return {
    animation: false, color: colours.series, textStyle: {fontFamily: colours.sans, color: colours.ink},
    tooltip: {backgroundColor: colours.bg, borderColor: colours.line, textStyle: {color: colours.ink, fontSize: 12},
      confine: true, transitionDuration: 0},
    grid: {left: 8, right: 16, top: 28, bottom: 8, containLabel: true},
  };
}

// Measured time as a bar with the floor as its filled part, one phase below the other; figures in a separate column.
function waterfall(data, colours) {
  const end = Math.max(...data.map((step) => step.start_ns + step.time_ns));
  const bar = (params, api) => {
    const step = data[params.dataIndex];
    const from = api.coord([step.start_ns, params.dataIndex]);
    const height = Math.min(api.size([0, 1])[1] * 0.62, 22);
    const colour = step.kind ? colours.kind(step.kind) : colours.grey;
    const rect = (ns, opacity) => ({type: 'rect', style: {fill: colour, opacity}, shape: {x: from[0], y: from[1] - height / 2,
      width: Math.max(api.coord([step.start_ns + ns, params.dataIndex])[0] - from[0], 1.5), height}});
    return {type: 'group', children: [rect(step.time_ns, 0.35), ...(step.floor_ns === null ? [] : [rect(step.floor_ns, 1)])]};
  };
  const rows = {type: 'category', inverse: true, axisLine: {show: false}, splitLine: {show: false}};
  return {points: data.length, height: data.length * 38 + 36, option: {
    tooltip: {formatter: (at) => {
      const step = data[at.dataIndex];
      return tip(step.name, [['measured', duration(step.time_ns)], ['floor', duration(step.floor_ns)],
        ['of floor', step.floor_ns === null ? '–' : percent(step.floor_ns / step.time_ns)],
        ['class', step.kind || '–']]);
    }},
    grid: {left: 4, right: 4, top: 4, bottom: 4, containLabel: true},
    xAxis: axisOf(colours, {type: 'value', max: end, splitNumber: 4,
      axisLabel: {color: colours.dim, formatter: tickDuration, hideOverlap: true, showMaxLabel: false}}),
    yAxis: [
      axisOf(colours, {...rows, data: data.map((step) => step.name),
        axisLabel: {color: colours.ink, fontFamily: colours.mono, fontSize: 12, width: 112, overflow: 'truncate'}}),
      axisOf(colours, {...rows, position: 'right', data: data.map((step) => duration(step.time_ns) + '\n' +
        (step.floor_ns === null ? 'no floor' : 'floor ' + duration(step.floor_ns))),
      axisLabel: {color: colours.ink, fontSize: 12, lineHeight: 15, interval: 0}}),
    ],
    series: [{type: 'custom', renderItem: bar, encode: {x: [0, 1], y: 2}, clip: true,
      data: data.map((step, row) => [step.start_ns, step.start_ns + step.time_ns, row])}],
  }};
}

function images(data, colours) {
  const unit = data.length > 0 ? data[0].unit : 'request';
  const count = data.reduce((sum, part) => sum + part.times_ns.length, 0);
  return {points: count, option: {
    // Below the axis: the phases of a program may be many, and the name of the axis is above.
    legend: {bottom: 0, left: 0, type: 'scroll', textStyle: {color: colours.dim}, itemWidth: 10, itemHeight: 10},
    grid: {left: 8, right: 16, top: 28, bottom: 30, containLabel: true},
    tooltip: {formatter: (at) => tip(unit + ' ' + (at.value[0] + 1), [[at.seriesName, duration(at.value[1])]])},
    xAxis: axisOf(colours, {type: 'value', min: -0.5, max: Math.max(...data.map((part) => part.times_ns.length)) - 0.5,
      minInterval: 1, splitLine: {show: false},
      axisLabel: {color: colours.dim, formatter: (at) => Number.isInteger(at) ? String(at + 1) : ''}}),
    yAxis: axisOf(colours, {type: 'value', min: 0, name: `time, ${unit} by ${unit}`, nameTextStyle: {color: colours.dim, align: 'left'},
      axisLabel: {color: colours.dim, formatter: tickDuration}}),
    series: data.map((part, index) => ({type: 'scatter', name: part.name, symbolSize: 7,
      symbol: ['circle', 'diamond'][index % 2], data: part.times_ns.map((ns, at) => [at, ns])})),
  }};
}

function tokens(data, colours) {
  const from = (bin) => duration(data.edges_ns[bin]);
  const rest = data.above > 0 ? [{value: data.above, itemStyle: {color: colours.series[1]}}] : [];
  const labels = data.counts.map((count, bin) => tickDuration(data.edges_ns[bin]));
  if (rest.length) labels.push('longer');
  return {points: data.counts.length + rest.length, option: {
    tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: ([at]) => at.dataIndex < data.counts.length ?
      tip(from(at.dataIndex) + ' to ' + from(at.dataIndex + 1), [[data.title, String(at.value)]]) :
      tip('longer than ' + from(data.counts.length), [[data.title, String(data.above)]])},
    xAxis: axisOf(colours, {type: 'category', data: labels}),
    yAxis: axisOf(colours, {type: 'value', name: data.title + ', by time per step', nameTextStyle: {color: colours.dim, align: 'left'}}),
    series: [{type: 'bar', barCategoryGap: '8%', data: [...data.counts, ...rest]}],
  }};
}

function steps(data, colours) {
  const at = (column) => data.map((band) => [(band[0] + band[1]) / 2 + 1, band[column]]);
  const quiet = {type: 'line', symbol: 'none', lineStyle: {opacity: 0}, stack: 'band', silent: true};
  return {points: data.length, option: {
    tooltip: {trigger: 'axis', formatter: (given) => {
      const band = data[given[0].dataIndex];
      const place = band[0] === band[1] ? 'step ' + (band[0] + 1) : 'steps ' + (band[0] + 1) + ' to ' + (band[1] + 1);
      return tip(place, [['median', duration(band[3])], ['middle 80 %', duration(band[2]) + ' to ' + duration(band[4])],
        ['n', String(band[5])]]);
    }},
    xAxis: axisOf(colours, {type: 'value', min: 1, max: 'dataMax', minInterval: 1, splitLine: {show: false}}),
    yAxis: axisOf(colours, {type: 'value', min: 0, name: 'time of a step, by position', nameTextStyle: {color: colours.dim, align: 'left'},
      axisLabel: {color: colours.dim, formatter: tickDuration}}),
    series: [
      {...quiet, data: at(2)},
      {...quiet, data: data.map((band) => [(band[0] + band[1]) / 2 + 1, band[4] - band[2]]),
        areaStyle: {color: colours.series[0], opacity: 0.22}},
      {type: 'line', symbol: data.length === 1 ? 'circle' : 'none', lineStyle: {width: 1.5}, data: at(3),
        itemStyle: {color: colours.series[0]}},
    ],
  }};
}

// Shares of a whole, one bar per row; parts carry their names if there is room.
function stackedBars(plot, colours, rows, parts, partColours, say) {
  const hasRoom = (share, name) => share * (plot.clientWidth - 100) > name.length * 7 + 8;
  return {points: rows.length * parts.length, height: rows.length * 34 + 78, option: {
    legend: {top: 0, left: 0, textStyle: {color: colours.dim}, itemWidth: 12, itemHeight: 10, type: 'scroll',
      pageTextStyle: {color: colours.dim}, pageIconColor: colours.accent, pageIconInactiveColor: colours.line},
    tooltip: {formatter: (at) => say(at.dataIndex, at.seriesIndex)},
    grid: {left: 8, right: 24, top: 30, bottom: 8, containLabel: true},
    xAxis: axisOf(colours, {type: 'value', max: 1, axisLabel: {color: colours.dim, formatter: (x) => x * 100 + ' %'}}),
    yAxis: axisOf(colours, {type: 'category', inverse: true, data: rows.map((row) => row.name),
      axisLabel: {color: colours.ink, fontFamily: colours.mono, width: 120, overflow: 'truncate'}}),
    series: parts.map((name, part) => ({type: 'bar', stack: 'all', name, barMaxWidth: 22,
      itemStyle: {color: partColours[part % partColours.length], borderColor: colours.bg, borderWidth: 0.5},
      label: {show: true, color: colours.bg, fontSize: 12, formatter: (at) => hasRoom(at.value, name) ? name : ''},
      data: rows.map((row) => row.shares[part])})),
  }};
}

function sharesOf(times) {
  const sum = times.reduce((a, b) => a + b, 0);
  return times.map((ns) => sum > 0 ? ns / sum : 0);
}

function idle(data, colours, plot) {
  const rows = data.phases.map((phase) => ({name: phase.name, shares: sharesOf(phase.parts_ns), phase}));
  const [blue, red, green, pink, orange, sky, violet, grey] = colours.series;
  // Busy is the desired state; host activity has warm colours.
  return stackedBars(plot, colours, rows, data.parts, [green, red, sky, orange, pink, blue, violet, grey], (row, part) =>
    tip(rows[row].name + ': ' + data.parts[part], [
      ['of the captured time', percent(rows[row].shares[part])],
      ['per ' + rows[row].phase.unit, duration(rows[row].phase.parts_ns[part] / Math.max(rows[row].phase.units, 1))],
    ]));
}

// Common classes come first, so that they look the same in every report; others take the remaining colours.
const knownClasses = ['gemm', 'attention', 'elementwise', 'norm', 'copy', 'moe', 'reduction', 'softmax', 'indexing', 'gemv',
  'convolution', 'collective', 'sort', 'scan', 'random', 'sampling', 'quantization', 'state_space'];

function classColours(names, colours) {
  const taken = names.map((name) => knownClasses.indexOf(name));
  const free = colours.classes.map((colour, at) => at).filter((at) => !taken.includes(at));
  return names.map((name, at) => {
    if (name === 'no class') return colours.grey;
    const slot = taken[at] >= 0 ? taken[at] : free.shift();
    return slot === undefined ? colours.grey : colours.classes[slot];
  });
}

function classes(data, colours, plot) {
  const rows = data.phases.map((name, phase) => {
    const times = data.classes.map((kind) => kind.times_ns[phase]);
    return {name, times, shares: sharesOf(times)};
  });
  const names = data.classes.map((kind) => kind.name);
  return stackedBars(plot, colours, rows, names, classColours(names, colours), (row, part) =>
    tip(rows[row].name + ': ' + data.classes[part].name, [
      ['of its kernel time', percent(rows[row].shares[part])], ['time', duration(rows[row].times[part])]]));
}

// Curves below one another over a common time axis.
function nvml(data, colours) {
  const height = 96;
  const curves = data.curves;
  return {points: curves.length * data.at_s.length, height: curves.length * height + 30, option: {
    tooltip: {trigger: 'axis', formatter: (given) => tip(given[0].value[0].toFixed(1) + ' s',
      given.map((at) => [at.seriesName, at.value[1] === null ? '–' :
        Number(at.value[1].toPrecision(4)) + ' ' + curves[at.seriesIndex].unit]))},
    axisPointer: {link: [{xAxisIndex: 'all'}]},
    grid: curves.map((curve, row) => ({left: 64, right: 24, top: row * height + 24, height: height - 36})),
    xAxis: curves.map((curve, row) => axisOf(colours, {type: 'value', gridIndex: row, max: 'dataMax',
      splitLine: {show: false}, axisLabel: {show: row === curves.length - 1, color: colours.dim, showMaxLabel: false,
        formatter: (s) => Number(s.toPrecision(4)) + ' s'}})),
    yAxis: curves.map((curve, row) => axisOf(colours, {type: 'value', gridIndex: row, scale: true, splitNumber: 2,
      name: curve.name + ', ' + curve.unit, nameTextStyle: {color: colours.ink, fontSize: 12, align: 'left'}})),
    series: curves.map((curve, row) => ({type: 'line', name: curve.name, xAxisIndex: row, yAxisIndex: row,
      symbol: 'none', lineStyle: {width: 1.2}, itemStyle: {color: colours.series[row % 8]}, step: 'end',
      data: curve.values.map((value, at) => [data.at_s[at], value])})),
  }};
}

function addCharts(data) {
  const drawn = new Map();
  const plots = Array.from(document.querySelectorAll('[data-chart]'));
  if (!window.echarts) {
    for (const plot of plots) plot.closest('figure').hidden = true;
    return {drawn, drawAll() {}};
  }
  const draw = (plot) => {
    const name = plot.dataset.chart;
    const colours = palette();
    const made = chartMakers[name.split('.')[0]](data[name], colours, plot);
    if (made.height) plot.style.height = made.height + 'px';
    const old = drawn.get(name);
    if (old) old.dispose();
    const chart = window.echarts.init(plot, null, {renderer: onCanvas.has(name) ? 'canvas' : 'svg'});
    chart.on('finished', () => { plot.dataset.points = made.points; });
    const base = baseOption(colours);
    chart.setOption({...base, ...made.option, tooltip: {...base.tooltip, ...made.option.tooltip}});
    if (made.after) made.after(chart);
    drawn.set(name, chart);
  };
  const resize = () => { for (const chart of drawn.values()) chart.resize(); };
  window.addEventListener('resize', resize);
  return {drawn, drawAll: () => plots.forEach(draw)};
}
