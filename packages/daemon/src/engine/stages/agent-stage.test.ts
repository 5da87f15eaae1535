import { hash } from 'node:crypto';
import { AskedQuestion, AUTONOMY_PRESETS, type Outcome, type ProjectRules, personActor } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../../../../test/sim/random.ts';
import { SimRepository } from '../../../../../test/sim/repository.ts';
import { VirtualClock } from '../../../../../test/sim/virtual-clock.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds } from '../../clock.ts';
import type { AgentEnd, AgentRequest, AgentSink, Prompts, Store } from '../../ports.ts';
import { openStore } from '../../store/open.ts';
import { Engine } from '../engine.ts';
import { ReactorHost } from '../reactors/host.ts';

const projectId = 'project_1';
const NOTHING = { prompt: '', promptTokens: 0, dropped: [], model: null, tools: null, maxTurns: null, timeoutMs: null };
type Play = (request: AgentRequest, sink: AgentSink) => Promise<AgentEnd>;

let clock: VirtualClock;
let store: Store;
let engine: Engine | undefined;
let repository: SimRepository;
/** What the agent does in its next run. */
let play: Play;
let onPrompt: (input: Parameters<Prompts['render']>[0]) => void;

const must = async (command: Command) => {
  const reply = await store.execute(command);
  if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
};
const addTask = (more: object = {}) =>
  must({
    ...{
      type: 'task.create',
      projectId,
      taskId: 'task_1',
      title: 'Task',
      body: '',
      kind: 'feature',
      pipeline: 'quick',
    },
    ...{ accept: ['it works'], files: [], dependsOn: [], priority: 2 },
    ...more,
  } as Command);
const task = async (id = 'task_1') => (await store.task(id))!;

/** Advances the clock until the task is in this stage. */
async function until(stage: string, id?: string): Promise<void> {
  for (let step = 0; (await task(id)).stage !== stage || (await task(id)).lease !== null; step += 1) {
    if (step > 500) throw new Error(`the task is in ${(await task(id)).stage}, not in ${stage}`);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await clock.step(clock.elapsed() + 1_000);
  }
}

async function start(rules: Partial<ProjectRules> = {}): Promise<void> {
  await must({
    type: 'project.register',
    projectId,
    name: 'mill',
    root: '/mill',
    rules: { ...defaultRules, ...rules },
  });
  const ids = createIds(clock);
  engine = new Engine({
    ...{ project: (await store.project(projectId))!, store, workspace: repository, clock, ids },
    agentFor: () => ({
      label: 'actor',
      start: (request, sink) => ({ end: play(request, sink), stop: async () => undefined }),
    }),
    gates: { names: defaultRules.gates, checks: [], run: async ({ tree }) => defaultRules.gates.map(passed(tree)) },
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: {
      render: async (input) => {
        onPrompt(input);
        return NOTHING;
      },
      renderJob: async () => NOTHING,
    },
    openRunLog: () => ({ write: () => undefined, close: async () => undefined }),
    reactors: new ReactorHost({ store, clock, onNote: () => undefined }),
    ...{ host: '', owner: 'daemon-1', batch: 5, push: 'never', workers: 1 },
    hash: (text) => hash('sha256', text),
    isOwnerDead: () => false,
    onNote: () => undefined,
  });
  await engine.start();
}
const passed = (tree: string) => (gate: string) => ({
  receipt: {
    ...{ gate, command: gate, tree, status: 'pass' as const, exitCode: 0, durationMs: 1, counts: null },
    ...{ logHash: '', level: '', environment: '', config: '', attempt: 1 },
  },
  excerpt: '',
  fixed: [],
});
/** Writes a file into the newest worktree. */
const write = (file: string, text: string) => void [...repository.branches.values()].at(-1)!.work.set(file, text);
const ended = (outcome: Outcome, more: object = {}): AgentEnd => ({
  kind: 'result',
  envelope: { outcome, summary: `said ${outcome}`, ...more },
});

beforeEach(async () => {
  onPrompt = () => undefined;
  clock = new VirtualClock();
  store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  repository = new SimRepository({ now: () => clock.now(), sleep: async () => undefined }, new Random(1));
});
afterEach(async () => {
  const stopping = engine?.stop({ graceMs: 0 });
  for (let step = 0; step < 20; step += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.step(clock.elapsed() + 1_000);
  }
  await stopping;
  await store.close();
});

describe('an agent that wants to stop without a change', () => {
  test('hears that nothing was changed, but not when it has asked a person', async () => {
    const heard: (string | null)[] = [];
    play = async ({ beforeStop, ask }) => {
      heard.push(await beforeStop());
      await ask!([AskedQuestion.parse('Which port?')]);
      heard.push(await beforeStop());
      return ended('needs_info', { open_questions: [AskedQuestion.parse('Which port?')] });
    };
    await start();
    await addTask();
    await until('needs_info');
    expect(heard).toEqual(['You have not changed any file yet.', null]);
    expect(await task()).toMatchObject({ resumeStage: 'implement', openQuestions: [{ text: 'Which port?' }] });
  });
});

