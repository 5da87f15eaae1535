import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE, guardFile, personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GuardedEngine } from '../../../../../test/support/guarded-engine.ts';
import { answerHook } from '../../hooks/hook-answer.ts';
import { bypassGuard, decideGuard, passGuard, proposeGuard } from '../learning/guard-flow.ts';

const ada = personActor('ada');
const GENERATED = `- name: generated
  when: { path: "src/generated/**", access: write }
  verdict: deny
  reason: "{path} is generated: run make types."
`;
const OBSERVES = /^ {2}observe: true$/m;
const REASON = 'src/generated/a.ts is generated: run make types.';

let engine: GuardedEngine;
beforeEach(async () => {
  engine = await GuardedEngine.open();
  ({ bed, tools, heard, folder } = engine);
  engine.calls = [{ tool: 'Write', input: { file_path: 'src/generated/a.ts', content: 'x' } }];
});
afterEach(() => engine.close());

let { bed, tools, heard, folder } = {} as GuardedEngine;
const file = () => readFileSync(join(folder, guardFile('generated')), 'utf8');
const draft = { yaml: GENERATED, why: 'agents edit generated files', traceIds: [], key: 'k1' };
const proposal = async () => (await engine.proposals())[0]!;
const run = (number: number) => engine.run(number);
const eventually = (check: () => Promise<unknown> | unknown) => engine.eventually(check);
const alerted = (alert: string) => eventually(async () => expect(await bed.alerts()).toContain(alert));

