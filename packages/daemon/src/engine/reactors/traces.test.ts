import {
  type AgentEnvelope,
  type HookRefusal,
  isBuilding,
  MODES,
  personActor,
  REACTORS,
  type Trace,
} from '@tidemill/contract';
import { TRACED_EVENTS } from '@tidemill/core';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { Agent, PersonCommit } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const MINUTE = 60_000;
const ada = personActor('ada');
let bed: EngineBed;
afterEach(() => bed?.close());

async function open(change: (bed: EngineBed) => Partial<EngineDeps> = () => ({}), pipeline = 'quick') {
  bed = await EngineBed.open({ defaultPipeline: pipeline }, change);
}
const traces = async (): Promise<Trace[]> => {
  const found = await bed.store.searchRecords({ noun: 'trace', projectId: bed.projectId, limit: 100 });
  return found.map(({ record }) => record).reverse();
};
const kinds = async () => (await traces()).map(({ type, source }) => `${type} ${source}`);
const about = { taskId: 'task_1', by: ada } as const;

/** Builds, and answers reviews with these comments first. */
function reviewed(comments: string[]): Agent {
  const left = [...comments];
  return {
    label: 'quick',
    start({ cwd, brief }) {
      if (isBuilding(brief.mode)) bed.repository.work(cwd)?.set(`file-${brief.task!.number}-${left.length}`, 'fine');
      const comment = brief.mode === 'review' ? left.shift() : undefined;
      const outcome = comment === undefined ? MODES[brief.mode].outcomes[0] : 'changes_requested';
      const criteria = brief.task!.acceptance.map(({ id }) => ({
        id,
        met: comment === undefined,
        evidence: 'test passes',
      }));
      const review = { criteria, comments: comment === undefined ? [] : [comment] };
      const envelope = { outcome, summary: 'done', plan: 'plan', review } as AgentEnvelope;
      return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
    },
  };
}

describe('traces of the log', () => {
  test('every event that may give a trace is followed', () => {
    expect(REACTORS.traces.on).toEqual(expect.arrayContaining(TRACED_EVENTS));
  });

  test('a note, feedback, a question and answers of a person give one trace each, also over a restart', async () => {
    await open();
    await bed.start();
    await bed.add(1);
    const { projectId } = bed;
    await bed.must({ type: 'task.note', projectId, ...about, text: 'mind the gap' });
    await bed.must({ type: 'feedback.give', projectId, feedbackId: 'f1', text: 'The sum is wrong', by: ada });
    await bed.pass(MINUTE);
    expect(await kinds()).toEqual(['note person', 'note person']);
    await bed.stop();
    await bed.must({ type: 'task.note', projectId, ...about, text: 'while nobody looked' });
    await bed.start();
    await bed.pass(2 * MINUTE);
    const found = await traces();
    expect(found.map(({ what }) => what)).toEqual(['mind the gap', 'The sum is wrong', 'while nobody looked']);
    expect(found[0]).toMatchObject({ by: ada, taskNumber: 1, subjectId: 'task_1', type: 'note', correct: null });
  });

  test('a review that requests changes is a correction, with what was missing', async () => {
    const agent = reviewed(['Handle an empty list']);
    await open(() => ({ agentFor: () => agent }), 'feature');
    await bed.start();
    await bed.add(1, { accept: ['it works'] });
    await bed.pass(10 * MINUTE);
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    const review = (await traces()).find(({ source }) => source === 'review');
    expect(review).toMatchObject({ type: 'correction', taskNumber: 1, agent: 'quick' });
    expect(review?.correct).toContain('Handle an empty list');
    expect(review?.runId).not.toBeNull();
  });

  test('a failed gate is a failure with its output; the same failure has the same key', async () => {
    await open(({ repository, clock }) => ({
      gates: {
        names: ['integrity', 'test'],
        checks: [],
        storedExcerpt: async () => `AssertionError at ${clock.now()} in /tmp/x${clock.now()}/a.test.ts: 1 != 2`,
        run: async ({ tree }) =>
          ['integrity', 'test'].map((gate) => ({
            receipt: {
              ...{ gate, command: 'npm test', tree, durationMs: 1, counts: null, logHash: 'a'.repeat(64), level: '' },
              ...{ environment: '', config: '', attempt: 1 },
              ...(gate === 'test' && tree !== '' && repository
                ? { status: 'fail' as const, exitCode: 1 }
                : { status: 'pass' as const, exitCode: 0 }),
            },
            excerpt: 'AssertionError',
            fixed: [],
          })),
      },
      agentFor: () => reviewed([]),
    }));
    await bed.start();
    await bed.add(1);
    await bed.pass(30 * MINUTE);
    const failed = (await traces()).filter(({ source }) => source === 'gate');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed[0]).toMatchObject({ type: 'failure', taskNumber: 1, why: 'npm test' });
    expect(failed[0]?.what).toContain('AssertionError');
    expect(new Set(failed.map(({ key }) => key)).size).toBe(1);
  });
});

