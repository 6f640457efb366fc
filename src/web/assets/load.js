// Charts of a load on a server.

// Histogram of a latency, with its percentiles and the SLO as lines.
function latency(data, colours) {
  const last = data.edges_ns.length - 1;
  const bar = (params, api) => {
    const bin = params.dataIndex;
    const [left, top] = api.coord([data.edges_ns[bin], data.counts[bin]]);
    const [right, bottom] = api.coord([data.edges_ns[bin + 1], 0]);
    return {type: 'rect', style: {fill: colours.series[0], opacity: 0.75},
      shape: {x: left, y: top, width: Math.max(right - left - 1, 0.5), height: bottom - top}};
  };
  const inside = (ns) => ns >= data.edges_ns[0] && ns <= data.edges_ns[last];
  const line = (name, ns, style) => ({xAxis: ns, name, lineStyle: style, label: {formatter: name, color: colours.dim, fontSize: 11}});
  const lines = data.percentiles.filter((one) => inside(one.ns))
    .map((one) => line(one.name, one.ns, {color: colours.ink, type: 'solid', width: 1}));
  if (data.slo_ns !== null && inside(data.slo_ns)) {
    lines.push(line('SLO', data.slo_ns, {color: colours.series[1], type: 'dashed', width: 1.5}));
  }
  const name = data.name + ', ' + data.unit + (data.above > 0 ? '; ' + data.above + ' longer, not shown' : '');
  return {points: data.counts.length, option: {
    tooltip: {formatter: (at) => at.componentType === 'markLine' ?
      tip(data.name + ' ' + at.name, [['', duration(at.value)]]) :
      tip(duration(data.edges_ns[at.dataIndex]) + ' to ' + duration(data.edges_ns[at.dataIndex + 1]),
        [[data.unit, String(data.counts[at.dataIndex])]])},
    grid: {left: 8, right: 24, top: 46, bottom: 8, containLabel: true},
    xAxis: axisOf(colours, {type: 'value', min: data.edges_ns[0], max: data.edges_ns[last], splitNumber: 4, splitLine: {show: false},
      axisLabel: {color: colours.dim, formatter: tickDuration, hideOverlap: true, showMinLabel: false, showMaxLabel: false}}),
    yAxis: axisOf(colours, {type: 'value', name, minInterval: 1, splitNumber: 3, nameGap: 26,
      nameTextStyle: {color: colours.ink, fontSize: 12, align: 'left'}}),
    series: [{type: 'custom', name: data.name, renderItem: bar, encode: {x: [0, 1], y: 2}, clip: true,
      data: data.counts.map((count, bin) => [data.edges_ns[bin], data.edges_ns[bin + 1], count]),
      markLine: {symbol: 'none', data: lines}}],
  }};
}

// Throughput, requests in flight and errors below one another; the steady part is shaded, and the window of each profiler lies
// between dashed lines.
function seconds(data, colours) {
  const made = nvml(data, colours);
  const [from, to] = data.steady_s;
  const last = Math.max(0, ...data.windows.map((one) => one.to_s));
  const lines = (row) => data.windows.flatMap((one) => [one.from_s, one.to_s].map((at, end) => ({xAxis: at,
    label: {show: row === 0 && end === 0, formatter: one.name, color: colours.ink, fontSize: 11}})));
  for (const axis of made.option.yAxis) Object.assign(axis, {scale: false, min: 0});
  // A load under a profiler goes on until its window has closed, perhaps for longer than the one without.
  for (const axis of made.option.xAxis) axis.max = (shown) => Math.max(shown.max, last);
  made.option.series.forEach((series, row) => {
    if (data.windows.length === 0) return;
    series.markLine = {symbol: 'none', silent: true, data: lines(row), lineStyle: {color: colours.series[2], type: 'dashed', width: 1.2}};
  });
  for (const series of made.option.series) {
    if (series.name === 'failed') series.itemStyle = {color: colours.series[1]};
    if (to > from) {
      series.markArea = {silent: true, itemStyle: {color: colours.accent, opacity: 0.08}, data: [[{xAxis: from}, {xAxis: to}]]};
    }
  }
  return made;
}

