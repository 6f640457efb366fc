// Figures as the tables print them, and elements made without ever parsing text as HTML.

function scaled(value, units) {
  // A value that would round up to the next unit is written in that unit.
  let at = 0;
  while (at + 1 < units.length && Math.abs(value) >= units[at + 1][0] * 0.9995) ++at;
  const shown = value / units[at][0];
  const digits = shown === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(shown) * 1.0005)));
  return shown.toFixed(Math.min(digits, 3)) + ' ' + units[at][1];
}

function duration(ns) {
  if (ns === null || ns === undefined) return '–';
  return scaled(ns, [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']]);
}

// For axes: no digits that say nothing.
function tickDuration(ns) {
  if (ns === 0) return '0';
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]) {
    if (Math.abs(ns) >= size) return Number((ns / size).toPrecision(3)) + ' ' + unit;
  }
  return Number(ns.toPrecision(3)) + ' ns';
}

function amount(value, unit) {
  if (value === null || value === undefined) return '–';
  return scaled(value, [[1, unit], [1e3, 'k' + unit], [1e6, 'M' + unit], [1e9, 'G' + unit], [1e12, 'T' + unit],
    [1e15, 'P' + unit]]);
}

function tickAmount(value, unit) {
  for (const [size, prefix] of [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(value) >= size) return Number((value / size).toPrecision(3)) + ' ' + prefix + unit;
  }
  return Number(value.toPrecision(3)) + (unit ? ' ' + unit : '');
}

function percent(share) {
  if (share === null || share === undefined) return '–';
  return (share * 100).toFixed(share < 0.1 ? 2 : 1) + ' %';
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function cut(text, length) {
  return text.length <= length ? text : text.slice(0, length - 1) + '…';
}

// What a chart says of the point under the pointer.
function tip(title, rows) {
  const list = element('dl', {});
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', {}, value));
  return element('div', {class: 'tip'}, element('b', {}, cut(title, 300)), list);
}
