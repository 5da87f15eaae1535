import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, EventBody } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { TemporaryRepository } from '../cli-repository.ts';

/** Adds a package, and changes it as its task says after a reviewer has sent it back. */
const AGENT = `
import { readFileSync, writeFileSync } from 'node:fs';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { mode, task } = JSON.parse(input);
const end = (result) => console.log(JSON.stringify({ tidemill: 'result', summary: 's', ...result }));
const set = (version) => {
  const now = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync('package.json', JSON.stringify({ ...now, dependencies: { pad: version } }, null, 2) + '\\n');
};
const wasFixed = () => { try { readFileSync('fixed.txt'); return true; } catch { return false; } };
const met = { id: 'C1', met: true, evidence: 'package.json:7 names pad 1.0.0; fixed.txt:1 says fixed' };
if (mode === 'review') {
  if (wasFixed()) end({ outcome: 'approved', review: { criteria: [met], comments: [] } });
  else end({ outcome: 'changes_requested', review: { criteria: [met], comments: ['fix it'] } });
} else {
  if (mode === 'implement') set('1.0.0');
  else {
    writeFileSync('fixed.txt', 'fixed\\n');
    if (task.title === 'swaps') set('9.0.0');
  }
  end({ outcome: 'pr_ready' });
}
`;
const CONFIG = `target: main
pipeline: built
hilConfig: { dependencyModifications: requires_approval }
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs], free: true }
untested: true
`;
const PIPELINE = `name: built
start: implement
stages:
  implement: { actor: agent, mode: implement, on: { pr_ready: verify, no_changes: blocked } }
  verify: { actor: system, does: verify, on: { approved: review, failed: implement } }
  review: { actor: agent, mode: review, on: { approved: merge, changes_requested: implement } }
  merge: { actor: system, does: merge, on: { approved: done, failed: implement, conflicts_detected: implement } }
`;
const MANIFEST = `${JSON.stringify({ name: 'mill', version: '1.0.0', private: true, license: 'MIT', type: 'module' }, null, 2)}\n`;
const MINUTE = 60_000;

const machine = new TidemillHome();
const repository = new TemporaryRepository({
  '.tidemill/config.yaml': CONFIG,
  '.tidemill/pipelines/built.yaml': PIPELINE,
  'agent.mjs': AGENT,
  'package.json': MANIFEST,
});
let api: Api;
let project: string;

beforeAll(async () => {
  await machine.up(repository.root);
  api = machine.api();
  project = (await api.projects({ root: repository.root }))[0]!.id;
}, MINUTE);
afterAll(async () => {
  await machine.close();
  repository.remove();
});

type Moved = Extract<EventBody, { type: 'task.moved' | 'task.parked' }>;
async function until(type: Moved['type'], isIt: (body: Moved) => boolean, after = 0): Promise<number> {
  return (await machine.event(type, (body) => isIt(body as Moved), after)).seq;
}
const parked = (taskId: string, after = 0) => until('task.parked', (body) => body.taskId === taskId, after);

describe('an approval of a dependency', { timeout: MINUTE }, () => {
  it('does not cover another version that is swapped in afterwards', async () => {
    const { id, number } = await api.addTask({ project, title: 'swaps', accept: ['pad is there'] });
    const first = await parked(id);
    await api.approveTask({ project, task: number, by: 'ada' });
    await parked(id, first);
    const [question] = (await api.questions({ project })).filter(({ status }) => status === 'open');
    expect(question).toMatchObject({ context: expect.stringContaining('has changed since you approved') });
    expect(repository.git('show', 'main:package.json')).not.toContain('pad');
    await api.cancelTask({ project, task: number, by: 'ada' });
  });

  it('covers the same change on a target that has moved on', async () => {
    const { id, number } = await api.addTask({ project, title: 'stays', accept: ['pad is there'] });
    const first = await parked(id);
    repository.write({ 'elsewhere.txt': 'e\n' });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'By a person');
    await api.approveTask({ project, task: number, by: 'ada' });
    await until('task.moved', (body) => body.taskId === id && 'to' in body && body.to === 'done', first);
    expect(repository.git('show', 'main:package.json')).toContain('"pad": "1.0.0"');
    let asked = 0;
    for await (const { body } of api.events({ project, types: ['question.asked'] }))
      if (body.type === 'question.asked' && body.taskId === id) asked += 1;
    expect(asked).toBe(1);
  });

  it('does not cover what a worker outside the daemon swaps in before the proof', async () => {
    await api.steerWorkers({ project, worker: 'agent-1', operation: 'pause' });
    const { id, number } = await api.addTask({ project, title: 'outside', accept: ['pad is there'] });
    const { fence, worktree } = (await api.claimWork({ project, worker: 'alpha' }))!;
    const file = join(worktree, 'package.json');
    const swap = (version: string) =>
      writeFileSync(file, readFileSync(file, 'utf8').replace(/"pad": "[^"]*"/, `"pad": "${version}"`));
    swap('2.0.0');
    await api.finishClaim({ project, task: number, fence, result: { outcome: 'pr_ready', summary: 's' } });
    const first = await parked(id);
    swap('9.0.0');
    await api.approveTask({ project, task: number, by: 'ada' });
    await parked(id, first);
    expect(repository.git('show', 'main:package.json')).toContain('"pad": "1.0.0"');
  });
});
