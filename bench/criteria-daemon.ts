import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Api, EventBody, LoggedEvent } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { addressOf, type RunningProgram, startDaemon } from './daemon-process.ts';
import { git, makeRepository } from './repository.ts';

/** A daemon that works on one project with a program as its agent. */
export interface WorkingDaemon {
  root: string;
  home: string;
  /** Where agents write and read what the bench looks at. */
  door: string;
  api: Api;
  project: string;
  program: RunningProgram;
  /** The events so far. */
  log(): Promise<LoggedEvent[]>;
  /** The first event of this kind for which this holds, now or later. */
  event<T extends EventBody['type']>(
    type: T,
    isIt?: (body: BodyOf<T>) => boolean,
  ): Promise<{ at: number; body: BodyOf<T> }>;
}

export type BodyOf<T extends EventBody['type']> = Extract<EventBody, { type: T }>;

/** How long something took that a criterion limits. */
export interface Measured {
  id: string;
  what: string;
  seconds: number;
}

/** `settings`: lines of the config besides the agent. The repository has a remote, so that what lands is pushed. */
export async function startWorking(
  folder: string,
  agent: string,
  settings: string,
  workers: number,
): Promise<WorkingDaemon> {
  const [root, home, door, remote] = ['repository', 'home', 'door', 'remote.git'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  await makeRepository(root);
  await mkdir(door, { recursive: true });
  await mkdir(join(root, '.tidemill'));
  await writeFile(join(root, 'agent.mjs'), agent);
  const where = JSON.stringify(door);
  const command = `{ type: command, command: [node, agent.mjs], env: { DOOR: ${where} }, writable: [${where}] }`;
  await writeFile(
    join(root, '.tidemill', 'config.yaml'),
    `target: main\nagents:\n  default: ${command}\ngates: [{ name: test, run: "test -e agent.mjs" }]\n${settings}`,
  );
  await git(root, 'add', '-A');
  await git(root, 'commit', '-q', '-m', 'Add an agent');
  await git(folder, 'clone', '-q', '--bare', root, remote);
  await git(root, 'remote', 'add', 'origin', remote);
  await git(root, 'fetch', '-q', 'origin');
  const program = await startDaemon(root, home, workers);
  const api = createClient(await addressOf(home));
  const project = (await api.projects({ root }))[0]!.id;
  const log = async () => {
    const all: LoggedEvent[] = [];
    for await (const event of api.events({ project })) all.push(event);
    return all;
  };
  const event: WorkingDaemon['event'] = async (type, isIt = () => true) => {
    for await (const { at, body } of api.events({ project, types: [type], follow: true }))
      if (isIt(body as BodyOf<typeof type>)) return { at, body: body as BodyOf<typeof type> };
    throw new Error(`the events ended before ${type}`);
  };
  return { root, home, door, api, project, program, log, event };
}

export const homeIdOf = async (home: string) => (await readFile(join(home, 'home.id'), 'utf8')).trim();

/** Seconds from now until this holds. */
export async function secondsUntil(isSo: () => Promise<boolean> | boolean): Promise<number> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > 120_000) throw new Error(`two minutes have passed: ${isSo}`);
    await delay(5);
  }
  return (performance.now() - startedAt) / 1000;
}
