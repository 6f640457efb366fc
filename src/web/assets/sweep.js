// Charts of a sweep's page: metrics of jobs against the values that were swept.

function metricText(value, unit) {
  return unit === 'ms' ? duration(value * 1e6) : tickAmount(value, '') + ' ' + unit;
}

// Jobs that differ by more than this are shown on a logarithmic scale: otherwise the slowest hides the others.
const widestLinear = 20;

function isWide(values) {
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) > Math.min(...values) * widestLinear;
}

function metricAxis(colours, name, unit, values, more) {
  const isLog = isWide(values);
  return axisOf(colours, {type: isLog ? 'log' : 'value', scale: true, name: isLog ? name + ' (log)' : name,
    nameTextStyle: {color: colours.ink, fontSize: 12, align: 'left'},
    axisLabel: {color: colours.dim, hideOverlap: true, formatter: (value) => unit === 'ms' ? tickDuration(value * 1e6) : tickAmount(value, '')},
    ...more});
}

// Every job by two metrics; those that no other beats in both are joined by a line.
function tradeoff(data, colours) {
  const say = (at) => {
    const point = data.points[at.data.index];
    return tip('job ' + point.job, [[data.x.name, metricText(point.x, data.x.unit)],
      [data.y.name, metricText(point.y, data.y.unit)], ['', point.label]]);
  };
  const marks = data.points.map((point, index) => ({value: [point.x, point.y], index, front: point.front}));
  const front = marks.filter((mark) => mark.front).sort((a, b) => a.value[0] - b.value[0]);
  // Labels point away from the nearer edge, where there is an axis or no room.
  const xs = data.points.map((point) => point.x);
  const place = (x) => isWide(xs) ? Math.log10(x) : x;
  const middle = (place(Math.min(...xs)) + place(Math.max(...xs))) / 2;
  for (const mark of front) mark.label = {align: place(mark.value[0]) <= middle ? 'left' : 'right'};
  return {points: data.points.length, height: 340, option: {
    tooltip: {formatter: say},
    grid: {left: 8, right: 24, top: 32, bottom: 28, containLabel: true},
    xAxis: metricAxis(colours, data.x.name, data.x.unit, data.points.map((point) => point.x), {nameLocation: 'middle', nameGap: 28,
      nameTextStyle: {color: colours.ink, fontSize: 12}}),
    yAxis: metricAxis(colours, data.y.name, data.y.unit, data.points.map((point) => point.y)),
    series: [
      {type: 'line', symbol: 'none', silent: true, lineStyle: {color: colours.series[1], width: 1.5, type: 'dashed'},
        data: front.map((mark) => mark.value)},
      {type: 'scatter', symbolSize: 9, itemStyle: {color: colours.grey, opacity: 0.8}, data: marks.filter((mark) => !mark.front)},
      {type: 'scatter', symbolSize: 12, symbol: 'diamond', itemStyle: {color: colours.series[1]}, data: front,
        labelLayout: {hideOverlap: true},
        label: {show: true, position: 'top', color: colours.ink, textBorderColor: colours.bg, textBorderWidth: 3, fontSize: 12, formatter: (at) => 'job ' + data.points[at.data.index].job}},
    ],
  }};
}

const legendMark = 14;
const legendGap = 10;
const legendFont = 7;  // the width of a letter, generously

function legendName(name, width) {
  return cut(name, Math.max(16, Math.floor((width - legendMark - 24) / legendFont)));
}

// How many rows a legend takes: its entries are set one after another and wrap.
function rowsOfLegend(names, width) {
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const needed = legendName(name, width).length * legendFont + legendMark + 5 + legendGap;
    if (used > 0 && used + needed > width) {
      rows += 1;
      used = 0;
    }
    used += needed;
  }
  return rows;
}

