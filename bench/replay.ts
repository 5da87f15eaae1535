import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { ReplayView } from '@tidemill/contract';
import type { BenchOptions } from './options.ts';
import { git } from './repository.ts';
import { row, type Section } from './row.ts';
import { inTemporaryFolder } from './temporary.ts';

const execute = promisify(execFile);
const PROGRAM = join(import.meta.dirname, '../packages/daemon/bin/tidemill.mjs');
const TASKS = 20;

/** The mistake is made unless the lesson is in the prompt. */
const SCENARIO = `runs:
  - when: { mode: implement, feedback: true }
    do: [ { write: { path: "src/{taskNumber}.txt", content: "fine\\n" } }, { spend: { costUsd: 0.001 } }, { result: {} } ]
  - when: { mode: implement, prompt: "never have the word bad" }
    do: [ { write: { path: "src/{taskNumber}.txt", content: "fine\\n" } }, { spend: { costUsd: 0.001 } }, { result: {} } ]
  - when: { mode: implement }
    do: [ { write: { path: "src/{taskNumber}.txt", content: "bad\\n" } }, { spend: { costUsd: 0.001 } }, { result: {} } ]
`;
const CONFIG = `pipeline: quick
workers: 2
agents: { default: { type: scripted, script: .tidemill/scenario.yaml } }
gates: [ { name: test, run: "! grep -rq bad src" } ]
`;

/** A lesson on recorded tasks: without it, with it, and with a placebo, by the real program. */
async function replayTasks(folder: string): Promise<{ view: ReplayView; ms: number }> {
  const root = join(folder, 'repository');
  await mkdir(join(root, '.tidemill'), { recursive: true });
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src/a.txt'), 'ok\n');
  await writeFile(join(root, '.tidemill/config.yaml'), CONFIG);
  await writeFile(join(root, '.tidemill/scenario.yaml'), SCENARIO);
  const tasks = Array.from({ length: TASKS }, (_, at) => ({
    title: `Write src/${at + 1}.txt`,
    files: [`src/${at + 1}.txt`],
    accept: ['it is written'],
  }));
  await writeFile(join(folder, 'tasks.yaml'), JSON.stringify(tasks));
  await git(root, 'init', '-q', '-b', 'main');
  await git(root, 'add', '-A');
  await git(root, 'commit', '-q', '-m', 'Start');
  const env = { ...process.env, HOME: folder, TIDEMILL_HOME: join(folder, 'data'), NO_COLOR: '1' };
  const tidemill = async (...args: string[]) =>
    (await execute(process.execPath, [PROGRAM, ...args], { cwd: root, env, maxBuffer: 1 << 26 })).stdout;
  await tidemill('task', 'add', '--from', join(folder, 'tasks.yaml'));
  await tidemill('up', '--until-idle', '--plain');
  await tidemill('memory', 'add', 'Files in src/ must never have the word bad in them.', '--file', 'src/**');
  const daemon = spawn(process.execPath, [PROGRAM, 'up', '--json'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(createInterface({ input: daemon.stdout }), 'line');
    const startedAt = performance.now();
    const said = await tidemill('replay', 'run', '--lesson', 'L1', '--last', String(TASKS), '--json');
    return { view: JSON.parse(said) as ReplayView, ms: performance.now() - startedAt };
  } finally {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
  }
}

export async function run(_options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const { view, ms } = await replayTasks(folder);
    const [pair] = view.report.pairs;
    if (view.status !== 'done' || pair?.better !== TASKS) throw new Error(`the replay went wrong: ${view.why}`);
    return {
      name: 'replay',
      title: `A paired replay of ${TASKS} scripted tasks`,
      rows: [
        row({ name: `${view.planned} runs, two workers`, value: ms / 1000, unit: 's', target: { atMost: 120 } }),
        row({ name: 'one run', value: ms / view.planned, unit: 'ms' }),
      ],
      notes: [
        'Three variants: without the lesson, with it, and with a placebo. Each run makes a repository, starts the scripted agent and runs two gates; without the lesson the gates send the agent back.',
      ],
    };
  });
}
