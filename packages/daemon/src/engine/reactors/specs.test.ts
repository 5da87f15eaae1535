import {
  type AgentEnvelope,
  type ProjectRules,
  personActor,
  type Spec,
  SpecCritique,
  SpecDraft,
  type SpecFinding,
  type SpecTask,
} from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineBed, silentAgent } from '../../../../../test/support/engine-bed.ts';
import { assetDir } from '../../assets.ts';
import { createIds } from '../../clock.ts';
import type { Agent } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';
import { approveSpec, resumeSpec, stopSpec } from '../flows/spec.ts';

const MINUTE = 60_000;
const ada = personActor('ada');

let bed: EngineBed;
afterEach(() => bed.close());

const draftOf = (tasks: Partial<SpecTask>[]) =>
  SpecDraft.parse({
    title: 'Parts',
    requirements: [{ id: 'R1', text: 'There are parts' }],
    tasks: tasks.map((task, index) => ({
      id: `T${index + 1}`,
      title: `Part ${index + 1}`,
      phase: 'api',
      requirements: ['R1'],
      ...task,
    })),
  });

const READY: Partial<SpecTask> = {
  files: ['a.ts'],
  accept: ['It prints a part'],
  validate: 'npm test',
  estimateMinutes: 10,
};

/** Builds everything but what is titled "bad", until that is mended. Finds every requirement met. */
function builder(world: { isMended: boolean; isSilent: boolean }): Agent {
  return {
    label: 'builder',
    start(request, sink) {
      const { cwd, brief } = request;
      const { task, mode } = brief;
      const isBad = task?.title.startsWith('bad') && !world.isMended;
      if (task && world.isSilent) return silentAgent.start(request, sink);
      if (task) bed.repository.work(cwd)?.set(`file-${task.number}`, 'fine');
      const judgement = { requirements: [{ requirement: 'R1', met: true, evidence: 'file-1' }] };
      const envelope: AgentEnvelope =
        mode === 'judge'
          ? { outcome: 'judged', summary: 'all met', judgement }
          : { outcome: isBad ? 'failed' : 'pr_ready', summary: isBad ? 'cannot' : 'built' };
      return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
    },
  };
}

async function build(
  tasks: Partial<SpecTask>[],
  { rules = {}, ...more }: { isSilent?: boolean; rules?: Partial<ProjectRules> } = {},
) {
  const world = { isMended: false, isSilent: false, ...more };
  bed = await EngineBed.open(rules, () => ({ agentFor: () => builder(world) }));
  const source = { kind: 'file', ideaId: null, text: 'x' } as const;
  const { projectId } = bed;
  await bed.must({ type: 'spec.import', projectId, specId: 'spec_1', draft: draftOf(tasks), source, by: ada });
  const tools = { store: bed.store, ids: createIds(bed.clock) };
  await approveSpec(tools, await spec(), { version: 1, override: true, by: ada });
  await bed.start();
  return world;
}
const spec = async (): Promise<Spec> => (await bed.store.record('spec', 'spec_1'))!;
const stages = async () => (await bed.store.tasks({ projectId: bed.projectId })).map(({ stage }) => stage);

