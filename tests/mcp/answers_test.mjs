// Asks `profline mcp` about recorded runs, with the SDK's client and the inspector. Every fact of every answer is checked against
// the document that it cites: files are read again, commands are run again.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const profline = process.env.PROFLINE;
const modules = process.env.MCP_MODULES;
const tree = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { questions, unanswerable } = JSON.parse(readFileSync(join(tree, 'tests/mcp/questions.json'), 'utf8'));
const haveClients = existsSync(join(modules, '@modelcontextprotocol/sdk')) && existsSync(join(modules, '.bin/mcp-inspector'));
const skip = haveClients ? false : 'there are no clients (scripts/fetch_npm mcp)';

let folder;
let root;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'profline-mcp-'));
  root = join(folder, 'runs');
  cpSync(join(tree, 'docs/examples/h200'), join(root, 'h200'), { recursive: true });
  cpSync(join(tree, 'tests/golden/report/cpu-tiny/run'), join(root, 'cpu-tiny'), { recursive: true });
  execFileSync(profline, ['-q', 'report', join(root, 'cpu-tiny')], { stdio: 'ignore' });
  // Of this run only its results were kept.
  cpSync(join(tree, 'docs/examples/h200-transformers'), join(root, 'transformers'), { recursive: true });
  writeFileSync(join(root, 'transformers/run.json'), JSON.stringify({
    schema: 'profline.run/1', id: '20261118-033655', experiment: 'infer.py', state: 'interrupted', exit_code: 130,
    started: '2026-11-18T03:36:55.000Z', device: 'cuda:0', host: 'vm',
    stages: [{ name: 'ncu', state: 'interrupted', why: 'pipeline.ncu.enable is true' }],
  }));
  cpSync(join(tree, 'tests/golden/nsys/2025.3-decode/input.sqlite'), join(root, 'decode.sqlite'));
  cpSync(join(tree, 'tests/golden/trace/kineto-torch-2.11-h200.json.gz'), join(root, 'decode.json.gz'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The messages that the server answers to these, until its input ends. */
function exchange(messages, more = []) {
  const lines = messages.map((message) => (typeof message === 'string' ? message : JSON.stringify(message)));
  const done = spawnSync(profline, ['mcp', ...more, root], { input: lines.join('\n'), encoding: 'utf8', cwd: folder, timeout: 60000 });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
}

const callOf = (id, { tool, arguments: given }) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: given } });

/** The answers to several questions, by one server. */
function answers(asked) {
  return exchange(asked.map((question, id) => callOf(id, question))).map((message, id) => {
    assert.equal(message.id, id);
    assert.equal(message.result?.isError, false, JSON.stringify(message));
    assert.deepEqual(JSON.parse(message.result.content[0].text), message.result.structuredContent);
    return message.result.structuredContent;
  });
}

