// Tests what a reader of a capture's timeline sees and does, in Chromium, with answers of the real index. Started by
// run_capture_tests.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

const env = process.env;
const {chromium} = createRequire(join(env.CAPTURE_TEST_MODULES, 'x.js'))('playwright-core');
const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = env.PROFLINE_SCREENSHOTS || join(env.CAPTURE_TEST_WORK, 'pictures');
const source = (path) => readFileSync(join(root, path), 'utf8');
const captures = {
  loop: join(env.CAPTURE_TEST_WORK, 'loop.sqlite'),
  h200: join(root, 'tests/golden/nsys/2025.3-decode/input.sqlite'),
  kineto: join(root, 'tests/golden/zoo/nsys-2025.3_ncu-2025.3_kineto-2.11_h200/kineto.json.gz'),
};

// The program that answers for a capture: ask(query) returns a promise of the answer.
function answersOf(name) {
  const program = spawn(env.CAPTURE_TEST_ANSWERS, [captures[name], join(env.CAPTURE_TEST_WORK, name + '.tiles')],
    {stdio: ['pipe', 'pipe', 'inherit']});
  const waiting = [];
  createInterface({input: program.stdout}).on('line', (line) => waiting.shift()(line));
  return {ask: (query) => new Promise((resolve) => {
    waiting.push(resolve);
    program.stdin.write(query + '\n');
  }), end: () => program.stdin.end()};
}

