import {
  DEFAULT_ROUTING,
  type FeedbackAnalysis,
  type FeedbackItem,
  personActor,
  type RecordOf,
} from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineBed, silentAgent } from '../../../../../test/support/engine-bed.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import type { Agent } from '../../ports.ts';

const projectId = 'project_1';
const by = personActor('ada');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const analysis: FeedbackAnalysis = { kind: 'bug', title: 'Mend', body: '', criteria: ['c'], files: [], confidence: 1 };

let bed: EngineBed;
afterEach(() => bed.close());

const analyst: Agent = {
  label: 'analyst',
  isFree: true,
  start: () => ({
    end: Promise.resolve({ kind: 'result', envelope: { outcome: 'analysed', summary: 'done', analysis } }),
    stop: async () => undefined,
  }),
};
const artifact = (type: string, content = type) => ({ type, content, summary: '', confidence: 0.9 });
/** Settles everything at once; the idea still goes through its phases one by one. */
const ideator: Agent = {
  label: 'ideator',
  isFree: true,
  start: () => {
    const signals = {
      artifacts: [
        ...['target-user', 'problem', 'solution-concept', 'mvp-features', 'differentiator'].map((type) =>
          artifact(type),
        ),
        artifact('brief', 'The whole brief'),
      ],
      decisions: ['one', 'two', 'three'].map((text) => ({ type: 'validation', text })),
      risks: [{ text: 'wind', severity: 'low' as const }],
      confidence: 0.9,
    };
    const ideation = { reply: 'Good.', signals, complexity: 1, wantsResearch: [] };
    const envelope = { outcome: 'replied' as const, summary: 'done', ideation };
    return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
  },
};
const give = (feedbackId: string) =>
  bed.must({ type: 'feedback.give', projectId, feedbackId, text: `It is wrong: ${feedbackId}`, by });
const item = async (id: string) => (await bed.store.record('feedback', id)) as FeedbackItem;
const jobs = (): Promise<RecordOf<'job'>[]> => bed.store.records({ noun: 'job', projectId });

describe('the router', { timeout: 60_000 }, () => {
  it('has feedback analysed and filed, also what was given and analysed while nothing ran', async () => {
    bed = await EngineBed.open({}, () => ({ agentFor: () => analyst }));
    await give('feedback_1');
    await bed.start();
    await give('feedback_2');
    await bed.pass(MINUTE);
    expect(await item('feedback_1')).toMatchObject({ status: 'filed', taskNumber: 1 });
    expect(await item('feedback_2')).toMatchObject({ status: 'filed', taskNumber: 2 });
    await bed.stop();
    await bed.start();
    await bed.pass(MINUTE);
    expect(await jobs()).toHaveLength(2);
    expect(await bed.store.tasks({ projectId })).toHaveLength(2);
  });

  it('does nothing where the routing says off, and catches up when it is switched on', async () => {
    const routing = { ...DEFAULT_ROUTING, 'feedback.given': 'off' as const };
    bed = await EngineBed.open({ routing }, () => ({ agentFor: () => analyst }));
    await bed.start();
    await give('feedback_1');
    await bed.pass(MINUTE);
    expect(await jobs()).toEqual([]);
    await bed.must({ type: 'project.configure', projectId, rules: { ...defaultRules, routing: DEFAULT_ROUTING } });
    await bed.pass(MINUTE);
    expect((await item('feedback_1')).status).toBe('filed');
  });

  it.each([
    ['a specification of code that exists', { 'src/mill.ts': 'mill' }, 'specify', 'idea'],
    ['the plan of a new repository', { 'README.md': 'Mill', '.tidemill/config.yaml': '' }, 'initialize', 'initializer'],
  ] as const)('routing idea.advanced to specify: a finished idea becomes %s, once', async (_, files, mode, kind) => {
    const routing = { ...DEFAULT_ROUTING, 'idea.advanced': 'specify' as const };
    bed = await EngineBed.open({ routing }, () => ({
      agentFor: (each) => (each === 'ideate' ? ideator : silentAgent),
    }));
    bed.repository.filesAt = async () => Object.entries(files);
    await bed.start();
    const ideaId = 'idea_1';
    await bed.must({ type: 'idea.create', projectId, ideaId, text: 'A mill', by });
    for (let reply = 0; reply < 4; reply += 1) {
      await bed.pass(MINUTE);
      if (reply < 3) await bed.must({ type: 'idea.say', projectId, ideaId, text: 'Go on', by });
    }
    await bed.pass(MINUTE);
    await bed.stop();
    await bed.start();
    await bed.pass(MINUTE);
    const specs = await bed.store.records({ noun: 'spec', projectId });
    expect(specs).toMatchObject([
      { source: { kind, ideaId, text: expect.stringContaining('The whole brief') }, by: { name: 'router' } },
    ]);
    const drafting = (await jobs()).filter((job) => job.subjectId === specs[0]?.id);
    expect(drafting.map((job) => job.mode)).toEqual([mode]);
    expect(drafting[0]?.input).toContain('The whole brief');
  });

  it('routing idea.advanced to off, the default: a finished idea waits for a person', async () => {
    bed = await EngineBed.open({}, () => ({ agentFor: () => ideator }));
    await bed.start();
    await bed.must({ type: 'idea.create', projectId, ideaId: 'idea_1', text: 'A mill', by });
    await bed.pass(MINUTE);
    for (let more = 0; more < 3; more += 1) {
      await bed.must({ type: 'idea.say', projectId, ideaId: 'idea_1', text: 'Go on', by });
      await bed.pass(MINUTE);
    }
    expect(await bed.store.record('idea', 'idea_1')).toMatchObject({ status: 'complete' });
    expect(await bed.store.records({ noun: 'spec', projectId })).toEqual([]);
  });

  it('files a hundred pieces of feedback at once, each once', async () => {
    bed = await EngineBed.open({}, () => ({ agentFor: () => analyst }));
    await bed.start();
    await Promise.all(Array.from({ length: 100 }, (_, index) => give(`feedback_${index}`)));
    await bed.pass(10 * MINUTE);
    const filed = (await bed.store.records({ noun: 'feedback', projectId })).map(({ taskNumber }) => taskNumber);
    expect(new Set(filed).size).toBe(100);
    expect(filed).not.toContain(null);
    expect(await jobs()).toHaveLength(100);
  });

  it('a job that nobody took within a week ends, and the feedback says so', async () => {
    bed = await EngineBed.open({}, () => ({ agentFor: () => silentAgent }));
    await bed.start();
    for (const name of ['agent-1', 'agent-2'])
      await bed.must({ type: 'worker.steer', projectId, workerId: `${projectId}/${name}`, desired: 'paused', by });
    await give('feedback_1');
    await bed.pass(MINUTE);
    await bed.stop();
    await bed.pass(6 * DAY);
    await bed.start();
    await bed.pass(MINUTE);
    expect((await item('feedback_1')).status).toBe('open');
    await bed.stop();
    await bed.pass(2 * DAY);
    await bed.start();
    await bed.pass(MINUTE);
    expect(await item('feedback_1')).toMatchObject({ status: 'failed', why: 'nobody took it before its deadline' });
  });
});
