// Tests what somebody sees and does in the pages of `profline serve`, in Chromium. Started by run_browser_tests.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {after, before, test} from 'node:test';

const env = process.env;
const {chromium} = createRequire(join(env.SERVE_TEST_MODULES, 'x.js'))('playwright-core');
const axe = readFileSync(join(env.SERVE_TEST_MODULES, 'axe-core/axe.min.js'), 'utf8');
const root = env.SERVE_TEST_ROOT;
const pictures = env.PROFLINE_SCREENSHOTS || join(root, '..', 'pictures');

let browser;
let server;
let going;    // holds the lock of a run, so that it is running
let address;  // with the token
let state;    // of a browser that opened it: the cookie
before(async () => {
  mkdirSync(pictures, {recursive: true});
  makeRunning('going');
  going = spawn('flock', [join(root, 'going'), 'sh', '-c', 'echo held; exec cat >&2'], {stdio: ['pipe', 'pipe', 'ignore']});
  await new Promise((held) => createInterface({input: going.stdout}).once('line', held));
  server = spawn(env.SERVE_TEST_PROFLINE, ['serve', root, '--port', '0'], {stdio: ['ignore', 'pipe', 'inherit']});
  [address] = await Promise.race([
    new Promise((found) => createInterface({input: server.stdout}).once('line', (line) => found([line]))),
    new Promise((found, failed) => server.once('exit', (code) => failed(new Error('profline serve ended with ' + code)))),
  ]);
  browser = await chromium.launch({executablePath: env.SERVE_TEST_CHROMIUM, args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']});
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(address);
  await page.waitForURL(new URL('/', address).href);
  await page.waitForSelector('#runs');
  state = await first.storageState();
  await first.close();
});
after(async () => {
  await browser.close();
  const ended = new Promise((found) => server.once('exit', (code, signal) => found([code, signal])));
  server.kill('SIGTERM');
  going.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});

// A run that has come to its second stage.
function makeRunning(name) {
  mkdirSync(join(root, name, 'nsys'), {recursive: true});
  writeFileSync(join(root, name, 'nsys/log'), 'Collecting data...\nStep 3 of 8\n');
  writeFileSync(join(root, name, 'run.json'), JSON.stringify({schema: 'profline.run/1', id: name, experiment: 'nightly-0', state: 'running',
    started: '2025-01-01T00:00:00.000Z', version: '0.1.0', device: 'cuda:0', host: 'node7', stages: [
      {name: 'baseline', state: 'ok', started: '2025-01-01T00:00:00.000Z', ended: '2025-01-01T00:00:41.000Z'},
      {name: 'nsys', state: 'running', started: '2025-01-01T00:00:41.000Z', commands: [{name: 'nsys', argv: ['nsys', 'profile'], log: 'nsys/log'}]},
      {name: 'ncu', state: 'pending'}]}));
}

// Opens a page of the server, passes it to `look`, and checks that it is quiet: no error, no console message, and no
// request to anything but the server.
async function open(path, look, {expected = [], ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}, acceptDownloads: true, storageState: state, ...options});
  const page = await context.newPage();
  const complaints = [];
  const origin = new URL(address).origin;
  page.on('console', (message) => complaints.push('console: ' + message.text()));
  page.on('pageerror', (error) => complaints.push('error: ' + error.message));
  page.on('dialog', (dialog) => complaints.push('dialog: ' + dialog.message()));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin + '/')) complaints.push('request: ' + request.url());
  });
  try {
    await page.goto(origin + path);
    await look(page, context);
    assert.deepEqual(complaints.filter((text) => !expected.some((pattern) => pattern.test(text))), []);
  } finally {
    await context.close();
  }
}

const names = (page) => page.$$eval('#runs tbody th', (cells) => cells.map((cell) => cell.textContent));
const newest = readdirSync(root).filter((name) => /^2025/.test(name)).sort().reverse();

