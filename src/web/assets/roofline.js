// Operations per second over operations per byte, both on logarithmic axes, under the limits of the device.

function rooflineCeilings(data, low, high, colours, isNarrow) {
  const bandwidth = data.bytes_per_second;
  const top = Math.max(...data.ceilings.map((ceiling) => ceiling.rate), 0);
  const line = (name, points, text, isBelow) => ({type: 'line', name, symbol: 'none', silent: true, z: 1,
    lineStyle: {color: colours.ink, width: 1.2}, data: points,
    endLabel: {show: true, formatter: text, color: colours.dim, fontSize: 12, offset: [-6, isBelow ? 10 : -9], align: 'right'}});
  const all = [];
  let above = Infinity;
  for (const ceiling of [...data.ceilings].sort((a, b) => b.rate - a.rate)) {
    const from = bandwidth ? Math.max(ceiling.rate / bandwidth, low) : low;
    if (from >= high) continue;
    // The name of a ceiling just below another one has no room above its line.
    all.push(line('ceiling', [[from, ceiling.rate], [high, ceiling.rate]],
      ceiling.name + ' ' + amount(ceiling.rate, 'FLOP/s'), above / ceiling.rate < 3));
    above = ceiling.rate;
  }
  if (bandwidth) {
    const ridge = top > 0 ? Math.min(top / bandwidth, high) : high;
    all.push({...line('memory', [[low, low * bandwidth], [ridge, ridge * bandwidth]], ''), endLabel: {show: false}});
    // An invisible point carries the name of the slope.
    const at = Math.sqrt(low * ridge);
    all.push({type: 'scatter', name: 'slope', silent: true, symbolSize: 0.1, data: [[at, at * bandwidth]],
      label: {show: true, position: isNarrow ? 'right' : 'left', distance: 12, formatter: 'memory ' + amount(bandwidth, 'B/s'), color: colours.dim, fontSize: 12}});
  }
  // What the same limits are according to another source.
  for (const other of data.others) {
    const dashed = (points) => all.push({type: 'line', name: other.name, symbol: 'none', silent: true, z: 1,
      lineStyle: {color: colours.dim, width: 1, type: 'dashed'}, data: points});
    const slope = other.bytes_per_second;
    for (const rate of other.rates) dashed([[slope ? Math.max(rate / slope, low) : low, rate], [high, rate]]);
    const ridge = slope ? Math.min(Math.max(...other.rates, 0) / slope, high) : 0;
    if (ridge > low) dashed([[low, low * slope], [ridge, ridge * slope]]);
  }
  return all;
}

function powersOfTen(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return [10 ** Math.floor(Math.min(...logs)), 10 ** Math.ceil(Math.max(...logs) + 0.01)];
}

// Phases are "launch-bound", kernels just "launch"; both have the same colour.
function kindOf(bound) {
  return bound.endsWith('bound') || bound === 'mixed' ? bound : bound + '-bound';
}

function phaseChoices(plot, phases, bounds, choose) {
  const figure = plot.closest('figure');
  const old = figure.querySelector('.choices');
  if (old) old.remove();
  const row = element('div', {class: 'choices', role: 'group', 'aria-label': 'phases shown'});
  for (const phase of phases.length < 2 ? [] : ['all', ...phases]) {
    const button = element('button', {type: 'button', 'data-phase': phase,
      'aria-pressed': String(phase === 'all')}, cut(phase, 40));
    button.addEventListener('click', () => {
      for (const other of row.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button));
      choose(phase);
    });
    row.append(button);
  }
  for (const bound of bounds) row.append(element('span', {class: 'tag', 'data-kind': kindOf(bound)}, cut(bound, 40)));
  plot.before(row);
}

function roofline(data, colours, plot) {
  const points = data.points;
  const [low, high] = powersOfTen([...points.map((point) => point.intensity),
    ...(data.bytes_per_second ? data.ceilings.map((ceiling) => ceiling.rate / data.bytes_per_second * 3) : [])]);
  const [bottom] = powersOfTen(points.map((point) => point.rate));
  const top = 3 * Math.max(...points.map((point) => point.rate), ...data.ceilings.map((ceiling) => ceiling.rate),
    ...data.others.flatMap((other) => other.rates));
  const longest = {true: 0, false: 0};
  for (const point of points) longest[point.is_phase] = Math.max(longest[point.is_phase], point.time_ns);
  const bounds = Array.from(new Set(points.map((point) => point.bound)));
  const colourOf = (point) => colours.kind(kindOf(point.bound));
  const sized = (point) => 6 + 24 * Math.sqrt(point.time_ns / Math.max(longest[point.is_phase], 1));
  const shown = (phase) => points.filter((point) => phase === 'all' || point.phase === phase)
    .sort((a, b) => b.time_ns - a.time_ns)
    .map((point) => ({value: [point.intensity, point.rate], point, symbol: point.is_phase ? 'diamond' : 'circle',
      symbolSize: sized(point),
      itemStyle: {color: colourOf(point), opacity: 0.75, borderColor: colours.ink, borderWidth: point.is_phase ? 1 : 0.5},
      label: {show: point.is_phase, formatter: cut(point.phase, 24), position: 'right', color: colours.ink, fontSize: 12}}));
  const logAxis = (name, from, to, unit) => axisOf(colours, {type: 'log', name, nameLocation: 'middle', min: from, max: to,
    minorSplitLine: {show: false}, axisLabel: {color: colours.dim, formatter: (at) => Number.isInteger(Number(Math.log10(at).toFixed(6))) ? tickAmount(at, unit) : ''}});
  return {points: points.length, option: {
    tooltip: {formatter: (at) => {
      const point = at.data.point;
      if (!point) return '';  // a ceiling
      return tip(point.name, [['phase', point.phase], ['bound', point.bound],
        ['intensity', amount(point.intensity, 'FLOP/B')], ['reached', amount(point.rate, 'FLOP/s')],
        ['of its roof', percent(point.of_roof)], ['time', duration(point.time_ns)], ['name', cut(point.whole, 240)]]);
    }},
    grid: {left: 24, right: 24, top: 16, bottom: 28, containLabel: true},
    xAxis: {...logAxis('FLOP per byte of device memory', low, high, ''), nameGap: 28},
    yAxis: {...logAxis('FLOP/s', bottom, top, 'FLOP/s'), nameLocation: 'end', name: ''},
    series: [{type: 'scatter', id: 'points', name: 'points', z: 3, data: shown('all'), labelLayout: {hideOverlap: true}},
      ...rooflineCeilings(data, low, high, colours, plot.clientWidth < 560)],
    aria: {label: {description: points.length + ' points, bound by ' + bounds.join(', ')}},
  }, after: (chart) => phaseChoices(plot, Array.from(new Set(points.map((point) => point.phase))).sort(), bounds,
    (phase) => {
      const left = shown(phase);
      chart.setOption({series: [{id: 'points', data: left}]});
      plot.dataset.points = left.length;
    })};
}