let browser;
const programs = {};
before(async () => {
  mkdirSync(pictures, {recursive: true});
  for (const name of Object.keys(captures)) programs[name] = answersOf(name);
  const scripts = ['src/web/assets/figures.js', 'src/web/assets/theme.js', 'src/tiles/assets/capture_drawing.js',
    'src/tiles/assets/capture_timeline.js'];
  writeFileSync(join(env.CAPTURE_TEST_WORK, 'page.html'), `<!doctype html><html lang="en"><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1"><title>timeline</title>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-x'; style-src 'nonce-x'; img-src data:">
    <link rel="icon" href="data:,"><style nonce="x">${source('src/web/assets/page.css')}${source('src/tiles/assets/capture_timeline.css')}</style>
    <main><h1>Timeline</h1><div id="timeline"></div></main><script nonce="x">${scripts.map(source).join('\n')}
    window.pending = 0;
    window.timeline = captureTimeline(document.getElementById('timeline'), async (parameters) => {
      ++window.pending;
      const answer = JSON.parse(await window.askProgram(new URLSearchParams(parameters).toString()));
      --window.pending;
      if (answer.error) throw new Error(answer.error);
      return answer;
    });
    </script></html>`);
  browser = await chromium.launch({executablePath: env.CAPTURE_TEST_CHROMIUM, args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
});
after(async () => {
  for (const program of Object.values(programs)) program.end();
  await browser.close();
});

// Options besides the browser's: `building`, how many questions are answered with progress first; `rename`, what to replace
// in answers.
async function open(name, {building = 0, rename, ...options}, look) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  const complaints = [];
  const queries = [];
  let answerBuilding = building;
  page.on('console', (message) => complaints.push('console: ' + message.text()));
  page.on('pageerror', (error) => complaints.push('error: ' + error.message));
  await page.exposeFunction('askProgram', async (query) => {
    queries.push(Object.fromEntries(new URLSearchParams(query)));
    if (answerBuilding-- > 0) return '{"schema":"profline.tiles/1","state":"building","events":1234}';
    const answer = await programs[name].ask(query);
    return rename ? answer.replace(...rename) : answer;
  });
  try {
    await page.goto(pathToFileURL(join(env.CAPTURE_TEST_WORK, 'page.html')).href);
    await settled(page);
    await look(page, queries);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

// Nothing is asked, and what was answered is drawn for the present view.
async function settled(page) {
  await page.waitForFunction(() => window.timeline.state.capture && window.pending === 0 &&
    window.timeline.state.drawnFor !== undefined && window.timeline.state.drawnFor === window.timeline.state.fetched &&
    window.timeline.isIdle(), null, {timeout: 30000});
}
const view = (page) => page.evaluate(() => ({...window.timeline.state.view}));
const canvasOf = (page) => page.locator('#timeline canvas');

// The colours of the canvas in a row of a lane, from left to right; the background is left out.
function colourCount(page) {
  return page.evaluate(() => {
    const canvas = document.querySelector('#timeline canvas');
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
  });
}

// Where the middle of an event is, in the page.
async function placeOf(page, wanted) {
  return page.evaluate((number) => {
    const {state} = window.timeline;
    const row = state.rows.get('0:0');
    const event = row.events.find((one) => one.id === row.row + '.' + number);
    const canvas = document.querySelector('#timeline canvas');
    const box = canvas.getBoundingClientRect();
    const labels = document.querySelector('.ct-labels').offsetWidth;
    const width = canvas.clientWidth - labels;
    const item = state.layout.items.find((one) => one.kind === 'lane');
    const share = (event.start + event.length / 2 - state.view.from) / (state.view.to - state.view.from);
    return {x: box.left + labels + share * width, y: box.top + item.y + 9, name: state.labels[event.name]};
  }, wanted);
}

test('shows every lane of the capture, fitted to the window', () => open('loop', {}, async (page) => {
  assert.deepEqual(await page.$$eval('.ct-group, .ct-lane', (all) => all.map((one) => one.textContent)),
    ['GPU 0 NVIDIA H200', 'stream 7', 'stream 7 copies', 'thread 4711 decoder', 'ranges', 'calls']);
  const length = await page.evaluate(() => window.timeline.state.capture.length_ns);
  const {from, to} = await view(page);
  assert.ok(from <= 0 && to >= length && to - from < length * 1.1);
  assert.ok(await colourCount(page) > 10);
  await page.screenshot({path: join(pictures, 'capture-all.png'), fullPage: true});
}));

test('a lane is filled as much in the picture as in the answer', () => open('loop', {}, async (page) => {
  // The mean height of the filled part of the GPU's lane, from the canvas; and the mean share of its bins.
  const [drawn, answered] = await page.evaluate(() => {
    const {state} = window.timeline;
    const row = state.rows.get('0:0');
    const inside = row.bins.filter((bin) => bin.start > 0 && bin.start + bin.length < state.capture.length_ns);
    const canvas = document.querySelector('#timeline canvas');
    const labels = document.querySelector('.ct-labels').offsetWidth;
    const item = state.layout.items.find((one) => one.kind === 'lane');
    const toX = (time) => labels + (time - state.view.from) / (state.view.to - state.view.from) * (canvas.clientWidth - labels);
    const from = Math.ceil(toX(0)) + 2;
    const wide = Math.floor(toX(state.capture.length_ns)) - 2 - from;
    const {data} = canvas.getContext('2d').getImageData(from, item.y + 1, wide, 16);
    let filled = 0;
    // Lines of the grid are faint.
    for (let at = 3; at < data.length; at += 4) if (data[at] > 200) ++filled;
    return [filled / (wide * 16), inside.reduce((all, bin) => all + bin.busy / bin.length, 0) / inside.length];
  });
  assert.ok(answered > 0.2 && answered < 1, `${answered} busy`);
  assert.ok(Math.abs(drawn - answered) < 0.06, `${drawn} drawn, ${answered} busy`);
}));

test('wheel zooms around the pointer, down to single kernels with names', () => open('loop', {}, async (page) => {
  const box = await canvasOf(page).boundingBox();
  const at = {x: Math.round(box.x + box.width * 0.6), y: Math.round(box.y + 60)};
  const timeAt = () => page.evaluate((x) => {
    const {view: now} = window.timeline.state;
    const canvas = document.querySelector('#timeline canvas');
    const labels = document.querySelector('.ct-labels').offsetWidth;
    return now.from + (x - canvas.getBoundingClientRect().left - labels) / (canvas.clientWidth - labels) * (now.to - now.from);
  }, at.x);
  const before_zoom = await timeAt();
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down('Control');
  for (let turn = 0; turn < 11; ++turn) await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await settled(page);
  const {from, to} = await view(page);
  assert.ok(to - from < 200000, `${to - from} ns are shown`);
  assert.ok(Math.abs(await timeAt() - before_zoom) < 1000, 'the time under the pointer stays');
  const events = await page.evaluate(() => window.timeline.state.rows.get('0:0').events.length);
  assert.ok(events > 3);
  await page.screenshot({path: join(pictures, 'capture-kernels.png'), fullPage: true});
}));

test('dragging and keys move; 0 shows everything again', () => open('loop', {}, async (page) => {
  await page.evaluate(() => window.timeline.show(1e7, 2e7));
  await settled(page);
  const box = await canvasOf(page).boundingBox();
  const width = box.width - await page.evaluate(() => document.querySelector('.ct-labels').offsetWidth);
  await page.mouse.move(box.x + 800, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 62, {steps: 4});
  await page.mouse.up();
  let now = await view(page);
  assert.ok(Math.abs(now.from - (1e7 + 200 / width * 1e7)) < 1e5, `from ${now.from}`);
  await canvasOf(page).focus();
  await page.keyboard.press('ArrowLeft');
  assert.ok(Math.abs((await view(page)).from - (now.from - 1.25e6)) < 2);
  now = await view(page);
  await page.keyboard.press('+');
  assert.ok(Math.abs((await view(page)).to - (await view(page)).from - (now.to - now.from) / 2) < 2);
  await page.keyboard.press('0');
  await settled(page);
  assert.ok((await view(page)).from <= 0);
}));

test('twenty quick steps are one question, and what is drawn is the last view', () =>
  open('loop', {}, async (page, queries) => {
    const windows = () => queries.filter((query) => query.what === 'window').length;
    const asked = windows();
    await page.evaluate(() => { for (let step = 0; step < 20; ++step) window.timeline.zoom(0.8); });
    await settled(page);
    assert.ok(windows() <= asked + 2, 'each of twenty steps asked for a window');
    const {from, to} = await view(page);
    const last = queries.filter((query) => query.what === 'window').at(-1);
    assert.ok(Number(last.from) <= from && Number(last.to) >= to);
  }));

test('hover tells, click selects, and the details are those of the event', () => open('loop', {}, async (page) => {
  await page.evaluate(() => window.timeline.show(0, 200000));
  await settled(page);
  const place = await placeOf(page, 2);
  await page.mouse.move(place.x, place.y);
  assert.match(await page.locator('.ct-tip').innerText(), /gemm_kernel[\s\S]*lane\s+stream 7[\s\S]*duration/);
  await page.mouse.click(place.x, place.y);
  await page.locator('.ct-event').waitFor();
  const shown = await page.locator('.ct-detail').innerText();
  const expected = JSON.parse(await programs.loop.ask('what=event&id=0.2')).event;
  assert.ok(shown.includes(expected.text) && shown.includes(`(${expected.duration_ns} ns)`), shown);
  assert.ok(shown.includes(expected.grid.join(' × ')), shown);
  await page.screenshot({path: join(pictures, 'capture-event.png'), fullPage: true});
  // The next one of the row, by key.
  await canvasOf(page).focus();
  await page.keyboard.press('.');
  await page.waitForFunction(() => window.timeline.state.selected.id === '0.3');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.ct-event').count(), 0);
}));

test('a selected span is added up', () => open('loop', {}, async (page) => {
  await page.evaluate(() => window.timeline.show(0, 200000));
  await settled(page);
  const box = await canvasOf(page).boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 900, box.y + 60, {steps: 4});
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.locator('.ct-detail table').waitFor();
  const span = await page.evaluate(() => window.timeline.state.span);
  const {kinds} = JSON.parse(await programs.loop.ask(`what=totals&from=${span.from}&to=${span.to}`));
  const work = kinds.find((kind) => kind.kind === 'work');
  assert.ok((await page.locator('.ct-detail').innerText()).includes(`GPU work: ${work.events} events`));
  await page.screenshot({path: join(pictures, 'capture-span.png'), fullPage: true});
}));

test('search goes from one event of a name to the next and back', () => open('loop', {}, async (page) => {
  const search = page.getByRole('searchbox');
  const selected = () => page.evaluate(() => window.timeline.state.selected && window.timeline.state.selected.start_ns);
  await search.fill('kernel<float, 17>');
  await search.press('Enter');
  await page.locator('.ct-event').waitFor();
  const first = await selected();
  const {event, events} = JSON.parse(await programs.loop.ask('what=find&text=kernel%3Cfloat%2C+17%3E'));
  assert.equal(first, event.start_ns);
  assert.match(await page.locator('.ct-status').innerText(), new RegExp(`^${events} events of 1 name`));
  await search.press('Enter');
  await page.waitForFunction((before_this) => window.timeline.state.selected.start_ns > before_this, first);
  await settled(page);
  const {from, to} = await view(page);
  assert.ok(await selected() >= from && await selected() < to, 'what was found is in view');
  await page.getByLabel('previous event with this name').click();
  await page.waitForFunction((wanted) => window.timeline.state.selected.start_ns === wanted, first);
  await search.fill('no such name');
  await search.press('Enter');
  await page.waitForFunction(() => document.querySelector('.ct-status').textContent === 'No event has this name.');
}));

test('groups close and open, by keyboard too', () => open('loop', {}, async (page) => {
  const group = page.getByRole('button', {name: 'thread 4711 decoder'});
  await group.focus();
  await page.keyboard.press('Enter');
  assert.equal(await group.getAttribute('aria-expanded'), 'false');
  assert.equal(await page.locator('.ct-lane').count(), 2);
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.ct-lane').count(), 4);
  const ranges = page.getByRole('button', {name: 'ranges', exact: true});
  await ranges.click();
  assert.equal(await ranges.getAttribute('aria-expanded'), 'false');
}));

test('what is in view is a table too', () => open('loop', {}, async (page) => {
  await page.evaluate(() => window.timeline.show(0, 200000));
  await settled(page);
  await page.locator('summary').click();
  const rows = page.locator('details tbody tr');
  await rows.first().waitFor();
  const {kinds} = JSON.parse(await programs.loop.ask('what=totals&from=0&to=200000'));
  const count = kinds.reduce((all, kind) => all + kind.names.length + (kind.different_names > kind.names.length ? 1 : 0), 0);
  assert.equal(await rows.count(), count);
  assert.match(await canvasOf(page).getAttribute('aria-label'), /Timeline of loop\.sqlite, showing 200 us from 0\. Drag/);
}));

test('names are text, whatever they contain', () => open('loop', {rename: [/gemm_kernel/g, '<img src=x onerror=alert(1)>']},
  async (page) => {
    await page.evaluate(() => window.timeline.show(0, 200000));
    await settled(page);
    await page.locator('summary').click();
    await page.locator('details tbody tr').first().waitFor();
    const place = await placeOf(page, 2);
    await page.mouse.move(place.x, place.y);
    assert.ok((await page.locator('.ct-tip').innerText()).includes('<img src=x'));
    await page.mouse.click(place.x, place.y);
    await page.locator('.ct-event').waitFor();
    assert.ok((await page.locator('.ct-event').innerText()).includes('<img src=x onerror=alert(1)>'));
    assert.equal(await page.locator('img').count(), 0);
  }));

test('kernels have short names in the picture', () => open('loop', {}, async (page) => {
  const short = (text, kind = 'work') => page.evaluate((args) => shortName(...args), [text, kind]);
  assert.equal(await short('void at::native::vectorized<4, f(int)>(int, float*)'), 'vectorized');
  assert.equal(await short('gemm_kernel'), 'gemm_kernel');
  assert.equal(await short('void (anonymous namespace)::copy<int>(int*)'), 'copy');
  assert.equal(await short('aten::mm', 'operators'), 'aten::mm');
}));

test('says how far the reading is while the index is being built', () => open('loop', {building: 2}, async (page, queries) => {
  assert.equal(queries.filter((query) => query.what === 'capture').length, 3);
  assert.equal(await page.locator('.ct-status').textContent(), '');
}));

for (const [name, options] of Object.entries({
  'h200-light': {}, 'h200-dark': {colorScheme: 'dark'}, 'kineto-light': {},
  'h200-phone': {viewport: {width: 390, height: 844}, hasTouch: true}, 'kineto-phone-dark': {viewport: {width: 390, height: 844}, colorScheme: 'dark'},
})) {
  test(`${name}: a recorded capture is drawn and fits its window`, () => open(name.split('-')[0], options, async (page) => {
    assert.ok(await colourCount(page) > 5);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= page.viewportSize().width);
    await page.screenshot({path: join(pictures, name + '.png'), fullPage: true});
    await page.getByRole('button', {name: 'zoom in'}).click();
    await page.getByRole('button', {name: 'zoom in'}).click();
    await page.getByRole('button', {name: 'zoom in'}).click();
    await settled(page);
    await page.screenshot({path: join(pictures, name + '-closer.png'), fullPage: true});
  }));
}