async function check(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run(document, {
    runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}}));
  return violations.map(({id, nodes}) => `${id}: ${nodes.map((node) => node.target.join(' ') + ' ' +
    node.failureSummary.replace(/\s+/g, ' ').slice(0, 200)).slice(0, 3).join('; ')}`);
}

const pages = {
  runs: '/',
  filtered: '/?state=ok&experiment=nightly-1&sort=token_ms',
  nothing: '/?q=nothing-has-this',
  trends: '/trends?metric=token_ms',
  compare: `/compare?${newest.slice(0, 30).map((name, at) => (at % 3 ? '' : (at < 15 ? 'b=' : 'a=') + name)).filter(Boolean).join('&')}`,
  sweeps: '/sweeps',
  failed: null,  // found below
  files: '/runs/20261115-102030/files',
  timeline: '/runs/20261115-102030/timeline?capture=nsys%2Frun.sqlite',
  report: '/runs/20261115-102030/',
  ranks: '/runs/ranks/',
  sweep: '/sweeps/sweep/',
  running: '/runs/going/',
  missing: '/runs/none/',
};
pages.failed = '/runs/' + newest.find((name) => JSON.parse(readFileSync(join(root, name, 'run.json'), 'utf8')).state === 'failed') + '/';

const looks = [['light', {colorScheme: 'light'}], ['dark', {colorScheme: 'dark'}],
  ['phone', {colorScheme: 'light', viewport: {width: 390, height: 844}, isMobile: true, hasTouch: true, deviceScaleFactor: 2}]];
for (const [name, path] of Object.entries(pages)) {
  for (const [look, options] of looks) {
    test(`${name}, ${look}: axe finds nothing, and nothing is wider than the page`, () => open(path, async (page) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await page.screenshot({path: join(pictures, `${name}-${look}.png`), fullPage: look !== 'phone'});
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      assert.deepEqual(await check(page), []);
    }, {...options, expected: name === 'missing' ? [/status of 404/] : []}));
  }
}

test('the address loses its token, and nobody gets in without it', () => open('/', async (page, context) => {
  await context.clearCookies();
  await page.goto(address);
  await page.waitForURL(new URL('/', address).href);
  assert.ok(!page.url().includes('token'));
  assert.equal((await page.evaluate(() => document.cookie)), '', 'scripts cannot read the cookie');
  const origin = new URL(address).origin;
  const stranger = await browser.newContext();
  const refused = await stranger.request.get(origin + '/');
  assert.equal(refused.status(), 401);
  await stranger.close();
  const [cookie] = await context.cookies();
  assert.equal(cookie.sameSite, 'Strict');
  assert.ok(cookie.httpOnly);
}, {expected: [/status of 401/]}));  // of the page that was open while it lost its cookie

test('another site can neither embed nor read it', () => open('/', async (page, context) => {
  const origin = new URL(address).origin;
  const evil = await context.newPage();
  await evil.route('http://evil.example/**', (route) => route.fulfill({contentType: 'text/html', body:
    `<iframe src="${origin}/"></iframe><img src="${origin}/runs/20261115-102030/files/report.html">`}));
  await evil.goto('http://evil.example/');
  const read = await evil.evaluate((url) => fetch(url, {credentials: 'include'}).then(() => 'read', () => 'refused'), origin + '/');
  assert.equal(read, 'refused');
  const opaque = await evil.evaluate((url) => fetch(url, {credentials: 'include', mode: 'no-cors'}).then((answer) => answer.type, () => 'refused'), origin + '/');
  assert.equal(opaque, 'refused', 'Cross-Origin-Resource-Policy keeps even opaque answers away');
  const frame = evil.frames()[1];
  assert.ok(!frame || !(await frame.content()).includes('nightly'));
}));

