// Asks `profline mcp` through its official clients: the SDK's and the inspector.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { checkCitations, folder, profline, questions, root } from './recorded_runs.mjs';

const modules = process.env.MCP_MODULES;

/** What the inspector needs and Debian 12's node 18 has only on request. */
const nodeOptions = typeof CustomEvent === 'undefined'
  ? { NODE_OPTIONS: '--experimental-global-customevent --experimental-global-webcrypto' } : {};

/** One call of each tool. */
const oneOfEach = [...new Set(questions.map((question) => question.tool))]
  .map((tool) => questions.find((question) => question.tool === tool));

test("the SDK's client lists and calls every tool", async () => {
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

test('the inspector lists and calls every tool', () => {
  const inspectServer = (server, ...words) => JSON.parse(execFileSync(process.execPath,
    [join(modules, '.bin/mcp-inspector'), '--cli', ...words, '--', profline, 'mcp', ...server, root],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, ...nodeOptions, HOME: folder }, timeout: 60000 }));
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