// Latency and the share of good requests against the offered rate; a point per run, hollow where the SLOs were missed.
function search(data, colours) {
  const height = 150;
  const rows = [
    {name: 'TTFT', unit: tickDuration, slo: data.slo_ttft_ns, lines: [['p50', 'ttft_p50_ns'], ['p99', 'ttft_p99_ns']]},
    {name: 'TPOT', unit: tickDuration, slo: data.slo_tpot_ns, lines: [['p50', 'tpot_p50_ns'], ['p99', 'tpot_p99_ns']]},
    {name: 'good requests', unit: (share) => Math.round(share * 100) + ' %', slo: data.slo_share, lines: [['good', 'good']]},
  ].filter((row) => data.trials.some((trial) => trial[row.lines[0][1]] !== null));
  const rates = data.trials.map((trial) => trial.rate);
  const series = rows.flatMap((row, at) => row.lines.map(([label, key], place) => ({
    type: 'line', name: row.name + (label === 'good' ? '' : ' ' + label), xAxisIndex: at, yAxisIndex: at,
    itemStyle: {color: colours.series[place === 0 ? 0 : 2]}, lineStyle: {width: 1.2}, symbolSize: 8,
    endLabel: {show: row.lines.length > 1, formatter: label, color: colours.dim, fontSize: 11}, connectNulls: true,
    data: data.trials.map((trial) => ({value: [trial.rate, trial[key]], symbol: trial.met ? 'circle' : 'emptyCircle'})),
    markLine: place > 0 ? undefined : {symbol: 'none', silent: true, data: [
      ...(data.rate === null ? [] : [{xAxis: data.rate, lineStyle: {color: colours.ink, type: 'solid', width: 1.5},
        label: {show: at === 0, formatter: 'result: ' + Number(data.rate.toPrecision(3)) + '/s', color: colours.ink, fontSize: 12}}]),
      ...(row.slo === null ? [] : [{yAxis: row.slo, lineStyle: {color: colours.series[1], type: 'dashed', width: 1.2},
        label: {show: true, position: 'insideStartTop', formatter: 'SLO', color: colours.series[1], fontSize: 11}}]),
    ]},
  })));
  // Latencies beyond the capacity are far larger than those below it.
  const axis = (row) => {
    const values = row.lines.flatMap(([, key]) => data.trials.map((trial) => trial[key])).concat(row.slo).filter((value) => value > 0);
    const isWide = row.lines.length > 1 && Math.max(...values) > 10 * Math.min(...values);
    return isWide ? {type: 'log', min: 10 ** Math.floor(Math.log10(Math.min(...values)))} : {type: 'value', min: 0};
  };
  const say = (key, trial) => trial[key] === null ? '–' : key === 'good' ? percent(trial.good) : duration(trial[key]);
  return {points: series.reduce((all, one) => all + one.data.length, 0), height: rows.length * height + 8, option: {
    legend: {show: false},
    tooltip: {trigger: 'item', formatter: (at) => {
      const trial = data.trials[at.dataIndex];
      return tip(Number(trial.rate.toPrecision(4)) + ' requests/s', [['SLOs', trial.met ? 'met' : 'not met'],
        ['good requests', say('good', trial)],
        ...rows.filter((row) => row.lines.length > 1).flatMap((row) => row.lines.map(([label, key]) => [row.name + ' ' + label, say(key, trial)]))]);
    }},
    grid: rows.map((row, at) => ({left: 72, right: 40, top: at * height + 34, height: height - 54})),
    xAxis: rows.map((row, at) => axisOf(colours, {type: 'value', gridIndex: at, min: 0, max: Math.max(...rates) * 1.05,
      axisLabel: {show: at === rows.length - 1, color: colours.dim, showMaxLabel: false,
        formatter: (rate) => Number(rate.toPrecision(3)) + '/s'}})),
    yAxis: rows.map((row, at) => axisOf(colours, {...axis(row), gridIndex: at, splitNumber: 3,
      ...(row.lines[0][1] === 'good' ? {max: 1, interval: 0.25} : {}),
      name: row.name + (row.lines.length > 1 ? ' p50 and p99' : ''), nameTextStyle: {color: colours.ink, fontSize: 12, align: 'left'},
      axisLabel: {color: colours.dim, formatter: row.unit}})),
    series,
  }};
}