describe('a run', () => {
  test('keeps its progress, also the last report, and the usual time of its mode', async () => {
    play = async ({ brief }, sink) => {
      sink.progress({ turns: { used: 1, limit: 200 } });
      sink.progress({ todo: [{ text: 'read', status: 'done' }] });
      sink.progress({ tools: { used: 3, current: null } });
      write(`work-${brief.task!.number}`, 'done');
      await clock.sleep(60_000);
      return ended('pr_ready');
    };
    await start();
    for (let number = 1; number <= 4; number += 1) {
      await addTask({ taskId: `task_${number}` });
      await until('done', `task_${number}`);
    }
    const all = await Promise.all([1, 2, 3, 4].map((number) => store.runs(`task_${number}`)));
    expect(all.flat().map(({ progress }) => progress)).toEqual(
      all.map(() => ({
        ...{ percent: 100, text: '', turns: { used: 1, limit: 200 }, tools: { used: 3, current: null } },
        todo: [{ text: 'read', status: 'done' }],
      })),
    );
    const [usual, ...others] = all
      .flat()
      .map(({ usualMs }) => usualMs)
      .reverse();
    expect(others).toEqual([null, null, null]);
    expect(usual).toBeGreaterThanOrEqual(60_000);
    expect(usual).toBeLessThan(70_000);
  });
});

test('a reviewer whose verdict did not count is told why in the next try, and nobody else is', async () => {
  const verdict = { id: 'C1', met: true, evidence: 'the gate `test` passes' };
  const prompts: { mode: string; told: string[] }[] = [];
  onPrompt = ({ mode, task: { feedback } }) =>
    prompts.push({ mode, told: feedback.map(({ kind, text }) => `${kind}: ${text}`) });
  play = async ({ brief: { mode } }) => {
    if (mode === 'investigate') return ended('investigation_complete', { plan: 'build it' });
    if (mode === 'implement') write('work', 'done');
    if (mode !== 'review') return ended('pr_ready');
    const isFirst = prompts.filter((each) => each.mode === 'review').length === 1;
    return ended('approved', { review: { criteria: isFirst ? [] : [verdict], comments: [] } });
  };
  await start();
  await addTask({ pipeline: 'bug' });
  await until('done');
  expect(prompts).toEqual([
    { mode: 'investigate', told: [] },
    { mode: 'implement', told: [] },
    { mode: 'review', told: [] },
    { mode: 'review', told: ['result: the review has no verdict on criterion C1'] },
  ]);
});

describe('the approval of a change', () => {
  const { confirm_all, major_only } = AUTONOMY_PRESETS;
  const building =
    (...files: string[]): Play =>
    async () => {
      for (const file of files) write(file, 'new');
      return ended('pr_ready');
    };
  const approval = async () =>
    (await store.records({ noun: 'question', parent: 'task_1' })).find(({ effect }) => effect.kind === 'approval');

  test('is given as data what it may decide, of its task before that of the project', async () => {
    const briefs: AgentRequest['brief'][] = [];
    const build = building('work');
    play = (request, sink) => {
      briefs.push(request.brief);
      return build(request, sink);
    };
    await start({ hilConfig: major_only });
    await addTask({ hilConfig: confirm_all });
    await addTask({ taskId: 'task_2' });
    await until('done', 'task_2');
    const told = (id: string) => briefs.filter(({ subjectId }) => subjectId === id).map(({ hilConfig }) => hilConfig);
    expect(told('task_1')).toEqual([confirm_all]);
    expect(told('task_2')).toEqual([major_only]);
  });

  test('holds the whole change in quick with confirm_all, and lands it once approved', async () => {
    play = building('work');
    await start({ hilConfig: confirm_all });
    await addTask();
    await until('needs_info');
    expect(await approval()).toMatchObject({ tags: ['scopeChanges'], context: expect.stringContaining('- in work') });
    expect(repository.landed).toEqual([]);
    await must({ type: 'task.approve', projectId, taskId: 'task_1', by: personActor('ada') });
    await until('done');
    expect(repository.landed).toHaveLength(1);
  });

  test.each([
    ['a new top-level folder', 'web/index', true],
    ['a new package', 'src/cache/package.json', true],
    ['a file in a known folder', 'src/index', false],
    ['a file at the top', 'notes', false],
  ])('depends on the files when the agent declares nothing: %s', async (_name, file, isHeld) => {
    repository.commits.get(repository.target)!.files = new Map([['src/main', 'tide']]);
    play = building(file);
    await start({ hilConfig: major_only });
    await addTask();
    await until(isHeld ? 'needs_info' : 'done');
    expect((await approval())?.tags.includes('architectureDecisions') ?? false).toBe(isHeld);
  });
});
