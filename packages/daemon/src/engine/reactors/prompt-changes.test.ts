import { ENGINE, LearningConfig, type PromptChange, personActor, type ReplayReport } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { PromptFiles } from '../../ports.ts';
import { applyPrompt, rollBackPrompt } from '../learning/prompt-changes.ts';

const MINUTE = 60_000;
const FILE = '.tidemill/agents/implement.md';
const ADA = personActor('ada');

let bed: EngineBed;
let texts: Map<string, string>;
let mistaken = false;
const files: PromptFiles = {
  read: async (file) => texts.get(file) ?? '',
  write: async (file, text) => void texts.set(file, text),
};

async function open(promotion: object = {}): Promise<void> {
  texts = new Map([[FILE, 'old']]);
  mistaken = false;
  bed = await EngineBed.open({ learning: LearningConfig.parse({ promotion }) }, (self) => ({
    promptFiles: files,
    agentFor: () => {
      const quick = quickAgent(() => self.repository);
      return {
        ...quick,
        start(request, sink) {
          const session = quick.start(request, sink);
          const { brief, cwd } = request;
          if (mistaken && brief.feedback.length === 0)
            self.repository.work(cwd)?.set(`file-${brief.task!.number}`, 'bug');
          return session;
        },
      };
    },
  }));
  await bed.start();
}
beforeEach(() => open());
afterEach(() => bed.close());

const sources = async () => ({ store: bed.store, project: (await bed.store.project(bed.projectId))!, files });
const change = async (): Promise<PromptChange> => (await bed.store.record('prompt_change', 'prompt_change_1'))!;
async function propose(replayId: string | null = null, text = 'new'): Promise<void> {
  const proposed = { file: FILE, before: 'old', text, why: '', replayId };
  await bed.must({
    type: 'prompt_change.propose',
    projectId: bed.projectId,
    promptChangeId: 'prompt_change_1',
    change: proposed,
    by: ADA,
  });
}
/** A replay that has ended with these figures. */
async function tried(better: number, worse: number): Promise<void> {
  const { projectId } = bed;
  const task = { taskId: 'task_1', number: 1, title: 'x', base: 'b', commit: 'c', files: ['a'], landedAt: 1 };
  const variant = { name: 'x', agent: null, prompt: null, lessons: [] };
  const replay = {
    purpose: { kind: 'prompt' as const, id: 'prompt_change_1' },
    variants: [variant, variant],
    tasks: [task],
    repeats: 1,
    withLandedTests: false,
    limitUsd: 1,
  };
  await bed.must({ type: 'replay.start', projectId, replayId: 'replay_1', replay, by: ENGINE });
  await bed.must({ type: 'replay.stop', projectId, replayId: 'replay_1', why: 'x', by: ENGINE });
  const all = better + worse;
  const gain = { value: (better - worse) / all, low: better > worse ? 0.1 : -1, high: 1 };
  const p = better > worse ? 0.01 : 1;
  const pair = {
    name: 'x',
    pairs: all,
    better,
    worse,
    gain,
    p,
    pWorse: worse > better ? 0.01 : 1,
    passedMore: 0,
    passedLess: 0,
    costRatio: 1,
  };
  const report: ReplayReport = { variants: [], pairs: [pair] };
  await bed.must({ type: 'replay.end', projectId, replayId: 'replay_1', report, spentUsd: 0 });
  await bed.pass(MINUTE);
}

describe('a proposed prompt', () => {
  test('is applied by a person, once, and rolled back to the text from before', async () => {
    await propose();
    await applyPrompt(await sources(), await change(), 'better', ADA);
    expect(texts.get(FILE)).toBe('new');
    expect(await change()).toMatchObject({ status: 'applied', decidedBy: ADA });
    await rollBackPrompt(await sources(), await change(), 'worse', ADA);
    expect(texts.get(FILE)).toBe('old');
    expect(await change()).toMatchObject({ status: 'rolled_back', decidedWhy: 'worse' });
  });

  test('does not overwrite a file that was changed meanwhile, and a repetition after a crash succeeds', async () => {
    await propose();
    texts.set(FILE, 'somebody else');
    await expect(applyPrompt(await sources(), await change(), '', ADA)).rejects.toThrow(
      /was changed since P1 was proposed/,
    );
    expect(texts.get(FILE)).toBe('somebody else');
    expect((await change()).status).toBe('proposed');
    texts.set(FILE, 'new');
    await applyPrompt(await sources(), await change(), '', ADA);
    expect((await change()).status).toBe('applied');
  });

  test('must not be the text in use, and a refused one does not come back', async () => {
    const again = {
      type: 'prompt_change.propose',
      projectId: bed.projectId,
      promptChangeId: 'prompt_change_2',
      by: ADA,
    } as const;
    const same = { file: FILE, before: 'old', text: 'old', why: '', replayId: null };
    expect(await bed.store.execute({ ...again, change: same })).toMatchObject({ refusal: { code: 'bad_input' } });
    await propose();
    const { projectId } = bed;
    await bed.must({
      type: 'prompt_change.decide',
      projectId,
      promptChangeId: 'prompt_change_1',
      status: 'refused',
      why: 'no',
      baseline: null,
      by: ADA,
    });
    expect(await bed.store.execute({ ...again, change: { ...same, text: 'new' } })).toMatchObject({
      refusal: { code: 'conflict' },
    });
  });

  test('is judged by its replay; without the setting only a person applies it', async () => {
    await propose('replay_1');
    await tried(8, 0);
    expect(await change()).toMatchObject({ status: 'proposed', trial: { verdict: 'gain' } });
    expect(texts.get(FILE)).toBe('old');
  });

  test('is applied by itself when that is allowed and its replay shows a gain, and not when it shows harm', async () => {
    await bed.close();
    await open({ applyPrompts: true });
    await propose('replay_1');
    await tried(8, 0);
    expect(await change()).toMatchObject({ status: 'applied', decidedBy: ENGINE });
    expect(texts.get(FILE)).toBe('new');
    await bed.close();
    await open({ applyPrompts: true });
    await propose('replay_1');
    await tried(0, 8);
    expect(await change()).toMatchObject({ status: 'proposed', trial: { verdict: 'harm' } });
    expect(texts.get(FILE)).toBe('old');
  });

  test('is rolled back by itself when builders pass less often than before', async () => {
    for (let number = 1; number <= 12; number += 1) await bed.add(number);
    await bed.pass(60 * MINUTE);
    await propose();
    await applyPrompt(await sources(), await change(), '', ADA);
    mistaken = true;
    for (let number = 13; number <= 26; number += 1) await bed.add(number);
    await bed.pass(120 * MINUTE);
    expect(await change()).toMatchObject({
      status: 'rolled_back',
      decidedBy: ENGINE,
      decidedWhy: expect.stringContaining('before it 100 %'),
    });
    expect(texts.get(FILE)).toBe('old');
  });
});
