// Pages of `profline serve`. Without this script they work by links and forms alone.

// Reads the page again and shows what changed, unless the reader is in the middle of something.
async function readAgain() {
  const answer = await fetch(location.href, {headers: {'Accept': 'text/html'}});
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const main = page.getElementById('main');
  // The run has ended, and its report is another page.
  if (!main || !page.querySelector('main.site')) {
    location.reload();
    return;
  }
  if (!page.body.dataset.refresh) delete document.body.dataset.refresh;
  showMain(main);
}

function isBusy() {
  const here = document.activeElement;
  const isTyping = here && here.matches('input, select, textarea') && here.type !== 'checkbox';
  return isTyping || document.querySelector('.pick input:checked') !== null || !getSelection().isCollapsed;
}

// What can have the keyboard's focus.
const focusable = 'a[href], button, input, select, textarea, summary, [tabindex]';

// What makes such an element recognisable, also in the next version of the page.
function identity(element) {
  const own = ['id', 'href', 'name', 'value', 'aria-label', 'data-trace'].map((name) => element.getAttribute(name));
  return [element.tagName, ...own, own.some(Boolean) ? '' : element.textContent].join('\n');
}

// Remembers where the focus is, and returns a function that gives it back: to the same element, else to what is in its place.
function rememberFocus(place) {
  const here = document.activeElement;
  if (!here || here === place || !place.contains(here)) return () => {};
  const before = Array.from(place.querySelectorAll(focusable));
  const same = before.filter((element) => identity(element) === identity(here));
  const [wanted, number, at] = [identity(here), same.indexOf(here), before.indexOf(here)];
  return () => {
    const now = Array.from(place.querySelectorAll(focusable));
    const again = now.filter((element) => identity(element) === wanted);
    const next = again[number] || again[0] || now[Math.min(at, now.length - 1)] || place;
    next.focus({preventScroll: true});
  };
}

function showMain(main) {
  const now = document.getElementById('main');
  if (now.innerHTML === main.innerHTML) return;
  const scrolled = Array.from(now.querySelectorAll('.scroll, pre'), (box) => [box.scrollLeft, box.scrollTop]);
  const giveFocusBack = rememberFocus(now);
  const opened = Array.from(now.querySelectorAll('details'), (details) => details.open);
  now.replaceChildren(...main.childNodes);
  now.querySelectorAll('.scroll, pre').forEach((box, at) => {
    if (scrolled[at]) [box.scrollLeft, box.scrollTop] = scrolled[at];
  });
  now.querySelectorAll('details').forEach((details, at) => { details.open = Boolean(opened[at]); });
  activate();
  giveFocusBack();
}

function addRefresh() {
  const again = async () => {
    const seconds = Number(document.body.dataset.refresh);
    if (!seconds) return;
    if (document.visibilityState === 'visible' && !isBusy()) {
      try {
        await readAgain();
      } catch {
        // The server has gone or is restarting; the next turn tries again.
      }
    }
    setTimeout(again, seconds * 1000);
  };
  if (document.body.dataset.refresh) setTimeout(again, Number(document.body.dataset.refresh) * 1000);
}

// The list follows the filter while somebody types; the button works as well.
function addLiveFilter() {
  const form = document.querySelector('form.filter[role="search"]');
  if (!form) return;
  let waiting = 0;
  let latest = 0;
  const apply = async () => {
    const query = new URLSearchParams(Array.from(new FormData(form)).filter(([, value]) => value));
    const address = query.size ? '/?' + query : '/';
    const mine = ++latest;
    const answer = await fetch(address);
    if (mine !== latest) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    history.replaceState(null, '', address);
    // The form keeps its focus: only what follows it is replaced.
    const [now, next] = [document.getElementById('main'), page.getElementById('main')];
    const mark = now.querySelector('form.filter');
    const nextMark = next.querySelector('form.filter');
    while (mark.nextSibling) mark.nextSibling.remove();
    while (nextMark.nextSibling) now.append(nextMark.nextSibling);
    now.querySelector('.lead').textContent = next.querySelector('.lead').textContent;
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { apply().catch(() => form.submit()); }, 150);
  };
  form.addEventListener('input', soon);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    soon();
  });
}

// On a phone the fields would fill the screen: the first one stays, until the others are wanted or used.
function addShortFilter() {
  const form = document.querySelector('form.filter');
  if (!form || location.search || !matchMedia('(max-width: 640px)').matches) return;
  const button = element('button', {type: 'button', 'aria-expanded': 'false'}, 'All filters');
  form.classList.add('short');
  form.querySelector('.buttons').append(button);
  button.addEventListener('click', () => {
    form.classList.remove('short');
    button.remove();
    form.querySelector('label:nth-child(2) > *:last-child').focus();
  });
}

// Perfetto's page answers PONG once it can take a trace (its documented protocol for other pages).
function openInPerfetto(button) {
  const origin = 'https://ui.perfetto.dev';
  const status = document.getElementById('perfetto-status');
  const tab = window.open(origin, '_blank');
  const say = (text) => { status.textContent = text; };
  if (!tab) {
    say('The browser did not open a window for Perfetto.');
    return;
  }
  say('Waiting for ui.perfetto.dev …');
  const trace = fetch(button.dataset.trace).then((answer) => answer.arrayBuffer());
  const ping = setInterval(() => tab.postMessage('PING', origin), 200);
  const giveUp = setTimeout(() => {
    stop();
    say('ui.perfetto.dev did not answer. Download the trace and open it in Perfetto yourself.');
  }, 15000);
  const stop = () => {
    clearInterval(ping);
    clearTimeout(giveUp);
    window.removeEventListener('message', listen);
  };
  const listen = async (event) => {
    if (event.origin !== origin || event.source !== tab || event.data !== 'PONG') return;
    stop();
    tab.postMessage({perfetto: {buffer: await trace, title: button.dataset.name}}, origin);
    say('The trace was handed to Perfetto.');
  };
  window.addEventListener('message', listen);
}

// The timeline of a capture. What it shows stands in the address, so that a link leads to the same place.
let timeline = null;
function addTimeline() {
  const place = document.querySelector('[data-tiles]');
  if (!place) return;
  const ask = async (parameters) => {
    const answer = await fetch(place.dataset.tiles + '?' + new URLSearchParams(parameters));
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
  };
  const [from, to] = location.hash.slice(1).split('_').map(Number);
  const changed = (view) => history.replaceState(null, '', '#' + Math.floor(view.from) + '_' + Math.ceil(view.to));
  timeline = captureTimeline(place, ask, to > from ? {changed, from, to} : {changed});
}

// What the content of a page needs; called again when it is replaced.
function activate() {
  addTables();
  addLiveFilter();
  addShortFilter();
  for (const button of document.querySelectorAll('button.perfetto')) {
    button.addEventListener('click', () => openInPerfetto(button));
  }
}

document.documentElement.classList.add('script');
// Before the first paint, so that nothing flashes.
if (rememberedTheme() === 'dark' || rememberedTheme() === 'light') document.documentElement.dataset.theme = rememberedTheme();
document.addEventListener('DOMContentLoaded', () => {
  addThemeSwitch(() => { if (timeline) timeline.restyle(); });
  activate();
  addTimeline();
  addRefresh();
});
