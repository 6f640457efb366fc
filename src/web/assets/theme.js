// Light and dark: as the system says until the reader chooses, then as chosen.

const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : systemDark.matches;
}

function rememberedTheme() {
  try {
    return localStorage.getItem('profline-theme');
  } catch {
    return null;  // a browser may refuse storage to files
  }
}

function rememberTheme(theme) {
  try {
    localStorage.setItem('profline-theme', theme);
  } catch {
    // The choice then lasts until the page is closed.
  }
}

function addThemeSwitch(changed) {
  const button = document.getElementById('theme');
  const label = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
  const remembered = rememberedTheme();
  if (remembered === 'dark' || remembered === 'light') document.documentElement.dataset.theme = remembered;
  label();
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    rememberTheme(document.documentElement.dataset.theme);
    label();
    changed();
  });
  systemDark.addEventListener('change', () => { label(); changed(); });
}

// The page's colours, for charts.
function palette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  const kinds = {'launch-bound': of('--c2'), 'host-bound': of('--c5'), 'memory-bound': of('--c3'),
    'compute-bound': of('--c1'), 'latency-bound': of('--c4'), mixed: of('--c7')};
  return {
    ink: of('--ink'), dim: of('--dim'), line: of('--line'), bg: of('--bg'), soft: of('--soft'),
    accent: of('--accent'), sans: of('--sans'), mono: of('--mono'),
    series: ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6', '--c7', '--c8'].map(of),
    grey: of('--c8'),
    classes: Array.from({length: 20}, (_, at) => of('--k' + (at + 1))),
    kind: (name) => kinds[name] || of('--c8'),
  };
}

// For printing: light colours, and everything expanded.
function addPrinting(changed) {
  let theme;
  let opened = [];
  window.addEventListener('beforeprint', () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = 'light';
    opened = Array.from(document.querySelectorAll('.phases details:not([open])'));
    for (const details of opened) details.open = true;
    changed();
  });
  window.addEventListener('afterprint', () => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const details of opened) details.open = false;
    changed();
  });
}
