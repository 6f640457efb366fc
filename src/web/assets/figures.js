// Figures as the tables print them (same rules as src/base/figures.cpp), and elements created without ever parsing text
// as HTML.

// A value exactly between two figures becomes the even one, as in C++; toFixed() takes the larger.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
  return (isTie ? 2 * Math.round(scaled / 2) / 10 ** digits : value).toFixed(digits);
}

// Three significant digits of a value below 999.5.
function threeDigits(value) {
  if (value >= 99.95) return fixed(value, 0);
  if (value >= 9.995) return fixed(value, 1);
  return fixed(value, value >= 0.9995 || value === 0 ? 2 : 3);
}

function withSign(value, textOf) {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return 'n/a';
  return value < 0 ? '-' + textOf(-value) : textOf(value);
}

function twoDigits(number) {
  return String(number).padStart(2, '0');
}

function longDuration(seconds) {
  if (seconds < 59.95) return fixed(seconds, 1) + ' s';
  const whole = Math.round(seconds);
  if (whole < 3600) return Math.floor(whole / 60) + ' min ' + twoDigits(whole % 60) + ' s';
  const minutes = Math.round(seconds / 60);
  return Math.floor(minutes / 60) + ' h ' + twoDigits(minutes % 60) + ' min';
}

function duration(ns) {
  return withSign(ns, (size) => {
    // A value that would round up to the next unit is written in that unit.
    if (size < 999.5) return Number(threeDigits(size)) + ' ns';
    if (size < 999.5e3) return threeDigits(size / 1e3) + ' us';
    if (size < 999.5e6) return threeDigits(size / 1e6) + ' ms';
    return longDuration(size / 1e9);
  });
}

// For axes: without insignificant digits.
function tickDuration(ns) {
  if (ns === 0) return '0';
  for (const [size, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]) {
    if (Math.abs(ns) >= size) return Number((ns / size).toPrecision(3)) + ' ' + unit;
  }
  return Number(ns.toPrecision(3)) + ' ns';
}

function amount(value, unit) {
  return withSign(value, (size) => {
    if (size < 999.5) return (Number.isInteger(size) ? String(size) : threeDigits(size)) + ' ' + unit;
    const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
    let at = 0;
    for (; size >= 999.5 && at + 1 < prefixes.length; ++at) size /= 1e3;
    return threeDigits(size) + ' ' + prefixes[at] + unit;
  });
}

function tickAmount(value, unit) {
  for (const [size, prefix] of [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(value) >= size) return Number((value / size).toPrecision(3)) + ' ' + prefix + unit;
  }
  return Number(value.toPrecision(3)) + (unit ? ' ' + unit : '');
}

function percent(share) {
  return withSign(share, (size) => {
    const hundredths = size * 100;
    if (size < 1e-6 || size >= 0.001) return fixed(hundredths, 1) + ' %';
    return Number(fixed(hundredths, 1 - Math.floor(Math.log10(hundredths)))) + ' %';
  });
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

// The tooltip of the point under the pointer.
function tip(title, rows) {
  const list = element('dl', {});
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', {}, value));
  return element('div', {class: 'tip'}, element('b', {}, cut(title, 300)), list);
}
