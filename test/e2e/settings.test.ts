import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentView,
  type ConfigCheck,
  type ConfigText,
  type HistoryView,
  MetricPeriod,
  type MetricsView,
} from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const AGENT = `
import { writeFileSync } from 'node:fs';
let input = '';
for await (const chunk of process.stdin) input += chunk;
writeFileSync('work-' + JSON.parse(input).task.number + '.txt', 'done\\n');
const tell = (line) => console.log(JSON.stringify(line));
tell({ tidemill: 'usage', costUsd: 0.75, inputTokens: 1 });
tell({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' });
`;
const CONFIG = `target: main
pipeline: quick
sandbox: "off"
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs] }
gates:
  - { name: test, run: "true" }
`;

const machine = new TidemillHome();
const repository = new TemporaryRepository({ '.tidemill/config.yaml': CONFIG, 'agent.mjs': AGENT });
const { root } = repository;
const programs = join(machine.folder, 'programs');
const asked = join(machine.folder, 'asked');

beforeAll(async () => {
  mkdirSync(programs);
  writeFileSync(join(programs, 'gemini'), `#!/bin/sh\necho x >> '${asked}'\necho 9.9.9\n`);
  chmodSync(join(programs, 'gemini'), 0o755);
  // Only on the daemon's PATH: the command line gets it from the daemon.
  const path = machine.env.PATH;
  machine.env.PATH = `${programs}:${path}`;
  await machine.up(root);
  machine.env.PATH = path;
}, 60_000);
afterAll(async () => {
  await machine.close();
  repository.remove();
});

describe('settings in the real program', { timeout: 120_000 }, () => {
  it('the running daemon applies a saved config, and refuses an invalid one', async () => {
    const api = machine.api();
    const [known] = await api.projects({ root });
    const project = known!.id;
    const { text, hash } = await api.config({ project });
    expect(text).toBe(CONFIG);
    const saved = await api.saveConfig({ project, text: `workers: 3\n${text}`, hash });
    await machine.event('worker.registered', (body) => body.name === 'agent-3');
    // The saved file is committed, and work lands without anything that the person would have to do.
    expect(saved.outcome).toBe('Saved and committed to main.');
    await machine.run(['task', 'add', 'One'], root);
    await machine.event('task.moved', (body) => body.to === 'done');
    expect(repository.git('status', '--porcelain')).toBe('');
    expect(repository.git('show', 'main:.tidemill/config.yaml')).toBe(saved.text.trimEnd());
    await expect(api.saveConfig({ project, text, hash })).rejects.toMatchObject({ code: 'conflict' });
    await expect(api.saveConfig({ project, text: 'workers: [', hash: saved.hash })).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining('config.yaml:1:'),
    });
    expect(readFileSync(join(root, '.tidemill/config.yaml'), 'utf8')).toBe(saved.text);

    const shown = await machine.json<ConfigText>(['config', 'show'], root);
    expect(shown).toMatchObject({ text: saved.text, hash: saved.hash });
    expect((await machine.run(['config', 'show'], root)).stdout).toBe(saved.text);
    expect(await machine.run(['config', 'check'], root)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is valid'),
    });
    const other = join(machine.folder, 'other.yaml');
    writeFileSync(other, `tagret: main\n${CONFIG.replace('quick', 'quik')}`);
    const checked = await machine.run(['config', 'check', other], root);
    expect(checked).toMatchObject({ code: 1, stderr: '' });
    expect(checked.stdout.split('\n').slice(0, 2)).toEqual([
      `${other}:1: unknown key "tagret"; did you mean "target"?`,
      `${other}:3: unknown pipeline "quik"; did you mean "quick"?`,
    ]);
    const { code, stdout } = await machine.run(['config', 'check', other, '--json'], root);
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as ConfigCheck).problems.map(({ line }) => line)).toEqual([1, 3]);
    const missing = await machine.run(['config', 'check', 'nope.yaml'], root);
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('nope.yaml cannot be read');
  });

  it('lists the agents that the daemon finds, and caches their versions for a while', async () => {
    const listed = await machine.json<AgentView[]>(['agents'], root);
    const [known] = await machine.api().projects({ root });
    const project = known!.id;
    const together = await Promise.all([{}, {}, { project }, { project }].map((input) => machine.api().agents(input)));
    const where = join(programs, 'gemini');
    for (const agents of [listed, ...together])
      expect(agents.find(({ name }) => name === 'gemini')).toMatchObject({
        installed: true,
        version: '9.9.9',
        answers: true,
        where,
        config: { type: 'acp', preset: 'gemini' },
      });
    // Once from the project's folder and once without a folder; on a slow machine the first entry may have expired.
    expect(readFileSync(asked, 'utf8').split('\n').length - 1).toBeLessThan(4);
    await expect(machine.api().agents({ project: '../etc' })).rejects.toMatchObject({ code: 'no_project' });
  });

  it('history agrees with the metrics, and fits a terminal', async () => {
    // The first one has landed before.
    await machine.run(['task', 'add', 'Two'], root);
    let done = 0;
    await machine.event('task.moved', (body) => body.to === 'done' && ++done === 2);
    for (const period of MetricPeriod.options) {
      const [metrics, history] = await Promise.all([
        machine.json<MetricsView>(['metrics', '--period', period], root),
        machine.json<HistoryView>(['metrics', '--history', '--period', period], root),
      ]);
      expect(history.points).toHaveLength({ '24h': 24, '7d': 28, '30d': 30 }[period]);
      expect(history.points.reduce((sum, point) => sum + point.done, 0)).toBe(metrics.total.completed);
      expect(history.spend.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(1.5);
      expect(history.spend[0]).toMatchObject({ mode: 'implement', agent: expect.stringMatching(/^command /) });
      expect(history.points.at(-1)).toMatchObject({ done: 2, queued: 0 });
    }
    const { stdout } = await machine.run(['metrics', '--history'], root);
    const lines = stdout.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[24]).toMatch(/^\d\d-\d\d \d\d:\d\d +2 +#+ .* 0 +\$1\.50 +#+$/);
    expect(lines.at(-1)).toMatch(/^\$1\.50 +#+ +implement by command /);
    await expect(machine.api().history({ project: 'nope' })).rejects.toMatchObject({ code: 'no_project' });
  });
});
