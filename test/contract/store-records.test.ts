import {
  categoryId,
  ideaMessageId,
  type Job,
  loopId,
  personActor,
  type RecordNoun,
  SpecDraft,
  specVersionId,
} from '@tidemill/contract';
import { type Command, creationsOf } from '@tidemill/core';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { accepted, type Mill, memoryPlace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const places = { memory: memoryPlace, ...sharedPlaces(inject('postgresUrl') ?? '') };
const projectId = PROJECT;
const by = personActor('ada');
/** Every store must keep it as it is. */
const TEXT = 'جدول المد 🌊 "quoted" \\u0000 \\ {"a":1}\n\n```';
const of = { idea: { projectId, ideaId: 'idea_1', by }, spec: { projectId, specId: 'spec_1', by } };
const draft = SpecDraft.parse({
  title: 'Mill',
  requirements: [{ id: 'R1', text: 'it grinds' }],
  tasks: [1, 2].map((number) => ({
    id: `T${number}`,
    title: `Grind ${number}`,
    phase: 'api',
    files: [`a${number}.ts`],
    requirements: ['R1'],
    accept: ['`grind` prints 1'],
    validate: 'npm test',
    estimateMinutes: 30,
  })),
});
const source = { kind: 'text' as const, ideaId: null, text: TEXT };
const proposal = {
  ...{ title: 'Cache', description: TEXT, approach: '', effortHours: 1, files: [], newFiles: [], dependencies: [] },
  criteria: ['one', 'two', 'three'],
};

describe.each(Object.entries(places))(
  'records of ideas, specifications, feedback and the loop in %s',
  (_, makePlace) => {
    let place: Place;
    let mill: Mill;
    beforeEach(async () => {
      place = await makePlace();
      mill = await open(place);
      await mill.register();
      await mill.worker('agent-1', 'builder');
    });
    afterEach(async () => {
      await mill.store.close();
      await place.remove();
    });

    /** Has an agent end the first open job of a subject. */
    async function finishJob(subjectId: string, outcome: 'replied' | 'proposed', result: object): Promise<Job> {
      await mill.must({ type: 'job.claim', projectId, workerId: `${PROJECT}/agent-1`, owner: 'o' });
      const [job] = await mill.store.records({ noun: 'job', parent: subjectId, isOpen: true });
      const fence = { projectId, subjectId, jobId: job!.id, token: job!.lease!.token };
      const runId = `run_${subjectId}`;
      await mill.must({ type: 'run.start', ...fence, runId, mode: job!.mode, agent: 'x' });
      if (outcome === 'replied')
        await mill.must({ type: 'idea.begin_reply', projectId, ideaId: subjectId, jobId: job!.id });
      const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0.1, requests: 1 };
      const envelope = { outcome, summary: 'done', ...result };
      await mill.must({ type: 'run.finish', ...fence, runId, outcome, envelope, usage } as Command);
      return (await mill.store.record('job', job!.id))!;
    }

    /** One record of each of these nouns. */
    async function fill(): Promise<void> {
      await mill.must({ type: 'idea.create', ...of.idea, text: TEXT, title: 'Tide' });
      const signals = { artifacts: [], decisions: [], risks: [{ text: TEXT, severity: 'low' }], confidence: 0.5 };
      const ideation = { reply: TEXT, signals, complexity: 0, wantsResearch: [] };
      expect(await finishJob('idea_1', 'replied', { ideation })).toMatchObject({ status: 'done', lease: null });
      await mill.must({ type: 'spec.import', ...of.spec, draft, source });
      await mill.must({ type: 'feedback.give', projectId, feedbackId: 'feedback_1', text: TEXT, by });
      await mill.must({ type: 'loop.switch', projectId, on: true, by });
      await mill.must({ type: 'loop.propose', projectId, category: 'testing', by });
      await finishJob(categoryId(PROJECT, 'testing'), 'proposed', { proposal });
      await mill.must({ type: 'loop.hold', projectId, until: 5 });
    }

    const NEW: RecordNoun[] = [
      'idea',
      'message',
      'spec',
      'spec_version',
      'feedback',
      'loop',
      'category',
      'proposal',
      'job',
    ];

    test('are found by id, by parent, by project and by whether they are open, also after reopening', async () => {
      await fill();
      const { store } = mill;
      const byNoun = async () => Promise.all(NEW.map((noun) => mill.store.records({ noun, projectId })));
      const found = await byNoun();
      expect(found.map((rows) => rows.length)).toEqual([1, 2, 1, 1, 1, 1, 1, 1, 2]);
      for (const row of found.flat()) expect(await store.record(row.noun, row.id)).toEqual(row);
      expect(await store.record('message', ideaMessageId('idea_1', 1))).toMatchObject({ role: 'person', text: TEXT });
      expect((await store.records({ noun: 'message', parent: 'idea_1' })).map(({ number }) => number)).toEqual([1, 2]);
      expect(await store.record('idea', 'idea_1')).toMatchObject({ number: 1, risks: [{ text: TEXT }], jobId: null });
      expect(await store.records({ noun: 'spec_version', parent: 'spec_1' })).toMatchObject([{ version: 1, draft }]);
      expect(await store.record('spec', 'spec_1')).toMatchObject({ source, status: 'draft' });
      expect(await store.record('feedback', 'feedback_1')).toMatchObject({ text: TEXT, number: 1 });
      expect(await store.record('loop', loopId(PROJECT))).toMatchObject({ switched: { on: true, by }, heldUntil: 5 });
      const category = categoryId(PROJECT, 'testing');
      expect(await store.records({ noun: 'proposal', parent: category, isOpen: true })).toMatchObject([
        { status: 'checking', draft: proposal },
      ]);
      expect(await store.records({ noun: 'job', projectId, isOpen: true })).toEqual([]);
      expect(await store.records({ noun: 'idea', projectId: 'project_9' })).toEqual([]);
      expect(await compareLogWithProjection(store)).toEqual([]);
      if (!place.keepsOverReopening) return;
      await store.close();
      mill = await open(place);
      expect(await byNoun()).toEqual(found);
    });

    test('get a number of their own each when many are made at once', async () => {
      const many = Array.from({ length: 12 }, (_each, index) => index + 1);
      const text = 'x';
      await Promise.all(
        many.flatMap((index) => [
          mill.must({ type: 'idea.create', projectId, ideaId: `idea_${index}`, text, by }),
          mill.must({ type: 'spec.import', projectId, specId: `spec_${index}`, draft, source, by }),
          mill.must({ type: 'feedback.give', projectId, feedbackId: `feedback_${index}`, text: `x ${index}`, by }),
        ]),
      );
      for (const noun of ['idea', 'spec', 'feedback'] as const) {
        const numbers = (await mill.store.records({ noun, projectId })).map(({ number }) => number);
        expect([noun, ...numbers.sort((a, b) => a - b)]).toEqual([noun, ...many]);
      }
      // Two people in one conversation: no message is lost, each has its place.
      await Promise.all(many.map((index) => mill.must({ type: 'idea.say', ...of.idea, text: `message ${index}` })));
      const said = await mill.store.records({ noun: 'message', parent: 'idea_1' });
      expect(said.map(({ number }) => number).sort((a, b) => a - b)).toEqual([...many, 13]);
      expect(new Set(said.map(({ text: words }) => words)).size).toBe(13);
      expect(await compareLogWithProjection(mill.store)).toEqual([]);
    });

    test('of several approvals at once exactly one makes the tasks, and an old version makes none', async () => {
      await mill.must({ type: 'spec.import', ...of.spec, draft, source });
      await mill.must({ type: 'spec.edit', ...of.spec, version: 1, draft: { ...draft, title: 'Better mill' } });
      const approve = async (version: number, mark: string) => {
        const spec = (await mill.store.record('spec', 'spec_1'))!;
        const row = (await mill.store.record('spec_version', specVersionId('spec_1', version)))!;
        let serial = 0;
        const { links, commands } = creationsOf(spec, row.draft, new Map(), () => `task_${mark}_${++serial}`);
        const tasks = commands.map((command) => ({ ...command, pipeline: 'tiny' }) as Command);
        const approval = { type: 'spec.approve', ...of.spec, version, tasks: links, override: true } as const;
        return mill.store.executeAll([approval, ...tasks]);
      };
      expect(await approve(1, 'old')).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
      const replies = await Promise.all(['a', 'b', 'c', 'd'].map((mark) => approve(2, mark)));
      expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
      expect(await mill.store.tasks({ projectId })).toHaveLength(2);
      expect(await mill.store.record('spec', 'spec_1')).toMatchObject({ status: 'approved', approved: { version: 2 } });
    });

    test('of several requests for a proposal at once one is accepted', async () => {
      await mill.must({ type: 'loop.switch', projectId, on: true, by });
      const ask = (category: string) => mill.store.execute({ type: 'loop.propose', projectId, category, by });
      const replies = await Promise.all(['testing', 'security', 'testing', 'devops'].map(ask));
      expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
      expect(await mill.store.records({ noun: 'job', projectId, isOpen: true })).toHaveLength(1);
      accepted(replies.find(({ ok }) => ok)!);
    });
  },
);