describe('a guard that is proposed', () => {
  test('observes, is approved, and then refuses with its reason', async () => {
    for (const number of [1, 2, 3]) expect(await run(number)).toEqual({ kind: 'allow' });
    const proposed = await proposeGuard(tools, { ...draft, by: ENGINE });
    expect(proposed).toMatchObject({ status: 'observing', refusedCount: 3, allowedCount: 0 });
    expect(proposed.refused[0]).toMatchObject({ tool: 'Write', what: 'src/generated/a.ts' });
    expect(file()).toMatch(OBSERVES);
    await alerted('info guard_proposed generated');

    expect(await run(4)).toMatchObject({ kind: 'allow', observed: [{ guard: 'generated' }] });
    await eventually(async () => expect((await proposal()).observedCount).toBe(1));
    expect(await proposal()).toMatchObject({ observedCount: 1, observed: [{ tool: 'Write', source: 'run' }] });

    for (const by of [ENGINE, { kind: 'agent' as const, id: 'a', name: 'a' }])
      await expect(decideGuard(tools, await proposal(), { decision: 'approve', why: '', by })).rejects.toMatchObject({
        code: 'forbidden',
      });
    const approved = await decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada });
    expect(approved).toMatchObject({ status: 'enforced', decidedBy: ada, refusedCount: 4 });
    expect(file()).not.toMatch(OBSERVES);
    expect(await run(5)).toEqual({ kind: 'deny', guard: 'generated', reason: REASON });
    expect((await bed.log('guard.denied')).at(-1)!.body).toMatchObject({
      ...{ guard: 'generated', reason: REASON, call: { tool: 'Write', input: { content: 'x' }, cwd: '{worktree}' } },
    });
    await eventually(async () => expect(await bed.alerts()).not.toContain('info guard_proposed generated'));
  });

  test('lets one call of one task pass after a bypass, which is recorded and counts against it', async () => {
    await proposeGuard(tools, { ...draft, by: ada });
    await expect(
      bypassGuard(tools, await proposal(), { taskId: 'task_1', why: 'once', by: ada }),
    ).rejects.toMatchObject({
      message: 'the guard generated refuses nothing: it is observing',
    });
    await decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada });
    engine.calls = [
      ...engine.calls,
      ...engine.calls,
      { tool: 'Write', input: { file_path: '../../outside.ts', content: 'x' } },
    ];
    for (const number of [1, 2, 3]) {
      await expect(
        bypassGuard(tools, await proposal(), { taskId: `task_${number}`, why: 'once', by: ENGINE }),
      ).rejects.toMatchObject({ code: 'forbidden' });
      await bypassGuard(tools, await proposal(), { taskId: `task_${number}`, why: 'once', by: ada });
      await run(number);
      const [first, second, third] = heard.splice(0);
      expect(first).toEqual({ kind: 'allow' });
      expect(second).toMatchObject({ kind: 'deny', guard: 'generated' });
      expect(third).toMatchObject({ kind: 'deny', guard: 'worktree' });
    }
    expect(await proposal()).toMatchObject({ bypasses: 3, bypass: null });
    expect(await bed.log('guard_proposal.bypassed', 'guard_proposal.bypass_used')).toHaveLength(6);
    expect((await tools.calls.recent(10)).map(({ verdict }) => verdict)).toContain('bypassed');
    await alerted('warning guard_bypassed generated');
    // One for another task, and one that is too late, let nothing pass.
    await bypassGuard(tools, await proposal(), { taskId: 'task_9', why: 'once', by: ada });
    expect(await run(4)).toMatchObject({ kind: 'deny' });
    await bed.pass(11 * 60_000);
    await bypassGuard(tools, await proposal(), { taskId: 'task_5', why: 'once', by: ada });
    await bed.pass(11 * 60_000);
    await run(5);
    expect(heard.at(-3)).toMatchObject({ kind: 'deny', guard: 'generated' });
  });

  test('does not come back after it was refused, whatever its key and name, unless a person proposes it', async () => {
    await proposeGuard(tools, { ...draft, by: ENGINE });
    await expect(proposeGuard(tools, { ...draft, by: ENGINE })).rejects.toMatchObject({ code: 'conflict' });
    await decideGuard(tools, await proposal(), { decision: 'refuse', why: 'we edit them', by: ada });
    expect(() => file()).toThrow('ENOENT');
    await eventually(async () => expect(await bed.alerts()).toEqual([]));
    const other = { ...draft, key: 'k2', yaml: GENERATED.replace('name: generated', 'name: other') };
    for (const again of [draft, other])
      for (const by of [ENGINE, { kind: 'agent' as const, id: 'a', name: 'a' }])
        await expect(proposeGuard(tools, { ...again, by })).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringContaining('refused'),
        });
    expect(await proposeGuard(tools, { ...draft, by: ada })).toMatchObject({ status: 'observing' });
  });

  test('by an agent waits for a person before it observes, and ten at most wait', async () => {
    const by = { kind: 'agent' as const, id: 'agent-1', name: 'agent-1' };
    const numbered = (number: number) => ({
      ...{ ...draft, key: `k${number}`, by },
      yaml: GENERATED.replace('name: generated', `name: g${number}`).replace('generated/**', `g${number}/**`),
    });
    for (let number = 1; number <= 10; number += 1)
      expect(await proposeGuard(tools, numbered(number))).toMatchObject({ status: 'proposed' });
    await expect(proposeGuard(tools, numbered(11))).rejects.toThrow('10 proposed guards already wait for a person');
    await bed.pass(120_000);
    expect(await tools.guards.read('g1')).toBeNull();
    const first = (await bed.store.records({ noun: 'guard_proposal' })).find(({ name }) => name === 'g1')!;
    await expect(decideGuard(tools, first, { decision: 'approve', why: '', by: ada })).rejects.toThrow(
      'has not observed yet',
    );
    expect(await decideGuard(tools, first, { decision: 'observe', why: '', by: ada })).toMatchObject({
      status: 'observing',
    });
    expect(await tools.guards.read('g1')).toContain('observe: true');
  });

  test('observes again after a change; a file that a person changed is not overwritten', async () => {
    await proposeGuard(tools, { ...draft, by: ada });
    await decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada });
    const yaml = GENERATED.replace('generated/**', 'generated/*.ts');
    const change = async (more: object) =>
      decideGuard(tools, await proposal(), { decision: 'observe', why: '', by: ada, yaml, ...more });
    await expect(change({ decision: 'approve' })).rejects.toThrow('observes first');
    await expect(change({ yaml: GENERATED.replace('deny', 'allow') })).rejects.toThrow('may only refuse');
    await expect(change({ yaml: GENERATED.replace('name: generated', 'name: x') })).rejects.toThrow(
      'is named generated',
    );
    expect(await change({})).toMatchObject({ status: 'observing' });
    expect(file()).toContain('generated/*.ts');
    writeFileSync(join(folder, guardFile('generated')), `${file()}# mine\n`);
    await bed.pass(60_000);
    await expect(decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada })).rejects.toMatchObject(
      {
        message: '.tidemill/guards/learned-generated.yaml was changed since it was proposed',
      },
    );
    expect(file()).toContain('# mine');
    rmSync(join(folder, guardFile('generated')));
    await decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada });
    await decideGuard(tools, await proposal(), { decision: 'withdraw', why: 'no longer', by: ada });
    expect(() => file()).toThrow('ENOENT');
  });

  test('has its file made to match its record after a crash between the two', async () => {
    const { id: proposalId } = await proposeGuard(tools, { ...draft, by: ada });
    const { refused, allowed, refusedCount, allowedCount } = await proposal();
    const about = { projectId: bed.projectId, proposalId, by: ada };
    const figures = { refused, allowed, refusedCount, allowedCount };
    await bed.must({ type: 'guard_proposal.enforce', ...about, test: figures });
    await eventually(() => expect(file()).not.toMatch(OBSERVES));
    await bed.must({ type: 'guard_proposal.withdraw', ...about, why: 'no' });
    await eventually(() => expect(() => file()).toThrow('ENOENT'));
    const { yaml, name, key, rule } = await proposal();
    await bed.must({
      type: 'guard_proposal.propose',
      ...about,
      yaml,
      name,
      key,
      rule,
      why: '',
      traceIds: [],
      test: figures,
    });
    await eventually(async () => expect(await proposal()).toMatchObject({ status: 'observing' }));
    expect(file()).toMatch(OBSERVES);
  });

  test('is not recorded if it would refuse a fifth of all calls', async () => {
    engine.calls = [...engine.calls, ...Array.from({ length: 3 }, () => ({ tool: 'Bash', input: { command: 'ls' } }))];
    for (let number = 1; number <= 6; number += 1) await run(number);
    await expect(proposeGuard(tools, { ...draft, by: ada })).rejects.toMatchObject({
      message: 'the guard would have refused 6 of 24 recorded calls',
    });
    expect(await proposal()).toBeUndefined();
  });

  test('observes in a person’s own session, refuses, and lets one call pass after a bypass', async () => {
    const write = async () =>
      answerHook(
        JSON.stringify({
          ...{ hook_event_name: 'PreToolUse', tool_name: 'Write', session_id: 's1', cwd: folder },
          tool_input: { file_path: join(folder, 'src/generated/a.ts'), content: 'x' },
        }),
        { TIDEMILL_HOME: engine.dataDir, CLAUDE_PROJECT_DIR: folder },
      );
    await proposeGuard(tools, { ...draft, by: ada });
    expect(await write()).toMatchObject({ exitCode: 0, stderr: '' });
    await eventually(async () => expect(await proposal()).toMatchObject({ observedCount: 1 }));
    expect((await proposal()).observed).toMatchObject([{ source: 'session', from: 's1', tool: 'Write' }]);
    await decideGuard(tools, await proposal(), { decision: 'approve', why: '', by: ada });
    expect(await write()).toMatchObject({ exitCode: 2, stderr: `${REASON} (guard: generated)\n` });
    // The hook has the clock of the machine.
    const real = { ...tools, clock: { now: () => Date.now() } };
    await bypassGuard(real, await proposal(), { taskId: null, why: 'once', by: ada });
    expect([(await write()).exitCode, (await write()).exitCode]).toEqual([0, 2]);
    await eventually(async () => expect(await bed.log('guard_proposal.bypass_used')).toHaveLength(1));
    expect(await proposal()).toMatchObject({ bypasses: 1, bypass: null });
  });
});

test('a built-in guard lets one call of one task pass after a bypass, and a final one lets none', async () => {
  const stash = { tool: 'Bash', input: { command: 'git stash' } };
  engine.calls = [stash, stash];
  expect(await run(1)).toMatchObject({ kind: 'deny', guard: 'stash' });
  await expect(passGuard(tools, 'stash', { taskId: 'task_2', by: ENGINE })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await passGuard(tools, 'stash', { taskId: 'task_2', by: ada });
  expect(await run(3)).toMatchObject({ kind: 'deny', guard: 'stash' });
  heard.splice(0);
  await run(2);
  expect(heard).toMatchObject([{ kind: 'allow' }, { kind: 'deny', guard: 'stash' }]);
  for (const [guard, why] of [
    ['untouchable', 'is final'],
    ['nothing', 'there is no guard'],
  ] as const)
    await expect(passGuard(tools, guard, { taskId: null, by: ada })).rejects.toThrow(why);
});
