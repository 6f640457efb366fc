// Asks `profline mcp` about recorded runs. Every fact of every answer is checked against the document that it cites: files are read
// again, commands are run again.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { answers, callOf, checkCitations, documentOf, exchange, folder, profline, questions, root, tree, unanswerable } from './recorded_runs.mjs';

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

test('what a reader must know about a comparison or a trace is cited like any other fact', () => {
  const others = join(folder, 'others');
  cpSync(join(tree, 'docs/examples/h200'), join(others, 'newer'), { recursive: true });
  cpSync(join(others, 'newer'), join(others, 'older'), { recursive: true });
  const record = join(others, 'older/run.json');
  writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), state: 'failed', started: '2026-01-01T00:00:00.000Z' }));
  const asked = [
    { tool: 'compare', arguments: { a: 'h200', b: 'cpu-tiny' } },
    { tool: 'compare', arguments: { a: 'h200', history: 20 } },
    { tool: 'compare', arguments: { a: 'newer', history: 20 } },
    { tool: 'trace', arguments: { file: 'decode.sqlite' } },
    { tool: 'trace', arguments: { file: 'decode.json.gz' } },
  ];
  const valuesOf = (answer, what) => answer.facts.filter((fact) => fact.what === what).map((fact) => fact.value);
  const all = answers(asked, [others]);
  all.forEach((answer, i) => {
    const question = JSON.stringify(asked[i]);
    const document = documentOf(answer.documents.d1);
    const notes = asked[i].tool === 'trace' ? document.captures[0].reading.notes : document.notes;
    assert.deepEqual(valuesOf(answer, 'note'), notes, question);
    assert.deepEqual((answer.notes ?? []).filter((note) => /\d/.test(note)), [], question);
    checkCitations(answer);
  });
  assert.notDeepEqual(valuesOf(all[0], 'note'), []);
  const leftOut = documentOf(all[2].documents.d1).left_out;
  assert.equal(leftOut.length, 1);
  assert.deepEqual(valuesOf(all[2], 'left out: folder'), leftOut.map((run) => run.folder));
  assert.deepEqual(valuesOf(all[2], 'left out: why'), leftOut.map((run) => run.why));
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

test('a ping is answered while a run is going, and the run reports its progress', async () => {
  const go = join(folder, 'go');
  const server = spawn(profline, ['mcp', '--allow-run', join(folder, 'own')], { cwd: folder });
  const say = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const heard = [];
  createInterface({ input: server.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    heard.push(message);
    if (message.params?.message === 'baseline started') say({ id: 'still there?', method: 'ping' });
    if (message.id !== 'still there?') return;
    writeFileSync(go, '');
    server.stdin.end();
  });
  say({
    id: 'run', method: 'tools/call', params: {
      name: 'run', _meta: { progressToken: 'run' },
      arguments: { program: ['sh', '-c', `until [ -e ${go} ]; do sleep 0.05; done`], overrides: ['pipeline.nsys.enable=false'] },
    },
  });
  const code = await new Promise((resolve) => { server.on('close', resolve); });
  assert.equal(code, 0);
  const progress = heard.filter((message) => message.method === 'notifications/progress').map((message) => message.params);
  assert.deepEqual(progress.map((each) => each.progressToken), progress.map(() => 'run'));
  assert.deepEqual(progress.map((each) => each.progress), progress.map((_, i) => i + 1));
  assert.deepEqual(progress.map((each) => each.message).filter((text) => /^baseline (started|ok)$/.test(text)), ['baseline started', 'baseline ok']);
  assert.deepEqual(heard.filter((message) => message.id !== undefined).map((message) => message.id), ['still there?', 'run']);
  assert.equal(heard.at(-1).result.isError, false, JSON.stringify(heard.at(-1)));
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
