// Tests what a reader of report.html sees and does, in Chromium. Started by run_page_tests.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';

const env = process.env;
const {chromium} = createRequire(join(env.PAGE_TEST_MODULES, 'x.js'))('playwright-core');
const run = (name) => join(env.PAGE_TEST_RUNS, name);
const more = (env.PAGE_TEST_MORE || '').split(':').filter(Boolean);
const pictures = env.PROFLINE_SCREENSHOTS || join(env.PAGE_TEST_RUNS, 'pictures');
const json = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));
const lines = (...path) => readFileSync(join(...path), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

// The requests of a run's baseline; a run of version 0.1 has samples.jsonl instead.
function requestsOf(folder) {
  if (existsSync(join(folder, 'baseline/requests.jsonl'))) return lines(folder, 'baseline/requests.jsonl');
  return lines(folder, 'baseline/samples.jsonl').map((sample) =>
    ({phases: sample.decode_ns === null ? [] : [{path: 'decode', steps_ns: sample.token_ns}]}));
}

let browser;
before(async () => {
  mkdirSync(pictures, {recursive: true});
  browser = await chromium.launch({executablePath: env.PAGE_TEST_CHROMIUM, args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
});
after(() => browser.close());

// Opens a page (`options.file`, or report.html), passes it to `look`, and checks that it is quiet: no error, no console message,
// no network request.
async function open(folder, {file, ...options}, look) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}, acceptDownloads: true, ...options});
  const page = await context.newPage();
  const complaints = [];
  const url = pathToFileURL(join(folder, file ?? 'report.html')).href;
  page.on('console', (message) => complaints.push('console: ' + message.text()));
  page.on('pageerror', (error) => complaints.push('error: ' + error.message));
  page.on('dialog', (dialog) => complaints.push('dialog: ' + dialog.message()));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('blob:')) complaints.push('request: ' + request.url());
  });
  try {
    await page.goto(url);
    if (options.javaScriptEnabled !== false) await drawn(page);
    await look(page, context);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

async function drawn(page) {
  await page.waitForFunction(() => window.profline &&
    Array.from(document.querySelectorAll('[data-chart]')).every((plot) => plot.dataset.points !== undefined), null,
  {timeout: 30000});
}

// The number of marks that ECharts reports as drawn, by series.
function marks(page) {
  return page.evaluate(() => Object.fromEntries(Array.from(window.profline.charts, ([name, chart]) =>
    [name, chart.getModel().getSeries().map((series) => [series.name, series.getData().count()])])));
}
const sum = (series, names) => series.filter(([name]) => !names || names.includes(name))
  .reduce((all, [, count]) => all + count, 0);

function rowsOf(page, table, column) {
  return page.$$eval(`#${table} tbody tr:not([hidden])`, (rows, at) => rows.map((row) => row.cells[at].dataset.v ??
    row.cells[at].textContent), column);
}

// The CIE76 distance of two colours, `#rrggbb` each.
function distance(a, b) {
  const lab = (hex) => {
    const [r, g, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const f = (t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
    const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * blue) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * blue,
      (0.0193 * r + 0.1192 * g + 0.9505 * blue) / 1.08883].map(f);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [p, q] = [lab(a), lab(b)];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

for (const folder of [run('cpu-tiny'), run('h200'), ...more]) {
  const summary = json(folder, 'summary.json');

  test(`${folder}: at 1280 no figure is alone in its row, and a kernel's operator and bound are in sight`, () =>
    open(folder, {viewport: {width: 1280, height: 900}}, async (page) => {
      for (const width of [1280, 1000, 900, 700, 390]) {
        await page.setViewportSize({width, height: 900});
        const tiles = await page.$$eval('.figure', (all) => all.map((one) => one.getBoundingClientRect())
          .map(({top, width: wide}) => ({top: Math.round(top), wide: Math.round(wide)})));
        const last = tiles.filter((tile) => tile.top === tiles.at(-1).top);
        const whole = (await page.locator('.figures').boundingBox()).width;
        assert.ok(tiles.length === 1 || last.length > 1 || last[0].wide > whole - 2, `${width}: ${JSON.stringify(tiles)}`);
      }
      await page.setViewportSize({width: 1280, height: 900});
      if (!summary.kernels.length) return;
      const table = page.locator('#kernels-table');
      await table.scrollIntoViewIfNeeded();
      const edge = await table.evaluate((one) => one.closest('.scroll').getBoundingClientRect().right);
      for (const title of ['operator', 'bound']) {
        const head = await table.locator('thead th', {hasText: new RegExp(`^${title}$`)}).boundingBox();
        assert.ok(head.x + head.width <= edge, `${title} ends at ${head.x + head.width}, the table at ${edge}`);
      }
    }));

  test(`${folder}: one of a thing is never a plural`, () => open(folder, {}, async (page) => {
    const text = await page.locator('body').innerText();
    const wrong = /(^|[^\d.,:])1 (launches|kernels|rows|calls|images|tokens|steps|operators|events|readings|processes)\b/m;
    assert.doesNotMatch(text, wrong);
  }));

  test(`${folder}: a screen has one time per token, or says what the other one is`, () => open(folder, {}, async (page) => {
    const decode = summary.phases.find((phase) => phase.name === 'decode');
    const mean = await page.evaluate((ns) => window.profline.functions.duration(ns), decode.mean_ns);
    assert.match(await page.locator('.figure', {has: page.locator('dt', {hasText: /^per token/})}).innerText(), new RegExp(`^per token(, mean)?\\s+${mean}`));
    const sentence = await page.locator('.phase[data-phase="decode"] > p').first().innerText();
    const others = Array.from(sentence.matchAll(/of (?:the )?([\d.]+ [mun]?s) per token/g), (match) => match[1]);
    if (others.some((other) => other !== mean)) {
      assert.match(sentence, /that the captured input takes without a profiler; the average of all inputs is /);
    }
  }));

  test(`${folder}: every chart has the points of the run's files`, () => open(folder, {}, async (page) => {
    const ids = await page.$$eval('[id]', (all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, 'an id is used twice');
    const counts = await marks(page);
    const requests = requestsOf(folder);
    const decoded = requests.flatMap((request) => request.phases.filter((phase) => phase.path === 'decode'));
    const timed = summary.phases.filter((phase) => phase.mean_ns > 0);
    const rest = summary.request.phases.filter((phase) => phase.rest_share > 0).length;
    assert.equal(sum(counts.waterfall), timed.length + 1 + rest);
    assert.equal(sum(counts.images), decoded.length + requests.length);
    const tokens = decoded.flatMap((phase) => phase.steps_ns);
    const binned = await page.evaluate(() => window.profline.charts.get('tokens').getOption().series[0].data
      .reduce((all, bin) => all + (bin.value ?? bin), 0));
    assert.equal(binned, tokens.length);
    const longest = Math.max(...decoded.map((phase) => phase.steps_ns.length));
    assert.equal(counts.steps[2][1], Math.ceil(longest / Math.ceil(longest / 256)));
    const seen = summary.phases.filter((phase) => phase.device);
    if (seen.length) assert.equal(sum(counts.idle), seen.length * 8);
    const points = summary.kernels.filter((kernel) => kernel.counters && kernel.counters.duration_ns > 0 &&
      kernel.counters.roofline.operations > 0 && kernel.counters.roofline.dram_bytes > 0).length +
      summary.phases.filter((phase) => phase.cost && phase.cost.flops > 0 && phase.cost.bytes > 0 && phase.mean_ns > 0).length;
    assert.equal(sum(counts.roofline, ['points']), points);
    const data = await page.evaluate(() => window.profline.data.charts);
    const {lanes, events} = data.timeline;
    assert.equal(sum(counts.timeline.filter(([name]) => name !== 'shares')), events.length / 6);
    assert.equal(sum(counts.timeline, ['shares']), lanes.length);
    if (counts.nvml) assert.equal(sum(counts.nvml), lines(folder, 'baseline/gpu.jsonl').length * 6);
    // Each is really on the page: marks in an SVG, or a canvas with more than one colour.
    const blank = await page.$$eval('.plot', (plots) => plots.filter((plot) => {
      const canvas = plot.querySelector('canvas');
      if (!canvas) return plot.querySelectorAll('svg path').length < 3;
      const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return new Set(pixels).size < 5;
    }).map((plot) => plot.dataset.chart));
    assert.deepEqual(blank, []);
  }));

  for (const [name, options] of Object.entries({
    'light-1440': {}, 'dark-1440': {colorScheme: 'dark'},
    'light-390': {viewport: {width: 390, height: 844}}, 'dark-390': {viewport: {width: 390, height: 844}, colorScheme: 'dark'},
  })) {
    test(`${folder}: ${name} fits its window`, () => open(folder, options, async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `the page is ${width} wide`);
      const bright = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(bright, name.startsWith('dark') ? 'rgb(16, 19, 22)' : 'rgb(255, 255, 255)');
      const picture = join(pictures, folder.split('/').pop() + '-' + name);
      await page.screenshot({path: picture + '.png'});
      await page.screenshot({path: picture + '-whole.png', fullPage: true});
    }));
  }
}

const h200 = run('h200');

test('tables are whole without a script, and charts are not there', () =>
  open(h200, {javaScriptEnabled: false}, async (page) => {
    const summary = json(h200, 'summary.json');
    assert.equal(await page.locator('#kernels-table tbody tr').count(), summary.kernels.length);
    assert.equal(await page.locator('#phases-table tbody tr').count(), summary.phases.length);
    assert.equal(await page.locator('figure.chart').first().isVisible(), false);
    assert.equal(await page.locator('#theme').isVisible(), false);
    const name = page.locator('#kernels-table details').first();
    await name.locator('summary').click();
    assert.equal(await name.locator('.whole').isVisible(), true);
    assert.ok((await page.locator('.verdict').textContent()).includes(summary.verdict));
  }));

test('a number changed in summary.json is changed in the page', async () => {
  const changed = json(h200, 'summary.json');
  const page_before = readFileSync(join(h200, 'report.html'), 'utf8');
  assert.ok(!page_before.includes('98.8 k tokens/s') && !page_before.includes('4321 launches per token'));
  changed.request.tokens_per_second = 98765.4;
  changed.phases.find((phase) => phase.name === 'decode').device.launches_per_unit = 4321;
  const folder = join(env.PAGE_TEST_RUNS, 'changed');
  execFileSync('cp', ['-r', h200, folder]);
  writeFileSync(join(folder, 'summary.json'), JSON.stringify(changed));
  execFileSync(env.PAGE_TEST_MAKER, ['page', folder]);
  await open(folder, {}, async (page) => {
    const figures = await page.locator('.figures').textContent();
    assert.match(figures, /98\.8 k tokens\/s/);
    assert.match(figures, /4321 launches per token/);
  });
});

test('columns sort both ways, by mouse and by keyboard, unknown last', () => open(h200, {}, async (page) => {
  const heads = await page.$$eval('#kernels-table thead th', (cells) => cells.map((cell) => cell.textContent));
  const launches = heads.indexOf('launches');
  const byNumber = async () => (await rowsOf(page, 'kernels-table', launches)).filter((value) => value !== '–').map(Number);
  const button = page.locator('#kernels-table thead th').nth(launches).locator('button');
  await button.click();
  let shown = await byNumber();
  assert.ok(shown.length > 3);
  assert.deepEqual(shown, [...shown].sort((a, b) => b - a));
  assert.equal(await page.locator('#kernels-table thead th').nth(launches).getAttribute('aria-sort'), 'descending');
  await button.focus();
  await page.keyboard.press('Enter');
  shown = await byNumber();
  assert.deepEqual(shown, [...shown].sort((a, b) => a - b));
  const bound = heads.indexOf('bound');
  await page.locator('#kernels-table thead th').nth(bound).locator('button').click();
  const words = await rowsOf(page, 'kernels-table', bound);
  const known = words.filter((word) => word !== '–');
  assert.deepEqual(words.slice(0, known.length), known);
}));

test('search and choices narrow a table down', () => open(h200, {}, async (page) => {
  const summary = json(h200, 'summary.json');
  const tools = page.locator('.tools', {has: page.getByLabel('search in kernels, most time first')});
  const kind = summary.kernels[0].class;
  const ofKind = summary.kernels.filter((kernel) => kernel.class === kind).length;
  assert.ok(ofKind < summary.kernels.length, 'all kernels are of one class: nothing to choose');
  await tools.getByLabel('class', {exact: true}).selectOption(kind);
  assert.equal((await rowsOf(page, 'kernels-table', 0)).length, ofKind);
  assert.equal(await tools.locator('output').textContent(), `${ofKind} of ${summary.kernels.length} rows`);
  await tools.getByLabel('class', {exact: true}).selectOption('');
  await tools.getByLabel('search in kernels, most time first').fill('no kernel is called that');
  assert.equal((await rowsOf(page, 'kernels-table', 0)).length, 0);
  const word = summary.kernels[0].short_name.slice(0, 8);
  await tools.getByLabel('search in kernels, most time first').fill(word.toUpperCase());
  const left = (await rowsOf(page, 'kernels-table', 0)).length;
  assert.ok(left >= 1);
}));

test('a whole name opens on demand and can be copied', () => open(h200, {permissions: ['clipboard-read', 'clipboard-write']},
  async (page) => {
    const name = page.locator('#kernels-table details').first();
    assert.equal(await name.locator('.whole').isVisible(), false);
    await name.locator('summary').focus();
    await page.keyboard.press('Enter');
    assert.equal(await name.locator('.whole').isVisible(), true);
    await name.locator('.copy').click();
    await page.waitForFunction(() => document.querySelector('.copy')?.textContent === 'Copied');
    const names = json(h200, 'summary.json').kernels.map((kernel) => kernel.name);
    assert.ok(names.includes(await page.evaluate(() => navigator.clipboard.readText())));
  }));

test('light and dark are switched, and charts follow', () => open(h200, {colorScheme: 'light'}, async (page) => {
  const colours = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor,
    window.profline.charts.get('images').getOption().color[0]]);
  const light = await colours();
  await page.locator('#theme').click();
  await drawn(page);
  const dark = await colours();
  assert.notEqual(light[0], dark[0]);
  assert.notEqual(light[1], dark[1]);
  await page.reload();
  await drawn(page);
  assert.deepEqual(await colours(), dark);
}));