test('runs: the filter works while somebody types, and the address follows', () => open('/', async (page) => {
  assert.equal((await names(page)).length, 100);
  assert.match(await page.locator('.lead').innerText(), /^24\d runs, 1 running$/);
  await page.getByLabel('Search').fill('nightly-2');
  await page.waitForFunction(() => /^\d+ of/.test(document.querySelector('.lead').textContent));
  assert.match(await page.locator('.lead').innerText(), /^80 of 24\d runs$/);
  assert.ok(page.url().endsWith('?q=nightly-2'));
  assert.equal(await page.evaluate(() => document.activeElement.name), 'q');
  await page.reload();
  assert.equal((await names(page)).length, 80);
  await page.getByLabel('State').selectOption('failed');
  await page.waitForFunction(() => !document.querySelector('#runs .tag[data-state="ok"]'));
  for (const state of await page.$$eval('#runs .tag', (tags) => tags.map((tag) => tag.textContent))) assert.equal(state, 'failed');
}));

test('runs: sorted by a metric, and page by page', () => open('/', async (page) => {
  await page.locator('#runs thead').getByRole('link', {name: 'token_ms'}).click();
  const shown = await page.$$eval('#runs tbody tr', (rows) => {
    const heads = Array.from(document.querySelectorAll('#runs thead th'), (head) => head.textContent);
    return rows.map((row) => row.children[heads.findIndex((head) => head.startsWith('token_ms'))].textContent);
  });
  const ms = {us: 1e-3, ms: 1, s: 1e3};
  const values = shown.map((text) => parseFloat(text) * ms[text.split(' ')[1]]).filter((value) => !Number.isNaN(value));
  assert.equal(values.length, 100, 'runs without the metric come last');
  assert.ok(values.every((value, at) => at === 0 || values[at - 1] <= value), values.join(' '));
  assert.ok(values[0] < values[99]);
  assert.equal(await page.locator('#runs th[aria-sort]').getAttribute('aria-sort'), 'ascending');
  await page.goto(new URL('/', address).href);
  const first = await names(page);
  await page.getByRole('link', {name: 'Older'}).click();
  const second = await names(page);
  assert.equal(second.length, 100);
  assert.ok(first.every((name) => !second.includes(name)));
  assert.ok(first[0] > second[0]);
}));

test('runs: two groups are ticked and compared', () => open('/', async (page) => {
  for (const name of newest.slice(0, 2)) await page.getByLabel('compare as B: ' + name).check();
  for (const name of newest.slice(3, 5)) await page.getByLabel('compare as A: ' + name).check();
  await page.getByRole('button', {name: 'Compare A with B'}).click();
  await page.waitForURL(/compare/);
  assert.deepEqual(await page.$$eval('fieldset', (sides) => sides.map((side) => side.querySelectorAll('li').length)), [2, 2]);
  const swap = await page.getByRole('link', {name: 'Swap A and B'}).getAttribute('href');
  await page.goto(new URL(swap, address).href);
  assert.match(await page.locator('fieldset').first().innerText(), new RegExp(newest[0]));
}));

test('runs: a run that is added appears by itself, also while another page of it is open', () => open('/', async (page) => {
  const before = await page.locator('.lead').innerText();
  const made = join(root, '.later');
  mkdirSync(made);
  const record = JSON.parse(readFileSync(join(root, newest[0], 'run.json'), 'utf8'));
  writeFileSync(join(made, 'run.json'), JSON.stringify({...record, id: 'later', started: '2027-01-01T00:00:00.000Z'}));
  try {
    renameSync(made, join(root, 'later'));
    await page.waitForSelector('#runs a[href="/runs/later/"]', {timeout: 60000});
    assert.notEqual(await page.locator('.lead').innerText(), before);
  } finally {
    rmSync(join(root, 'later'), {recursive: true, force: true});
  }
}));