describe('corrections by people', () => {
  const answer = async (text: string, options: { label: string; recommended?: boolean }[], given: string) => {
    const { projectId } = bed;
    const asked = {
      ...{ text, type: 'clarifying' as const, context: '', allowFreeText: true, tags: [] },
      options: options.map(({ label, recommended = false }) => ({
        label,
        recommended,
        description: '',
        implications: '',
      })),
    };
    const asker = { runId: null, agent: 'quick', source: 'execute', sourceId: 'x' } as const;
    const ofTask = { projectId, taskId: 'task_1' };
    await bed.must({ type: 'question.ask', ...ofTask, ...asker, stage: 'implement', questions: [asked] });
    const [question] = await bed.store.records({ noun: 'question', projectId, isOpen: true });
    await bed.must({
      ...{ type: 'question.answer', ...ofTask, questionId: question!.id, text: given, source: 'user', by: ada },
    });
  };

  test('an answer against the default is a correction, and an answer like it is a decision', async () => {
    await open();
    await bed.start();
    await bed.add(1);
    await answer('Which store?', [{ label: 'SQLite', recommended: true }, { label: 'Postgres' }], 'Postgres');
    await answer('Which port?', [{ label: '80', recommended: true }, { label: '81' }], '80');
    await bed.pass(MINUTE);
    const found = (await traces()).filter(({ key }) => key.startsWith('answer:'));
    expect(found).toMatchObject([
      { type: 'correction', what: 'Which store?', correct: 'Postgres', why: 'The default was: SQLite', by: ada },
      { type: 'decision', what: 'Which port?', correct: '80', why: null },
    ]);
  });

  test('a revert and a rewrite of landed work within days are corrections, once each', async () => {
    await open(() => ({ agentFor: () => reviewed([]) }));
    await bed.start();
    await bed.add(1);
    await bed.add(2);
    await bed.pass(10 * MINUTE);
    const [one, two] = await bed.store.tasks({ projectId: bed.projectId });
    const made = { author: 'Ada', body: 'It broke the import.', at: bed.clock.now() };
    const rewrite = { landed: two!.landedCommit!, files: ['src/a.ts'], lines: 7, patch: '-old\n+new' };
    const commits: PersonCommit[] = [
      { ...made, commit: 'c1', subject: 'Revert "One"', reverts: [one!.landedCommit!], rewrites: [] },
      { ...made, commit: 'c2', subject: 'Handle null', reverts: [], rewrites: [rewrite] },
      { ...made, commit: 'c3', subject: 'A typo', reverts: [], rewrites: [{ ...rewrite, lines: 1 }] },
    ];
    bed.repository.commitsByPeople = async () => commits as never;
    bed.repository.targetCommit = async () => 'c3';
    await bed.pass(3 * MINUTE);
    await bed.stop();
    await bed.start();
    await bed.pass(3 * MINUTE);
    const found = (await traces()).filter(({ source }) => source === 'git');
    expect(found).toMatchObject([
      { type: 'correction', taskNumber: 1, why: 'It broke the import.', what: expect.stringContaining('reverted') },
      { type: 'correction', taskNumber: 2, files: ['src/a.ts'], correct: '-old\n+new', key: 'rewritten:src/a.ts' },
    ]);
  });

  test('what a person corrects in their own session is a correction, and counted', async () => {
    const said = (at: number): HookRefusal => ({
      ...{ kind: 'corrected', at, session: `s${at}`, guard: 'person', reason: 'no, use the helper', call: null },
    });
    await open(() => ({ hookRefusals: { take: (keep) => keep([said(1), said(2), said(3)]) } }));
    await bed.start();
    await bed.pass(5 * MINUTE);
    expect((await traces())[0]).toMatchObject({ type: 'correction', source: 'person', what: 'no, use the helper' });
    const patterns = await bed.store.records({ noun: 'pattern', projectId: bed.projectId, isOpen: true });
    expect(patterns).toMatchObject([{ count: 3, type: 'correction' }]);
  });

  test('a call that a hook refuses in a person’s own session is a violation, without secrets and counted', async () => {
    const call = { tool: 'Bash', cwd: '.', input: { command: 'git push --force', env: 'token=abcdef' }, isCut: false };
    const refusal = (at: number): HookRefusal => ({ at, session: 's1', guard: 'push', reason: 'no force', call });
    await open(() => ({
      hookRefusals: { take: (keep) => keep([refusal(1), refusal(2), refusal(3), { ...refusal(4), call: null }]) },
    }));
    await bed.start();
    await bed.pass(5 * MINUTE);
    const found = await traces();
    expect(found).toHaveLength(4);
    expect(found[0]).toMatchObject({ type: 'violation', source: 'hook', key: 'guard:push:Bash', why: 'no force' });
    expect(found[0]?.what).toContain('git push --force');
    expect(found[0]?.what).not.toContain('abcdef');
    const patterns = await bed.store.records({ noun: 'pattern', projectId: bed.projectId, isOpen: true });
    expect(patterns).toMatchObject([{ key: 'guard:push:Bash', count: 3, type: 'violation' }]);
  });
});
