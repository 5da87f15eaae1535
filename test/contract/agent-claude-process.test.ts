import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClaudeBench } from './claude-bench.ts';

let bench: ClaudeBench;
beforeEach(async () => {
  bench = await ClaudeBench.open('auto');
});
afterEach(() => bench.close());

/** Speaks the protocol, with this answer to the first request, and these messages after the prompt. */
async function impostor(reply: object, ...messages: object[]): Promise<string> {
  const text = `#!${process.execPath}
    if (process.argv[2] === '--version') process.exit();
    const print = (message) => console.log(JSON.stringify(message));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { type, request_id } = JSON.parse(line);
      if (type === 'user') ${JSON.stringify(messages)}.forEach(print);
      else print({ type: 'control_response', response: { subtype: 'success', request_id, response: ${JSON.stringify(reply)} } });
    });`;
  const file = path.join(bench.base, 'impostor');
  await writeFile(file, text, { mode: 0o755 });
  return file;
}

describe('a missing program of Claude Code', () => {
  it('is said with what to install', async () => {
    const trial = bench.start('http://127.0.0.1:1', { config: { program: './no-such-claude' } });
    expect(await trial.end).toMatchObject({ failure: 'spawn', message: expect.stringContaining('no-such-claude') });
  });

  it('is a failed start when it is not Claude Code at all', async () => {
    const trial = bench.start('http://127.0.0.1:1', { config: { program: '/bin/false' } });
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'crash', exitCode: 1 });
  });
});

describe('a program of Claude Code that does not keep to the protocol', () => {
  it('gets no prompt when it does not confirm the guards', async () => {
    const told = { type: 'assistant', message: { id: 'm', content: 'the prompt arrived' } };
    const program = await impostor({ claude_code_version: '9.9.9' }, told);
    const trial = bench.start('http://127.0.0.1:1', { config: { program } });
    const message = expect.stringMatching(/does not confirm that it asks the guards.*it is 9\.9\.9.*claude update/);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'spawn', message });
    expect(trial.output()).toBe('');
    expect(await bench.leftOver()).toEqual([]);
  });

  it('is stopped when it uses a tool without asking the guards', async () => {
    const used = { type: 'tool_result', tool_use_id: 't', content: 'made' };
    const program = await impostor({ hooks_applied: true }, { type: 'user', message: { content: [used] } });
    const trial = bench.start('http://127.0.0.1:1', { config: { program } });
    const message = expect.stringContaining('without asking the guards');
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'spawn', message });
    expect(await bench.leftOver()).toEqual([]);
  });
});

it('Claude Code may be where a person’s login is, behind a link', async () => {
  const local = path.join(bench.home, '.claude', 'local');
  await mkdir(path.join(local, 'versions'), { recursive: true });
  await rename(await impostor({}), path.join(local, 'versions', 'claude'));
  await symlink('versions/claude', path.join(local, 'claude'));
  const trial = bench.start('http://127.0.0.1:1', { config: { program: path.join(local, 'claude') } });
  expect(await trial.end).toMatchObject({ message: expect.stringContaining('does not confirm') });
});