test('runs: the list changes, and the keyboard stays where it was', () => open('/?q=going', async (page) => {
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent);
  const places = [page.getByRole('button', {name: 'Compare A with B'}), page.getByLabel('compare as B: going', {exact: true}),
    page.locator('#runs a[href="/runs/going/"]')];
  for (const [at, place] of places.entries()) {
    await place.focus();
    const before = await focused();
    makeRunning(`going-${at}`);
    await page.waitForSelector(`#runs a[href="/runs/going-${at}/"]`, {timeout: 60000});
    assert.equal(await focused(), before);
  }
  for (const at of places.keys()) rmSync(join(root, `going-${at}`), {recursive: true, force: true});
}));

test('a run that is going on shows its stages and what they print', () => open('/runs/going/', async (page) => {
  assert.equal(await page.locator('.stages [aria-current="step"] .name').innerText(), 'nsys');
  assert.match(await page.locator('pre.output').innerText(), /^Collecting data\.\.\.\nStep 3 of 8\n?$/);
  await page.locator('pre.output').focus();
  writeFileSync(join(root, 'going/nsys/log'), 'Step 4 of 8\n');
  await page.waitForFunction(() => document.querySelector('pre.output').innerText.includes('Step 4 of 8'), null, {timeout: 60000});
  assert.ok(await page.evaluate(() => document.activeElement.matches('pre.output')), 'the focus stays');
}));

test('a run with ranks names the late one', () => open('/runs/ranks/', async (page) => {
  await page.waitForFunction(() => window.profline);
  assert.match(await page.locator('#ranks').innerText(), /rank 1 is late/i);
}));

test('trends: the planted step is marked with its commit, and its runs can be compared', () => open('/trends?metric=token_ms&experiment=nightly-0', async (page) => {
  assert.deepEqual(await page.$$eval('svg.trend .change text', (all) => all.map((one) => one.textContent.split(' · ')[1])), ['planted']);
  assert.match(await page.locator('.changes li').innerText(), /^SLOWER \+[23]\.\d %: .*commit planted after [0-9a-f]{12}\) compare/);
  await page.getByRole('link', {name: 'compare with the run before'}).click();
  await page.waitForURL(/compare/);
  assert.equal(await page.locator('fieldset li').count(), 2);
}));

test('trends: series without a step have no mark', () => open('/trends?metric=token_ms', async (page) => {
  assert.deepEqual(await page.$$eval('section.series h2', (all) => all.map((one) => one.firstChild.textContent)),
    ['nightly-0', 'nightly-2', 'nightly-1', 'Measured once']);
  assert.equal(await page.locator('svg.trend .change').count(), 1);
}));

test('a report is the one that profline writes, with links to what surrounds it', () => open('/runs/20261115-102030/', async (page) => {
  await page.waitForFunction(() => window.profline && window.profline.charts.size > 0);
  assert.equal(await page.locator('h1').innerText(), 'profline 20261115-102030');
  await page.screenshot({path: join(pictures, 'report-light.png')});
  await page.getByRole('link', {name: 'Files of this run'}).click();
  await page.waitForSelector('#files');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#files tr', {hasText: 'env.json'}).getByRole('link', {name: 'Download'}).click()]);
  assert.deepEqual(readFileSync(await download.path()), readFileSync(join(root, '20261115-102030/env.json')));
}));

test('a report’s links to files lead to them', () => open('/runs/h200/', async (page) => {
  // As its table of artifacts has them: relative to the report.
  const answer = await page.request.get(new URL('./nsys/ranges.json', page.url()).href);
  assert.equal(answer.status(), 200);
  assert.match(answer.headers()['content-security-policy'], /sandbox/);
}));

test('hostile names do nothing', () => open('/runs/hostile/', async (page) => {
  await page.waitForFunction(() => window.profline);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await page.goto(new URL('/?q=hostile', address).href);
  await page.goto(new URL('/runs/hostile/files', address).href);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
}));