// A metric over the values of one key, a line for each combination of the others, with intervals.
function swept(data, colours, plot) {
  const named = data.series.filter((series) => series.name);
  // Marks at the same value stand side by side, unless lines lead to them.
  const shift = (index) => isNumber ? 0 : (index - (data.series.length - 1) / 2) * 10;
  const isNumber = data.axis.every((value) => value !== '' && !Number.isNaN(Number(value)));
  // Jobs beyond the first lines share a colour and are not joined.
  const colourOf = (index) => index < 8 ? colours.series[index] : colours.dim;
  const bars = data.series.map((series, index) => ({type: 'custom', silent: true, z: 1, name: series.name,
    itemStyle: {color: colourOf(index)}, encode: {x: 0, y: [1, 2]},
    data: series.points.filter((point) => point[2] !== null).map((point) => [point[0], point[2], point[3]]),
    renderItem: (params, api) => {
      const at = (value) => api.coord([api.value(0), value]).map((place, axis) => place + (axis === 0 ? shift(index) : 0));
      const low = at(api.value(1));
      const high = at(api.value(2));
      const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2},
        style: {stroke: colourOf(index), lineWidth: 1.2, opacity: 0.8}});
      return {type: 'group', children: [line(low[0], low[1], high[0], high[1]),
        line(low[0] - 4, low[1], low[0] + 4, low[1]), line(high[0] - 4, high[1], high[0] + 4, high[1])]};
    }}));
  const lines = data.series.map((series, index) => ({type: 'line', name: series.name, symbolSize: 7,
    symbolOffset: [shift(index), 0], symbol: index < 8 ? ['circle', 'diamond', 'triangle', 'rect'][index % 4] : 'emptyCircle', itemStyle: {color: colourOf(index)},
    lineStyle: {width: isNumber && index < 8 ? 1.3 : 0, color: colourOf(index)},
    data: [...series.points].sort((a, b) => a[0] - b[0]).map((point) => [point[0], point[1], ...point.slice(2)])}));
  const legendRows = named.length < 2 ? 0 : rowsOfLegend(named.map((series) => series.name), plot.clientWidth);
  const values = data.series.flatMap((series) => series.points.flatMap((point) => point.slice(1, 4))).filter((value) => value !== null);
  return {points: data.series.reduce((sum, series) => sum + series.points.length, 0), height: 270 + legendRows * 18, option: {
    legend: {show: named.length > 1, bottom: 0, left: 0, data: named.map((series) => series.name), itemWidth: legendMark, itemHeight: 8,
      itemGap: legendGap, formatter: (name) => legendName(name, plot.clientWidth), textStyle: {color: colours.dim, fontSize: 12}},
    tooltip: {formatter: (at) => tip(data.key + '=' + data.axis[at.value[0]], [[data.metric, metricText(at.value[1], data.unit)],
      ...(at.value[2] === null ? [] : [['interval', metricText(at.value[2], data.unit) + ' to ' + metricText(at.value[3], data.unit)]]),
      ['job', String(at.value[4])], ['', at.seriesName]])},
    grid: {left: 8, right: 16, top: 30, bottom: 12 + legendRows * 18, containLabel: true},
    xAxis: axisOf(colours, {type: 'category', data: data.axis.map((value) => cut(value === '' ? '(not set)' : value, 24)), splitLine: {show: false}}),
    yAxis: metricAxis(colours, data.metric, data.unit, values),
    series: [...lines, ...bars],
  }};
}

// The metric of each combination of two keys; darker is better.
function pairs(data, colours) {
  const isLog = isWide(data.cells.map((cell) => cell[2]));
  const shadeOf = (value) => isLog ? Math.log10(value) : value;
  const values = data.cells.map((cell) => shadeOf(cell[2]));
  const low = Math.min(...values);
  const high = Math.max(...values);
  const shades = [colours.soft, colours.series[0]];
  const best = data.higher_is_better ? high : low;
  const isDarkCell = (value) => high > low && Math.abs(shadeOf(value) - best) < (high - low) * 0.45;
  return {points: data.cells.length, height: data.y.values.length * 38 + 76, option: {
    tooltip: {formatter: (at) => tip('job ' + at.value[3], [[data.metric, metricText(at.value[2], data.unit)],
      [data.x.key, data.x.values[at.value[0]]], [data.y.key, data.y.values[at.value[1]]]])},
    grid: {left: 8, right: 16, top: 26, bottom: 26, containLabel: true},
    visualMap: {show: false, min: low, max: high > low ? high : low + 1, dimension: 4,
      inRange: {color: data.higher_is_better ? shades : [...shades].reverse()}},
    xAxis: axisOf(colours, {type: 'category', data: data.x.values.map((value) => cut(value, 24)), name: data.x.key, nameLocation: 'middle', nameGap: 26,
      nameTextStyle: {color: colours.ink, fontSize: 12}, splitLine: {show: false}}),
    yAxis: axisOf(colours, {type: 'category', data: data.y.values.map((value) => cut(value, 24)), name: data.y.key,
      nameTextStyle: {color: colours.ink, fontSize: 12, align: 'left'}, splitLine: {show: false}}),
    series: [{type: 'heatmap', data: data.cells.map((cell, index) => [...cell, values[index]]), encode: {x: 0, y: 1}, itemStyle: {borderColor: colours.bg, borderWidth: 2},
      label: {show: true, fontSize: 12, formatter: (at) => (isDarkCell(at.value[2]) ? '{best|' : '{rest|') +
        (data.unit === 'ms' ? metricText(at.value[2], 'ms') : tickAmount(at.value[2], '')) + '}',
        rich: {best: {color: colours.bg, fontWeight: 600}, rest: {color: colours.ink}}}}],
  }};
}