describe('the building of a specification', { timeout: 60_000 }, () => {
  it('a blocked task of the database stops the building, with an alert, and it can be resumed', async () => {
    const world = await build([
      { title: 'bad table', phase: 'database' },
      { title: 'Page', dependsOn: ['T1'] },
    ]);
    await bed.pass(90 * MINUTE);
    expect(await spec()).toMatchObject({ status: 'aborted', why: 'a task of the database phase is blocked: #1' });
    expect(await stages()).toEqual(['blocked', 'cancelled']);
    expect(await bed.alerts()).toContain('error spec_stopped S1');

    // A daemon that ends in between changes nothing.
    await bed.stop();
    world.isMended = true;
    await resumeSpec(bed.store, await spec(), ada);
    await bed.start();
    await bed.pass(30 * MINUTE);
    expect(await spec()).toMatchObject({ status: 'done', verdicts: [{ requirement: 'R1', met: true }] });
    expect(await bed.alerts()).not.toContain('error spec_stopped S1');
  });

  it('more than three blocked tasks stop it, three do not', async () => {
    const bad = (number: number): Partial<SpecTask> => ({ title: `bad ${number}` });
    await build([bad(1), bad(2), bad(3), bad(4), { title: 'After', dependsOn: ['T4'] }]);
    await bed.pass(110 * MINUTE);
    expect(await spec()).toMatchObject({ status: 'aborted', why: '4 tasks are blocked: #1, #2, #3, #4' });
    expect(await stages()).toEqual(['blocked', 'blocked', 'blocked', 'blocked', 'cancelled']);
  });

  it('stops after two hours of work', async () => {
    await build([{}, {}, {}, {}], { isSilent: true });
    await bed.pass(118 * MINUTE);
    expect((await spec()).status).toBe('building');
    await bed.pass(20 * MINUTE);
    expect(await spec()).toMatchObject({
      status: 'aborted',
      why: 'agents have worked on it for more than 2 h, which is the limit `specs.buildLimit`',
    });
  });

  it('a limit of the settings takes the place of two hours', async () => {
    await build([{}], { isSilent: true, rules: { specs: { buildLimitMs: 20 * MINUTE, critic: true } } });
    await bed.pass(19 * MINUTE);
    expect((await spec()).status).toBe('building');
    await bed.pass(5 * MINUTE);
    expect(await spec()).toMatchObject({ status: 'aborted', why: expect.stringContaining('more than 20 min') });
  });

  it('a stopped daemon and tasks that wait for an answer do not count as work', async () => {
    const world = await build([{}, { title: 'bad part' }], { isSilent: true });
    await bed.pass(30 * MINUTE);
    await bed.stop();
    await bed.pass(6 * 60 * MINUTE);
    world.isSilent = false;
    await bed.start();
    // The first task lands, the second one stays blocked: nobody works for hours.
    await bed.pass(10 * 60 * MINUTE);
    expect(await stages()).toEqual(['done', 'blocked']);
    expect(await spec()).toMatchObject({ status: 'building' });
  });

  it('stops when a person says so, without an alert', async () => {
    await build([{}, { dependsOn: ['T1'] }], { isSilent: true });
    await bed.pass(MINUTE);
    const { tasks } = await spec();
    await stopSpec(bed.store, await spec(), { why: 'enough', by: ada, unstarted: [tasks[1]!.taskId] });
    await bed.pass(MINUTE);
    expect(await spec()).toMatchObject({ status: 'aborted', why: 'enough', stoppedBy: { name: 'ada' } });
    expect(await bed.alerts()).not.toContain('error spec_stopped S1');
  });

  it('stops when all its tasks were cancelled', async () => {
    await build([{}], { isSilent: true });
    const [only] = (await spec()).tasks;
    await bed.must({ type: 'task.cancel', projectId: bed.projectId, taskId: only!.taskId, by: ada });
    await bed.pass(MINUTE);
    expect(await spec()).toMatchObject({ status: 'aborted', why: 'all its tasks were cancelled' });
  });
});

const critique = (...findings: Partial<SpecFinding>[]): AgentEnvelope => ({
  outcome: 'critiqued',
  summary: '',
  critique: SpecCritique.parse({ findings }),
});