test('the roofline shows one phase when it is chosen', () => open(h200, {}, async (page) => {
  const all = sum((await marks(page)).roofline, ['points']);
  const phases = await page.$$eval('.choices button', (buttons) => buttons.map((button) => button.dataset.phase));
  let total = 0;
  for (const phase of phases.slice(1)) {
    await page.locator(`.choices button[data-phase="${phase}"]`).click();
    const some = sum((await marks(page)).roofline, ['points']);
    assert.ok(some > 0 && some < all, `${phase}: ${some} of ${all}`);
    total += some;
  }
  assert.equal(total, all);
}));

test('the timeline zooms, and what it shows is saved for Perfetto', () => open(h200, {}, async (page) => {
  const data = await page.evaluate(() => window.profline.data.charts.timeline);
  const zoomed = await page.evaluate(() => {
    const chart = window.profline.charts.get('timeline');
    chart.dispatchAction({type: 'dataZoom', start: 40, end: 60});
    return chart.getOption().dataZoom[0].start;
  });
  assert.equal(zoomed, 40);
  await page.locator('[data-chart="timeline"]').focus();
  const span = () => page.evaluate(() => window.profline.charts.get('timeline').getOption().dataZoom[0])
    .then((zoom) => [zoom.start, zoom.end]);
  await page.keyboard.press('+');
  assert.deepEqual(await span(), [45, 55]);
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await span(), [46.25, 56.25]);
  await page.keyboard.press('0');
  assert.deepEqual(await span(), [0, 100]);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-export]').click()]);
  const trace = json(await download.path());
  assert.equal(trace.traceEvents.filter((event) => event.ph === 'X').length, data.events.length / 6);
  assert.ok(data.lanes.some((lane) => lane.is_device) && data.lanes.some((lane) => !lane.is_device));
}));