test('the timeline of a capture is drawn, found in the report, and kept in the address', () => open('/runs/20261115-102030/', async (page) => {
  await page.click('a:text-is("Timeline")');
  await page.waitForSelector('#timeline canvas');
  await page.waitForFunction(() => /^#-?\d+_\d+$/.test(location.hash));
  const whole = new URL(page.url()).hash;
  assert.ok((await page.$$eval('.ct-lane', (lanes) => lanes.length)) > 0);
  await page.click('button[aria-label="zoom in"]');
  await page.waitForFunction((before) => location.hash !== before, whole);
  const closer = new URL(page.url()).hash;
  await page.reload();
  await page.waitForFunction((hash) => location.hash === hash && document.querySelector('.ct-lane'), closer);
}));

test('data of a timeline exists for captures alone', () => open('/', async (page) => {
  const status = (path) => page.evaluate(async (at) => (await fetch(at)).status, path);
  const tiles = '/api/runs/20261115-102030/tiles/';
  assert.equal(await status(tiles + 'nsys/run.sqlite?what=capture'), 200);
  assert.equal(await status(tiles + 'nsys/run.sqlite?what=nothing'), 400);
  assert.equal(await status(tiles + 'run.json?what=capture'), 404);
  assert.equal(await status(tiles + 'nsys/none.sqlite?what=capture'), 404);
  assert.equal(await status('/runs/20261115-102030/timeline?capture=run.json'), 404);
}, {expected: [/status of 40[04]/]}));

test('a trace is handed to Perfetto when it is ready for one', () => open('/runs/20261115-102030/files', async (page, context) => {
  await context.route('https://ui.perfetto.dev/**', (route) => route.fulfill({contentType: 'text/html', body: `<script>
    addEventListener('message', (event) => {
      if (event.data === 'PING') { event.source.postMessage('PONG', event.origin); return; }
      document.title = event.data.perfetto.title + ' ' + event.data.perfetto.buffer.byteLength;
    });</script>`}));
  const button = page.locator('button.perfetto').first();
  const [tab] = await Promise.all([context.waitForEvent('page'), button.click()]);
  await tab.waitForFunction(() => document.title !== '');
  const trace = await button.getAttribute('data-trace');
  const size = readFileSync(join(root, '20261115-102030', trace.split('/files/')[1])).length;
  assert.match(await tab.title(), new RegExp(` ${size}$`));
  assert.match(await page.locator('#perfetto-status').innerText(), /handed to Perfetto/);
}, {expected: [/^request: https:\/\/ui\.perfetto\.dev/]}));

test('everything works without scripts', () => open('/', async (page) => {
  await page.getByLabel('Search').fill('nightly-1');
  await page.getByRole('button', {name: 'Filter'}).click();
  assert.equal((await names(page)).length, 80);
  await page.locator('#runs tbody th a').first().click();
  await page.waitForURL(/\/runs\//);
  await page.goto(new URL('/trends', address).href);
  assert.ok(await page.locator('svg.trend').count() > 0);
}, {javaScriptEnabled: false}));

test('the keyboard reaches everything, in order', () => open('/', async (page) => {
  const seen = [];
  for (let i = 0; i < 45; ++i) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => {
      const here = document.activeElement;
      const style = getComputedStyle(here);
      return [here.textContent.trim().slice(0, 24) || here.name || here.className, style.outlineStyle !== 'none'];
    }));
  }
  const order = seen.map(([what]) => what);
  assert.equal(order[0], 'Skip to the content');
  for (const what of ['Runs', 'Trends', 'Compare', 'Sweeps', 'q', 'Filter', 'Compare A with B']) assert.ok(order.includes(what), `${what} in ${order}`);
  assert.deepEqual(seen.filter(([, visible]) => !visible), [], 'the focus is visible everywhere');
}));

test('a chosen theme is remembered by all pages', () => open('/', async (page) => {
  await page.locator('#theme').click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.goto(new URL('/sweeps', address).href);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
}, {colorScheme: 'light'}));