describe('the questions about a draft', { timeout: 60_000 }, () => {
  const approach = (name: string) => ({ name, pros: ['simple'], cons: ['slow'], effort: '1 h' });
  const first = {
    ...draftOf([]),
    architectures: [{ feature: 'storage', options: [approach('files'), approach('a database')] }],
  };
  const second = { ...draftOf([READY]), scope: { in: ['parts'], out: [] }, dependencies: ['a printer'] };

  async function request(
    drafts: SpecDraft[],
    critic: () => AgentEnvelope = () => critique(),
    rules: Partial<ProjectRules> = {},
  ) {
    const left = [...drafts];
    const agent: Agent = {
      label: 'specifier',
      start(request, sink) {
        const { mode } = request.brief;
        if (mode === 'implement') return silentAgent.start(request, sink);
        const envelope: AgentEnvelope =
          mode === 'critique' ? critic() : { outcome: 'spec_ready', summary: '', spec: left.shift() };
        return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
      },
    };
    const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });
    bed = await EngineBed.open(rules, () => ({ agentFor: () => agent, catalogue }));
    const source = { kind: 'text', ideaId: null, text: 'x' } as const;
    await bed.must({ type: 'spec.request', projectId: bed.projectId, specId: 'spec_1', title: 'x', source, by: ada });
    await bed.start();
    await bed.pass(MINUTE);
  }
  async function answer(trigger: string, text: string) {
    const open = await bed.store.records({ noun: 'question', parent: 'spec_1', isOpen: true });
    const { id: questionId } = open.find(({ tags }) => tags.includes(trigger))!;
    const about = { projectId: bed.projectId, taskId: null, subjectId: 'spec_1', questionId };
    await bed.must({ type: 'question.answer', ...about, by: ada, source: 'user', text });
    await bed.pass(MINUTE);
  }

  it('competing architectures wait for a person, doubts about the scope revise it, Start approves it', async () => {
    await request([first, second, { ...second, title: 'More parts' }]);
    expect(await spec()).toMatchObject({ status: 'asking', version: 1 });
    await answer('multiple_architectures', 'A');
    expect(await spec()).toMatchObject({ status: 'draft', version: 2, rounds: 1 });
    await answer('before_finalize_spec', 'Wheels are missing');
    expect(await spec()).toMatchObject({ status: 'draft', version: 3, title: 'More parts' });
    const before = await bed.store.record('spec_version', 'spec_version/spec_1/2');
    expect(before?.comments).toMatchObject([{ line: 0, text: expect.stringContaining('Wheels are missing') }]);
    await answer('external_dependencies', 'Yes, checked');
    expect((await spec()).status).toBe('draft');
    await answer('spec_complete', 'Start');
    expect(await spec()).toMatchObject({ approved: { version: 3, by: { name: 'ada' } } });
    expect(await stages()).toHaveLength(1);
  });

  it('an agent that never stops asking is heard three times', async () => {
    const unclear = (term: string) => ({
      ...first,
      architectures: [],
      ambiguities: [{ requirement: 'x', term, options: [] }],
    });
    await request([unclear('a'), unclear('b'), unclear('c'), unclear('d')]);
    for (const round of [1, 2, 3]) {
      expect(await spec()).toMatchObject({ status: 'asking', version: round });
      await answer('requirement_ambiguous', 'it means this');
    }
    expect(await spec()).toMatchObject({ status: 'draft', version: 4 });
  });

  const complete = async () => {
    const open = await bed.store.records({ noun: 'question', parent: 'spec_1', isOpen: true });
    return open.find(({ tags }) => tags.includes('spec_complete'));
  };
  const newest = async () => (await spec()).critique;

  it('a critic reads a draft before a person is asked; a serious finding needs an override', async () => {
    const text = 'src/rows.ts does not exist';
    await request([second], () => critique({ task: 'T1', severity: 'serious', text }));
    expect((await complete())?.text).toContain(`A critic has read it and found:\n\n- serious, T1: ${text}`);
    expect((await complete())?.text).toContain('1 not ready to be built');
    const log = (await bed.log('spec.critiqued', 'question.asked')).map(({ body }) => body.type);
    expect(log[0]).toBe('spec.critiqued');
    const tools = { store: bed.store, ids: createIds(bed.clock) };
    const approve = async (override: boolean) => approveSpec(tools, await spec(), { version: 1, override, by: ada });
    await expect(approve(false)).rejects.toThrow(`T1 (65): the critic: ${text}`);
    await approve(true);
    expect((await spec()).approved?.overridden).toEqual(['T1']);
  });

  it('each version is read by a critic once, and only by an agent that works', async () => {
    let reads = 0;
    await request([second, second], () => {
      reads += 1;
      return reads === 1 ? critique() : { outcome: 'failed', summary: 'no model is there' };
    });
    expect(await newest()).toEqual({ version: 1, findings: [], why: '' });
    await answer('before_finalize_spec', 'Wheels are missing');
    await bed.pass(120 * MINUTE);
    expect(await newest()).toMatchObject({
      version: 2,
      findings: [],
      why: expect.stringContaining('no model is there'),
    });
    expect((await complete())?.text).toContain('No critic has read it: ');
    expect((await bed.log('spec.critique_requested')).length).toBe(2);
  });

  it('no critic reads it when the settings say so', async () => {
    await request([second], critique, { specs: { buildLimitMs: 1, critic: false } });
    expect(await bed.log('spec.critique_requested')).toEqual([]);
    expect((await complete())?.text).toContain('No critic has read it.');
  });

  it('a critic that asks instead of reading is left out', async () => {
    await request([second], () => ({ outcome: 'needs_info', summary: '', open_questions: [] }));
    expect((await complete())?.text).toContain('No critic has read it: a critic asks nobody');
  });
});
