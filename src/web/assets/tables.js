// Sorting, search and filters for tables that are complete without them.

function cellKey(cell) {
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  return (cell.querySelector('summary') || cell).textContent.trim();
}

function compareKeys(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

// Unknown values come last, whichever way the rest is sorted.
function isUnknown(key) {
  return key === '–' || key === '';
}

function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row, index) => ({row, index, key: cellKey(row.cells[column])}));
  rows.sort((a, b) => {
    if (isUnknown(a.key) !== isUnknown(b.key)) return isUnknown(a.key) ? 1 : -1;
    return compareKeys(a.key, b.key) * (descending ? -1 : 1) || a.index - b.index;
  });
  body.append(...rows.map((entry) => entry.row));
  for (const [index, head] of Array.from(table.tHead.rows[0].cells).entries()) {
    if (index === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
  }
}

function addSorting(table) {
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = element('button', {type: 'button'}, head.textContent);
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const state = head.getAttribute('aria-sort');
      // The first click sorts figures largest first and names from A.
      const largestFirst = head.classList.contains('n');
      sortTable(table, column, state === null ? largestFirst : state === 'ascending');
    });
  });
}

function choiceOf(table, column, title, changed) {
  const values = new Set();
  for (const row of table.tBodies[0].rows) values.add(row.cells[column].textContent.trim());
  if (values.size < 2) return null;
  const select = element('select', {'aria-label': title}, element('option', {value: ''}, title + ': all'));
  for (const value of Array.from(values).sort()) select.append(element('option', {value}, cut(value, 60)));
  select.addEventListener('change', changed);
  return {select, matches: (row) => !select.value || row.cells[column].textContent.trim() === select.value};
}

function addSearch(table) {
  const input = element('input', {type: 'search', placeholder: 'Search', 'aria-label': 'search in ' +
    table.caption.textContent});
  const count = element('output', {});
  const choices = [];
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      if (words.length) row.searched = row.searched || row.textContent.toLowerCase();
      row.hidden = !(words.every((word) => row.searched.includes(word)) &&
        choices.every((choice) => choice.matches(row)));
      if (!row.hidden) ++shown;
    }
    const all = table.tBodies[0].rows.length;
    count.textContent = shown === all ? all + ' rows' : shown + ' of ' + all + ' rows';
  };
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    if (head.dataset.choice === undefined) return;
    const choice = choiceOf(table, column, head.textContent.trim(), apply);
    if (choice) choices.push(choice);
  });
  input.addEventListener('input', apply);
  const tools = element('div', {class: 'tools'}, input, ...choices.map((choice) => choice.select), count);
  table.closest('.scroll').before(tools);
  apply();
}

function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // A page opened from disk may not have access to the clipboard.
  const area = element('textarea', {class: 'sr', readonly: ''});
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return Promise.resolve();
}

function addCopyButton(whole) {
  if (whole.nextElementSibling && whole.nextElementSibling.classList.contains('copy')) return;
  const button = element('button', {type: 'button', class: 'copy'}, 'Copy');
  button.addEventListener('click', () => {
    copyText(whole.textContent).then(() => { button.textContent = 'Copied'; },
      () => { button.textContent = 'Could not copy'; });
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  whole.after(button);
}

function addTables() {
  // A server sorts a table of which it shows a part.
  for (const table of document.querySelectorAll('table.data:not([data-paged])')) {
    // Before sorting, because filters take their titles from the columns.
    if (table.dataset.search !== undefined) addSearch(table);
    addSorting(table);
  }
  // There are many names, so a button is added only when a name is opened.
  document.addEventListener('toggle', (event) => {
    if (!event.target.open) return;
    for (const whole of event.target.querySelectorAll(':scope > .whole, :scope > p > .whole')) addCopyButton(whole);
  }, true);
  for (const whole of document.querySelectorAll('pre > .whole')) addCopyButton(whole);
}