test("of a program that is not ours nothing is promised from profiled time", () => open(run('program'), {}, async (page) => {
  const text = await page.locator('body').innerText();
  assert.match(text, /The program is launch-bound: .* captured, GPU busy .* of the time under the profiler, 120 launches\./);
  assert.match(text, /Without a profiler it takes 900 ms \(one run\)/);
  assert.match(text, /The program ran once without a profiler, so there is no spread: see baseline\/process\.json\./);
  for (const wrong of [/\d x? ?faster/, /There is no run without a profiler/, /as fast/, /at most \d/, /of each request/, /of a request/, /operators\.md/]) {
    assert.doesNotMatch(text, wrong);
  }
  assert.doesNotMatch(text, /per unit, without a profiler/);
  assert.match(text, /Mean time of each capture and range, under the profiler\./);
  await page.screenshot({path: join(pictures, 'program-light-1440.png')});
}));

for (const name of ['load', 'load-search']) {
  const folder = run(name);

  test(`${name}: the page is about the load and about nothing that it cannot have`, () => open(folder, {}, async (page) => {
    const summary = json(folder, 'summary.json');
    assert.deepEqual(await page.$$eval('main > section', (all) => all.map((one) => one.id)),
      ['verdict', 'load', 'run', 'config', 'environment', 'commands', 'artifacts']);
    const text = await page.locator('body').innerText();
    assert.ok(text.includes(summary.verdict) && text.includes(summary.load.configuration));
    for (const wrong of [/\bimages?\b/, /\bphases?\b/, /floor/, /GPU/, /profiler/, /faster at best/]) {
      const load = await page.locator('#load').innerText() + await page.locator('#verdict').innerText();
      assert.doesNotMatch(load, wrong);
    }
    assert.equal((await rowsOf(page, 'latency-table', 0)).join(), 'TTFT,TPOT,ITL,E2E');
    const p50 = await page.evaluate((ms) => window.profline.functions.duration(ms * 1e6), summary.load.metrics.ttft.p50.value);
    assert.ok((await page.locator('#latency-table tbody tr').first().innerText()).includes(p50));
  }));

  test(`${name}: every chart has the points of the run's files`, () => open(folder, {}, async (page) => {
    const load = json(folder, 'load.json');
    const counts = await marks(page);
    assert.equal(sum(counts.seconds), load.seconds.length * 4);
    for (const latency of ['ttft', 'tpot', 'itl', 'e2e']) {
      const {counts: bins, above} = await page.evaluate((chart) => window.profline.data.charts[chart], latency);
      assert.equal(bins.reduce((all, bin) => all + bin, 0) + above, load.metrics[latency].n, latency);
      assert.equal(sum(counts[latency]), bins.length);
    }
    if (load.search) assert.equal(sum(counts.search), load.search.trials.length * 5);
    const blank = await page.$$eval('.plot', (plots) => plots.filter((plot) => plot.querySelectorAll('svg path').length < 3)
      .map((plot) => plot.dataset.chart));
    assert.deepEqual(blank, []);
  }));

  for (const [shape, options] of Object.entries({
    'light-1200': {viewport: {width: 1200, height: 900}}, 'dark-1200': {viewport: {width: 1200, height: 900}, colorScheme: 'dark'},
    'light-390': {viewport: {width: 390, height: 844}},
  })) {
    test(`${name}: ${shape} fits its window`, () => open(folder, options, async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `the page is ${width} wide`);
      await page.screenshot({path: join(pictures, `${name}-${shape}.png`), fullPage: true});
    }));
  }
}

