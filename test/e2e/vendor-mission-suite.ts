import { delimiter } from 'node:path';
import { isInfrastructure } from '@tidemill/core';
import { expect } from 'vitest';
import { landedTasks } from '../support/mission/repository.ts';
import { strays } from '../support/mission/strays.ts';
import { makeVendorProject } from '../support/mission/vendor-project.ts';
import { TWO_TASKS, twoTasksMind } from '../support/mission/vendor-tasks.ts';
import type { Installed, Vendor, VendorModel } from '../support/mission/vendors.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

/** Lets a vendor's real program play the first `count` of the two tasks through the real daemon. */
export async function landTasks(vendor: Vendor, found: Installed, count: 1 | 2): Promise<void> {
  // As on a person's machine.
  const machine = new TidemillHome({ PATH: [found.bin, process.env.PATH].join(delimiter) });
  const model = await vendor.serve(twoTasksMind);
  try {
    await expectLanded(machine, model, { vendor, found, count });
  } finally {
    await model.stop();
    await machine.close();
  }
}

interface Mission {
  vendor: Vendor;
  found: Installed;
  count: 1 | 2;
}

async function expectLanded(machine: TidemillHome, { url, others }: VendorModel, mission: Mission): Promise<void> {
  const { vendor, found, count } = mission;
  const given = TWO_TASKS.slice(0, count);
  const numbers = given.map((_, index) => index + 1);
  const agents = { default: vendor.agent(url, found) };
  const root = await makeVendorProject(machine, { name: vendor.name, agents, tasks: given, installed: found });
  const up = await machine.run(['up', '--until-idle', '--plain'], root);
  const output = `${up.stdout}\n${up.stderr}`;
  expect(up.code, output).toBe(0);

  const tasks = await machine.ask(root, (api, project) => api.tasks({ project }));
  expect(
    tasks.map(({ stage, blocked, waiting }) => ({ stage, blocked, waiting })),
    output,
  ).toEqual(numbers.map(() => ({ stage: 'done', blocked: null, waiting: null })));
  expect((await landedTasks(machine, root)).toSorted()).toEqual(numbers);
  await expectProven(machine, root, count);
  await expectRecorded(machine, root, count);
  const tests = await machine.program(process.execPath, ['--test'], root);
  expect(tests.code, tests.stdout).toBe(0);

  expect(await machine.git(root, 'status', '--porcelain')).toBe('');
  expect((await machine.git(root, 'worktree', 'list')).split('\n')).toHaveLength(1);
  expect(await machine.git(root, 'branch', '--list', 'task/*')).toBe('');
  expect(strays(machine)).toEqual([]);
  // opencode looks for its own packages at the registry, which is this server.
  expect(others.filter((other) => !other.includes('opencode'))).toEqual([]);
}

async function expectProven(machine: TidemillHome, root: string, count: number): Promise<void> {
  const commits = (await machine.git(root, 'rev-list', '--grep=^Task: #', 'main')).split('\n');
  expect(commits).toHaveLength(count);
  for (const commit of commits) {
    expect(await machine.git(root, 'log', '-1', '--format=%(trailers:key=Evidence)', commit)).toMatch(/^Evidence: \S+/);
    const { ok, checks } = await machine.ask(root, (api, project) => api.verifyEvidence({ project, commit }));
    expect(ok, JSON.stringify(checks)).toBe(true);
  }
}

/** The failures are recorded: one by the gates, one by the reviewer, and no others. */
async function expectRecorded(machine: TidemillHome, root: string, count: number): Promise<void> {
  const bodies = (await machine.events(root)).map(({ body }) => body);
  const sentBack = bodies.filter((body) => body.type === 'run.sent_back');
  expect(sentBack).toMatchObject([{ gates: ['test'], retry: 1 }]);
  const failed = bodies.filter((body) => body.type === 'evidence.recorded' && body.evidence.status !== 'pass');
  // It runs once more before the task is sent back.
  expect(failed).toMatchObject([1, 2].map((attempt) => ({ evidence: { gate: 'test', status: 'fail', attempt } })));
  // Two agents that start at once may fail on files they share (opencode's database): retried, not counted.
  const ends = bodies
    .filter((body) => body.type === 'run.finished')
    .filter(({ failure }) => failure === null || !isInfrastructure(failure));
  const outcomes = [
    ['plan_complete', 'pr_ready', 'approved'],
    ['plan_complete', 'pr_ready', 'changes_requested', 'pr_ready', 'approved'],
  ];
  expect(ends.map(({ outcome }) => outcome).toSorted()).toEqual(outcomes.slice(0, count).flat().toSorted());
  for (const { usage } of ends) expect(usage.requests).toBeGreaterThan(0);
}
