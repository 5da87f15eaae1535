import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { TrialReport } from '../../packages/daemon/src/assembly/trial-report.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const GOOD = `#!/bin/sh
cat > /dev/null
echo "the mill turns" > tidemill-trial.txt
echo "hello from the agent"
echo '{"tidemill":"usage","inputTokens":10,"outputTokens":5,"costUsd":0.25,"requests":1}'
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote it"}'
`;
const LIAR = `#!/bin/sh
cat > /dev/null
echo '{"tidemill":"result","outcome":"pr_ready","summary":"trust me"}'
`;
const CONFIG = `target: main
agents:
  default: { type: command, command: [./good.sh] }
  plan: { type: command, command: [./broken.sh], fallback: [default] }
  review: { type: command, command: [./liar.sh] }
  implement: { type: command, command: [./not-there.sh] }
  plan_revision: { type: command, command: [sh, -c, 'echo > waiting; exec sleep 600'] }
untested: true
`;

const LAUNCHER = inject('launcher');

/** Resolves when a file with that name is anywhere in the folder. Other files may change at the same time. */
async function appears(folder: string, name: string): Promise<void> {
  while (globSync(`**/${name}`, { cwd: folder }).length === 0) await delay(20);
}

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
beforeAll(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'good.sh': GOOD,
    'liar.sh': LIAR,
    'broken.sh': '#!/bin/sh\necho "it hurts" >&2\nexit 3\n',
    '.tidemill/config.yaml': CONFIG,
  });
  root = repository.root;
  for (const name of ['good.sh', 'liar.sh', 'broken.sh']) chmodSync(join(root, name), 0o755);
  repository.git('commit', '-q', '-a', '-m', 'Executable');
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

async function trial(name: string, cwd = root): Promise<{ code: number | null; report: TrialReport }> {
  const { code, stdout, stderr } = await machine.run(['agents', 'test', name, '--json'], cwd);
  expect(stdout, stderr).not.toBe('');
  return { code, report: JSON.parse(stdout) as TrialReport };
}
const verdicts = ({ steps }: TrialReport) => Object.fromEntries(steps.map(({ name, ok }) => [name, ok]));

describe('agents test', { timeout: 60_000 }, () => {
  test('reports what a working agent did, and leaves no files', async () => {
    const { code, report } = await trial('default');
    expect(report).toMatchObject({ agent: 'default', label: 'command ./good.sh', ok: true, failure: null });
    expect(verdicts(report)).toEqual({
      started: true,
      session: null,
      'tool use': null,
      'file written': true,
      'structured result': true,
      cost: true,
      stopped: true,
    });
    expect(report.usage).toMatchObject({ inputTokens: 10, outputTokens: 5, costUsd: 0.25 });
    expect(code).toBe(0);
    expect(readdirSync(join(machine.data, 'trials'))).toEqual([]);
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  test('prints a readable report, with the output of the agent', async () => {
    const { code, stdout, stderr } = await machine.run(['agents', 'test', 'default'], root);
    expect(stdout).toMatch(/ok {2}file written +tidemill-trial\.txt\n/);
    expect(stdout).toMatch(/ok {2}cost +0\.2500 USD; 10 tokens in, 5 out/);
    expect(stdout).toContain('default (command ./good.sh) works.');
    expect(stderr).toContain('hello from the agent');
    expect(code).toBe(0);
  });

  test.each([
    ['plan', 'crash', /exited with code 3[\s\S]*it hurts/],
    ['review', 'validation', /says it is done, but there is no tidemill-trial\.txt/],
    ['implement', 'spawn', /not-there\.sh/],
  ])('%s fails as %s, with the reason and a hint, and no other agent takes over', async (name, failure, message) => {
    const { code, report } = await trial(name);
    expect(report).toMatchObject({ ok: false, failure: { class: failure, hint: expect.stringMatching(/\w/) } });
    expect(report.failure!.message).toMatch(message);
    expect(code).toBe(1);
  });

  test('prints the kind of a failure', async () => {
    const { code, stdout } = await machine.run(['agents', 'test', 'plan'], root);
    expect(stdout).toContain('failed: crash');
    expect(code).toBe(1);
  });

  test('Ctrl-C ends the agent and leaves nothing', async () => {
    const args = [LAUNCHER, 'agents', 'test', 'plan_revision', '--json'];
    const child = spawn(process.execPath, args, { cwd: root, env: machine.env, stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    const trials = join(machine.data, 'trials');
    await appears(trials, 'waiting');
    child.kill('SIGINT');
    expect(await closed).toEqual([1, null]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining('was stopped') },
    });
    expect(readdirSync(trials)).toEqual([]);
  });

  test('an unknown agent is refused with a list of the known ones', async () => {
    const { code, stderr } = await machine.run(['agents', 'test', 'clause'], root);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no agent "clause"');
    expect(stderr).toContain(
      'Did you mean claude? In .tidemill/config.yaml: default, plan, review, implement, plan_revision.',
    );
  });
});
