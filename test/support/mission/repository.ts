import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportedTask } from '@tidemill/contract';
import type { TidemillHome } from '../tidemill-home.ts';

const SLOTS = 12;

export interface MissionOptions {
  name?: string;
  workers?: number;
  sandbox?: 'auto' | 'off';
  tasks: ImportedTask[];
}

/** A repository with a gate, agents that are programs, and tasks in the queue. Returns its root. */
export async function makeMission(machine: TidemillHome, options: MissionOptions): Promise<string> {
  const root = join(machine.folder, options.name ?? 'project');
  // The agent is outside the repository, like a person's own.
  const tools = join(machine.folder, 'tools');
  mkdirSync(join(root, '.tidemill'), { recursive: true });
  mkdirSync(tools, { recursive: true });
  cpSync(join(import.meta.dirname, 'agent.mjs'), join(tools, 'agent.mjs'));
  cpSync(join(import.meta.dirname, 'check.mjs'), join(root, 'check.mjs'));
  writeFileSync(join(root, 'README.md'), '# A project\n');
  writeFileSync(join(root, 'pair.txt'), 'first line\n');
  // Three lines between two slots, so that git can merge any two of them.
  const slots = Array.from({ length: SLOTS }, (_, index) => `slot ${index + 1}: empty\n.\n.\n.\n`);
  writeFileSync(join(root, 'shared.txt'), slots.join(''));
  const config = {
    target: 'main',
    workers: options.workers ?? 3,
    sandbox: options.sandbox ?? 'auto',
    agents: { default: { type: 'command', command: [process.execPath, join(tools, 'agent.mjs')] } },
    // The tasks change texts.
    source: ['**'],
    gates: [{ name: 'check', run: `${JSON.stringify(process.execPath)} check.mjs`, timeout: '30s' }],
  };
  // JSON is YAML.
  writeFileSync(join(root, '.tidemill', 'config.yaml'), `${JSON.stringify(config, null, 2)}\n`);
  await machine.git(root, 'init', '-q', '-b', 'main');
  await machine.git(root, 'add', '-A');
  await machine.git(root, 'commit', '-q', '-m', 'Start');
  const file = join(machine.folder, 'tasks.yaml');
  writeFileSync(file, JSON.stringify(options.tasks));
  await machine.json(['task', 'add', '--from', file], root);
  return root;
}

/** The numbers in the Task trailers of the target's commits, oldest first. */
export async function landedTasks(machine: TidemillHome, root: string): Promise<number[]> {
  const log = await machine.git(
    root,
    'log',
    '--reverse',
    '--format=%(trailers:key=Task,valueonly,separator=%x2C)',
    'main',
  );
  return [...log.matchAll(/#(\d+)/g)].map(([, number]) => Number(number));
}
