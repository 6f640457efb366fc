// The runs that the server is asked about, and what its answers are checked with.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

export const profline = process.env.PROFLINE;
export const tree = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const { questions, unanswerable } = JSON.parse(readFileSync(join(tree, 'tests/mcp/questions.json'), 'utf8'));

export let folder;
export let root;

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
export function exchange(messages, more = []) {
  const lines = messages.map((message) => (typeof message === 'string' ? message : JSON.stringify(message)));
  const done = spawnSync(profline, ['mcp', ...more, root], { input: lines.join('\n'), encoding: 'utf8', cwd: folder, timeout: 60000 });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
}

export const callOf = (id, { tool, arguments: given }) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: given } });

/** The answers to several questions, by one server. */
export function answers(asked, more = []) {
  return exchange(asked.map((question, id) => callOf(id, question)), more).map((message, id) => {
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
export function documentOf(cited) {
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
export function checkCitations(answer) {
  for (const fact of answer.facts) {
    const cited = answer.documents[fact.document];
    assert.ok(cited, `${fact.what}: no document ${fact.document}`);
    assert.deepEqual(at(documentOf(cited), fact.pointer), fact.value, `${fact.what} at ${fact.pointer} of ${JSON.stringify(cited)}`);
  }
  return answer.facts.length;
}