test('a figure that the client could have changed is marked, with a note', () => open(run('load'), {}, async (page) => {
  const {ttft} = json(run('load'), 'load.json').metrics;
  assert.ok(ttft.marked.includes('p50') && !ttft.marked.includes('p99'));
  const cells = await page.$$eval('#latency-table tbody tr:first-child td', (all) => all.map((cell) => cell.firstChild.textContent));
  assert.match(cells[1], /ms\*$/);
  assert.match(cells[4], /ms$/);
  assert.match(await page.locator('#load .mark').innerText(), /^\* the client's own error could change this figure by more than 5 %/);
  assert.match(await page.locator('#load .limit').innerText(), /was the bottleneck: /);
  assert.equal((await rowsOf(page, 'errors-table', 0)).join(), 'http_503,reset');
}));

test('the result of a search is marked at its rate', () => open(run('load-search'), {}, async (page) => {
  const {rate, trials} = json(run('load-search'), 'load.json').search;
  const lines = await page.evaluate(() => window.profline.charts.get('search').getOption().series[0].markLine.data);
  assert.equal(lines.find((line) => line.xAxis !== undefined).xAxis, rate);
  assert.equal((await rowsOf(page, 'trials-table', 0)).length, trials.length);
}));

test('every class of kernels has a colour of its own, in light and in dark', async () => {
  const names = ['gemm', 'attention', 'elementwise', 'norm', 'copy', 'moe', 'reduction', 'softmax', 'indexing', 'gemv',
    'convolution', 'collective', 'sort', 'scan', 'random', 'sampling', 'quantization', 'state_space', 'one of its own', 'another',
    'no class'];
  for (const colorScheme of ['light', 'dark']) {
    await open(h200, {colorScheme}, async (page) => {
      const colours = await page.evaluate((given) => {
        const {classColours, palette} = window.profline.functions;
        return classColours(given, palette());
      }, names);
      for (const [at, colour] of colours.entries()) {
        assert.match(colour, /^#[0-9a-f]{6}$/);
        for (let other = 0; other < at; ++other) {
          const far = distance(colour, colours[other]);
          assert.ok(far > 20, `${colorScheme}: ${names[at]} and ${names[other]} are ${far.toFixed(1)} apart`);
        }
      }
      // A class has the same colour whichever other classes there are, and the chart uses it.
      const two = await page.evaluate(() => {
        const {classColours, palette} = window.profline.functions;
        return classColours(['copy', 'gemm'], palette());
      });
      assert.deepEqual(two, [colours[4], colours[0]]);
      const drawnColours = await page.evaluate(() => window.profline.charts.get('classes').getOption().series
        .map((series) => series.itemStyle.color));
      assert.equal(new Set(drawnColours).size, drawnColours.length);
    });
  }
});

test('short events fill as much of a pixel as they take, and long gaps carry their length', () => open(h200, {}, async (page) => {
  const made = await page.evaluate(() => {
    const {gapsBetween, pixelShares} = window.profline.functions;
    const event = (start, length, kind = 5) => ({start, length, kind});
    // Ten nanoseconds per pixel: half of the first, an eighth and a half of the second, a separate bar.
    const shares = pixelShares([event(0, 5), event(10, 1.25), event(12, 5, 6), event(100, 40)], 0.1, 0, 16);
    return {kernels: Array.from(shares.get(5)), copies: Array.from(shares.get(6)),
      gaps: gapsBetween([event(0, 5), event(2, 10), event(40, 20)], 0, 100)};
  });
  assert.deepEqual(made.kernels.slice(0, 3), [0.5, 0.125, 0]);
  assert.deepEqual(made.copies.slice(0, 3), [0, 0.5, 0]);
  assert.ok(made.kernels.slice(2).every((share) => share === 0));
  assert.deepEqual(made.gaps, [{start: 12, end: 40}, {start: 60, end: 100}]);
  // A lane of the GPU as drawn: its ink is its busy share; with a bar of one pixel each it would be solid.
  const lane = await page.evaluate(() => {
    const chart = window.profline.charts.get('timeline');
    const data = window.profline.data.charts.timeline;
    const at = data.lanes.findIndex((one) => one.is_device);
    let busy = 0;
    for (let i = 0; i < data.events.length; i += 6) if (data.events[i] === at) busy += data.events[i + 2];
    const canvas = chart.getDom().querySelector('canvas');
    const ratio = canvas.width / chart.getWidth();
    const grid = chart.getModel().getComponent('grid').coordinateSystem.getRect();
    const y = chart.convertToPixel({yAxisIndex: 0}, at);
    const height = window.profline.functions.laneHeight(data.lanes.length) * 0.78;
    const image = canvas.getContext('2d').getImageData(grid.x * ratio, (y - height / 2 + 1) * ratio, grid.width * ratio, (height - 2) * ratio);
    let ink = 0;
    for (let i = 0; i < image.data.length; i += 4) {
      // Coloured, not the grey of lines and labels.
      const [r, g, b] = image.data.slice(i, i + 3);
      if (Math.max(r, g, b) - Math.min(r, g, b) > 40) ++ink;
    }
    return {busy: busy / data.length_ns, ink: ink / (image.data.length / 4)};
  });
  assert.ok(lane.busy < 0.5, `the lane is ${lane.busy} busy: too much to show anything`);
  assert.ok(Math.abs(lane.ink - lane.busy) < 0.12, JSON.stringify(lane));
  const words = await page.evaluate(() => {
    const texts = [];
    window.profline.charts.get('timeline').getZr().storage.getDisplayList(true)
      .forEach((one) => { if (one.type === 'tspan' && one.style.text) texts.push(one.style.text); });
    return texts.filter((text) => /^(gap )?[\d.]+ [mun]?s$/.test(text));
  });
  assert.ok(words.length > 0);
}));

test('the memory roof of a CPU is the one that was measured', () => open(run('cpu-tiny'), {}, async (page) => {
  assert.ok(await page.evaluate(() => window.profline.data.charts.roofline.bytes_per_second) > 1e9);
  assert.match((await page.locator('#roofline .from').allInnerTexts()).join('\n'), /Memory roof: .*B\/s, measured on this CPU\./);
}));

test('the memory roof is the bandwidth of the device, and the page says whose word that is', async () => {
  for (const [folder, file] of [[h200, 'static_analysis/static_compute.json'], [run('h200-counters'), 'ncu/kernels.json']]) {
    await open(folder, {}, async (page) => {
      assert.equal(await page.evaluate(() => Math.round(window.profline.data.charts.roofline.bytes_per_second / 1e9)), 4800);
      const said = await page.locator('#roofline .from').allInnerTexts();
      assert.ok(said.some((line) => line.startsWith('Memory roof: 4.80 TB/s, the bandwidth of NVIDIA H200 (') &&
        line.endsWith(`From ${file}.`)), said.join('\n'));
    });
  }
});

test('a printed page has its tables and charts and nothing to press', () => open(h200, {}, async (page) => {
  await page.emulateMedia({media: 'print'});
  for (const gone of ['nav', '#theme', '.tools']) {
    assert.equal(await page.locator(gone).first().isVisible(), false, gone);
  }
  await page.pdf({path: join(pictures, 'h200-print.pdf'), format: 'A4'});
  await page.setViewportSize({width: 780, height: 1100});
  await page.screenshot({path: join(pictures, 'h200-print.png'), fullPage: true});
}));

test('what is dark on the screen is light on paper', () => open(h200, {colorScheme: 'dark'}, async (page) => {
  const ink = () => page.evaluate(() => window.profline.charts.get('images').getOption().textStyle.color);
  const dark = await ink();
  const closed = () => page.locator('.phases details:not([open])').count();
  const before = await closed();
  assert.ok(before > 0);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.notEqual(await ink(), dark);
  assert.equal(await closed(), 0);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.equal(await ink(), dark);
  assert.equal(await closed(), before);
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
}));

test('hostile names are text everywhere', async () => {
  const hostile = run('hostile');
  for (const options of [{}, {javaScriptEnabled: false}]) {
    await open(hostile, options, async (page) => {
      const scripts = (await page.content()).split('<script').length - 1;
      assert.ok(scripts >= 2);
      assert.equal(await page.locator('img, iframe, object, embed').count(), 0);
      assert.equal(await page.locator('b:text-is("bold")').count(), 0);
      const links = await page.$$eval('a[href]', (all) => all.map((link) => link.getAttribute('href')));
      assert.deepEqual(links.filter((link) => !/^(#|\.\/)/.test(link) || link.includes('<')), []);
      const text = await page.locator('body').textContent();
      assert.ok(text.includes('<script>window.hacked=1</script>'), 'the name is shown as it is');
      assert.ok(text.includes('evil\\u202etxt.exe'), 'marks that reorder text are shown');
      assert.doesNotMatch(await page.locator('main').innerText(), /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/);
      if (options.javaScriptEnabled === false) return;
      // Including tooltips, choices and opened names.
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
        for (const [name, chart] of window.profline.charts) {
          for (let series = 0; series < chart.getModel().getSeriesCount(); ++series) {
            chart.dispatchAction({type: 'showTip', seriesIndex: series, dataIndex: 0});
          }
          chart.getDom().dataset.touched = name;
        }
      });
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.equal(await page.locator('img').count(), 0);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 1440, `a name of 10 KiB makes the page ${width} wide`);
    });
  }
});

const swept = (options, look) => open(run('sweep'), {file: 'sweep.html', ...options}, look);

for (const [shape, options] of Object.entries({
  'light-1280': {viewport: {width: 1280, height: 900}}, 'dark-1280': {viewport: {width: 1280, height: 900}, colorScheme: 'dark'},
  'light-390': {viewport: {width: 390, height: 844}}, 'dark-390': {viewport: {width: 390, height: 844}, colorScheme: 'dark'},
})) {
  test(`a sweep: ${shape} fits its window, and no two texts of a chart overlap`, () => swept(options, async (page) => {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `the page is ${width} wide`);
    const overlaps = await page.$$eval('.plot', (plots) => plots.flatMap((plot) => {
      const texts = Array.from(plot.querySelectorAll('svg text'), (text) => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
      return texts.flatMap(([name, a], at) => texts.slice(at + 1)
        .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
        .map(([other]) => `${plot.dataset.chart}: ${name} and ${other}`));
    }));
    assert.deepEqual(overlaps, []);
    await page.screenshot({path: join(pictures, `sweep-${shape}.png`), fullPage: true});
  }));
}

test('a sweep: every job that measured something is in every chart, and the best are named', () => swept({}, async (page) => {
  const {jobs, best, pareto} = json(run('sweep'), 'sweep.json');
  const measured = jobs.filter((job) => job.metrics.length);
  const counts = await marks(page);
  assert.equal(sum(counts.tradeoff.slice(1)), measured.length);
  assert.equal(counts.tradeoff[2][1], pareto.length);
  const points = (name) => page.evaluate((chart) => window.profline.data.charts[chart], name);
  for (let plot = 0; plot < 9; plot += 1) {
    const {series} = await points('swept.' + plot);
    assert.equal(series.reduce((all, one) => all + one.points.length, 0), measured.length, 'swept.' + plot);
  }
  // Five sizes and two types; the third key's best value is in the cell.
  const {cells} = await points('pairs.0_0');
  assert.equal(cells.length, 9, 'the two jobs of one cell did not succeed');
  for (const [x, y, value, job] of cells) {
    const same = measured.filter(({overrides}) => overrides[0] === `infer.batch_size=${[1, 2, 4, 8, 16][x]}` &&
      overrides[1] === `model.dtype=${['fp32', 'bf16'][y]}`);
    assert.equal(value, Math.min(...same.map((each) => each.metrics[0].value)));
    assert.ok(same.some((each) => each.number === job));
  }
  const figures = await page.$$eval('.figure', (all) => all.map((one) => one.innerText));
  assert.equal(figures.length, best.length);
  figures.forEach((figure, at) => assert.match(figure, new RegExp(`job ${best[at].job}:`)));
  assert.match(figures[0], /not clearly better than job 4/);
  // A factor of a hundred between jobs: on a linear axis all but the slowest would lie on the axis.
  assert.equal(await page.evaluate(() => window.profline.charts.get('tradeoff').getOption().xAxis[0].type), 'log');
  // Nor would the shades of a heat map tell them apart: the cells between fastest and slowest have shades of their own.
  const shades = await page.evaluate(() => {
    const {series: [{data}], visualMap: [{min, max, dimension}]} = window.profline.charts.get('pairs.2_0').getOption();
    return data.map((cell) => (cell[dimension] - min) / (max - min)).sort((a, b) => a - b);
  });
  assert.equal(shades.length, 4);
  assert.ok(shades[1] > 0.3 && shades[2] < 0.7, `shades ${shades}`);
}));

test('a sweep: jobs are listed with links, failures with reasons, and both can be searched', () => swept({}, async (page) => {
  const {jobs} = json(run('sweep'), 'sweep.json');
  assert.equal((await rowsOf(page, 'sweep-jobs', 0)).length, jobs.length);
  const links = await page.$$eval('#sweep-jobs tbody th a', (all) => all.map((link) => link.getAttribute('href')));
  assert.deepEqual(links, jobs.filter(({verdict}) => verdict !== '').map(({folder}) => folder + '/report.html'));
  assert.deepEqual(await rowsOf(page, 'failed-jobs', 0), ['17', '18']);
  assert.match(await page.locator('#failed-jobs').textContent(), /<img src=x onerror=alert\(1\)>[^]*OUT_OF_MEMORY/);
  await page.locator('#jobs input[type=search]').fill('bf16');
  assert.equal((await rowsOf(page, 'sweep-jobs', 0)).length, 10);
  // Figures are in sight at 1280 px: the narrow first column leaves them room.
  await page.setViewportSize({width: 1280, height: 900});
  const table = page.locator('#sweep-jobs');
  await table.scrollIntoViewIfNeeded();
  const edge = await table.evaluate((one) => one.closest('.scroll').getBoundingClientRect().right);
  const last = await table.locator('thead th').last().boundingBox();
  assert.ok(last.x + last.width <= edge + 1, `the last column ends at ${last.x + last.width}, the table at ${edge}`);
}));

test('a sweep without a script has its figures in tables', () => swept({javaScriptEnabled: false}, async (page) => {
  assert.equal(await page.locator('.chart:visible').count(), 0);
  assert.equal(await page.locator('#sweep-jobs tbody tr').count(), json(run('sweep'), 'sweep.json').jobs.length);
  assert.match(await page.locator('.figures').innerText(), /best prefill_ms/);
}));