/** The value at a JSON pointer, by RFC 6901; undefined if there is none. */
function at(document, pointer) {
  if (pointer === '') return document;
  return pointer.slice(1).split('/').reduce(
    (value, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

const opened = new Map();
/** A cited document, read or printed again. */
function documentOf(cited) {
  const key = JSON.stringify(cited);
  if (!opened.has(key)) {
    let text;
    if (cited.file !== undefined) {
      text = readFileSync(cited.file, 'utf8');
    } else {
      const command = cited.command.replace(/^profline /, `'${profline}' `);
      const done = spawnSync('sh', ['-c', command], { cwd: cited.start_in ?? folder, encoding: 'utf8', maxBuffer: 1 << 28 });
      assert.ok([0, 1].includes(done.status), `${cited.command}: ${done.stderr}`);
      text = done.stdout;
    }
    opened.set(key, JSON.parse(text));
  }
  return opened.get(key);
}

/** Every fact has the value that its citation has. Returns how many there were. */
function checkCitations(answer) {
  for (const fact of answer.facts) {
    const cited = answer.documents[fact.document];
    assert.ok(cited, `${fact.what}: no document ${fact.document}`);
    assert.deepEqual(at(documentOf(cited), fact.pointer), fact.value, `${fact.what} at ${fact.pointer} of ${JSON.stringify(cited)}`);
  }
  return answer.facts.length;
}

test('forty questions are answered, and each fact is where its citation says', () => {
  assert.ok(questions.length >= 40, `${questions.length} questions`);
  let checked = 0;
  answers(questions).forEach((answer, i) => {
    const { question, fact, value } = questions[i];
    const found = answer.facts.filter((each) => each.what === fact);
    assert.equal(found.length, 1, `${question}: ${JSON.stringify(answer.facts.map((each) => each.what), null, 1)}`);
    assert.deepEqual(found[0].value, value, question);
    checked += checkCitations(answer);
  });
  console.log(`${questions.length} questions, ${checked} citations`);
});

test('what was not captured is answered as such', () => {
  assert.ok(unanswerable.length >= 10, `${unanswerable.length} questions`);
  answers(unanswerable).forEach((answer, i) => {
    const { question, missing, why, no_fact } = unanswerable[i];
    const found = (answer.missing ?? []).find((each) => each.what === missing);
    assert.ok(found, `${question}: ${JSON.stringify(answer.missing)}`);
    assert.match(found.why, new RegExp(why), question);
    // Nothing is offered in its place.
    if (no_fact === undefined) assert.deepEqual(answer.facts, [], question);
    else assert.deepEqual(answer.facts.filter((each) => new RegExp(no_fact).test(each.what)), [], question);
    checkCitations(answer);
  });
});

test('the list of tools is short and has eight, or nine with --allow-run', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const [eight] = exchange([list]);
  const [nine] = exchange([list], ['--allow-run']);
  assert.equal(eight.result.tools.length, 8);
  assert.deepEqual(nine.result.tools.map((tool) => tool.name).slice(8), ['run']);
  assert.ok(JSON.stringify(nine).length < 8000, `${JSON.stringify(nine).length} bytes`);
});

test('everything that was asked is answered before the end', async () => {
  const server = spawn(profline, ['mcp', root], { cwd: folder });
  let out = '';
  server.stdout.on('data', (bytes) => { out += bytes; });
  const many = 50;
  for (let id = 0; id < many; ++id) server.stdin.write(`${JSON.stringify(callOf(id, { tool: 'verdict', arguments: { run: 'h200' } }))}\n`);
  server.stdin.end();
  const code = await new Promise((resolve) => { server.on('close', resolve); });
  assert.equal(code, 0);
  assert.deepEqual(out.trim().split('\n').map((line) => JSON.parse(line).id), Array.from({ length: many }, (_, id) => id));
});

test('mistakes are answered, and the server goes on', () => {
  const messages = exchange([
    '{"jsonrpc":', 'null', '[]', '{"jsonrpc":"2.0","id":1,"method":"no/such"}', '\u0000', 'x'.repeat(5 << 20),
    JSON.stringify(callOf(2, { tool: 'summary', arguments: { run: '../../etc' } })),
    JSON.stringify(callOf(3, { tool: 'trace', arguments: { file: '/etc/passwd' } })),
    JSON.stringify(callOf(4, { tool: 'runs', arguments: {} })),
  ]);
  assert.deepEqual(messages.map((message) => message.error?.code ?? message.result.isError),
    [-32700, -32600, -32600, -32601, -32700, -32600, true, true, false]);
  assert.match(messages[7].result.content[0].text, /^'\/etc\/passwd' is not below /);
});

/** One call of each tool. */
const oneOfEach = [...new Set(questions.map((question) => question.tool))]
  .map((tool) => questions.find((question) => question.tool === tool));

test("the SDK's client lists and calls every tool", { skip }, async () => {
  const sdk = (file) => import(pathToFileURL(join(modules, '@modelcontextprotocol/sdk/dist/esm', file)));
  const { Client } = await sdk('client/index.js');
  const { StdioClientTransport } = await sdk('client/stdio.js');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: profline, args: ['mcp', '--allow-run', root], cwd: folder }));
  try {
    assert.equal(client.getServerVersion().name, 'profline');
    assert.match(client.getInstructions(), /JSON pointer/);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), [...oneOfEach.map((question) => question.tool), 'run'].sort());
    for (const { question, tool, arguments: given, fact, value } of oneOfEach) {
      const { structuredContent: answer, isError } = await client.callTool({ name: tool, arguments: given });
      assert.ok(!isError, question);
      assert.deepEqual(answer.facts.find((each) => each.what === fact)?.value, value, question);
    }
    // A program, run and then read like any other run.
    const { structuredContent: answer, isError, content } = await client.callTool(
      { name: 'run', arguments: { program: ['true'], overrides: ['experiment=by-assistant', 'pipeline.nsys.enable=false'] } });
    assert.ok(!isError, content?.[0]?.text);
    assert.equal(answer.facts.find((each) => each.what.endsWith(': experiment'))?.value, 'by-assistant');
    checkCitations(answer);
    await client.ping();
  } finally {
    await client.close();
  }
});

test('the inspector lists and calls every tool', { skip }, () => {
  const inspectServer = (server, ...words) => JSON.parse(execFileSync(process.execPath,
    [join(modules, '.bin/mcp-inspector'), '--cli', ...words, '--', profline, 'mcp', ...server, root],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, HOME: folder }, timeout: 60000 }));
  const inspect = (...words) => inspectServer([], ...words);
  const { tools } = inspect('--method', 'tools/list');
  assert.deepEqual(tools.map((tool) => tool.name).sort(), oneOfEach.map((question) => question.tool).sort());
  for (const { question, tool, arguments: given, fact, value } of oneOfEach) {
    const pairs = Object.entries(given).map(([name, each]) => `${name}=${typeof each === 'string' ? each : JSON.stringify(each)}`);
    const answer = inspect('--method', 'tools/call', '--tool-name', tool, ...pairs.flatMap((pair) => ['--tool-arg', pair]));
    assert.ok(!answer.isError, question);
    assert.deepEqual(answer.structuredContent.facts.find((each) => each.what === fact)?.value, value, question);
  }
  const run = inspectServer(['--allow-run'], '--method', 'tools/call', '--tool-name', 'run', '--tool-arg', 'program=["true"]',
    '--tool-arg', 'overrides=["experiment=by-inspector","pipeline.nsys.enable=false"]');
  assert.ok(!run.isError, run.content?.[0]?.text);
  assert.equal(run.structuredContent.facts.find((each) => each.what.endsWith(': experiment'))?.value, 'by-inspector');
});
