import { isBuilding, type LoggedEvent, personActor, type Question } from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { linesOf, reportedLines, resolve } from '../../../../../test/sim/merge-losses.ts';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { Agent, AgentBrief } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { briefingFor } from './briefing.ts';

const MINUTE = 60_000;
const by = personActor('ada');
let bed: EngineBed;
const briefs: AgentBrief[] = [];
afterEach(() => bed.close());

/** Adds a line to a file that main changes too. `drops`: how often it resolves or hands in without main's lines. */
function dropping(drops: number): (agent: Agent) => Agent {
  let left = drops;
  return (agent) => ({
    label: 'dropping',
    start(request, hooks) {
      const { brief, cwd } = request;
      briefs.push(brief);
      const work = isBuilding(brief.mode) ? bed.repository.work(cwd) : undefined;
      const keeps = left <= 0;
      if (brief.feedback.length > 0) left -= 1;
      const text = work?.get('tides') ?? '';
      const back = keeps ? brief.feedback.flatMap((feedback) => reportedLines(feedback.text)) : [];
      const now = text.includes('<<<')
        ? resolve(text, keeps)
        : [...new Set([...linesOf(work ?? new Map(), 'tides'), ...back])].join('\n');
      const isFirst = brief.feedback.length === 0;
      work?.set('tides', isFirst ? 'line-1-a' : now);
      if (isFirst && work) bed.repository.addLineByPerson('tides', 'main-1');
      return agent.start(request, hooks);
    },
  });
}

async function run(drops: number): Promise<void> {
  briefs.length = 0;
  const make = dropping(drops);
  bed = await EngineBed.open({}, (of) => ({ agentFor: () => make(quickAgent(() => of.repository)) }));
  await bed.start();
  await bed.add(1);
  await bed.pass(10 * MINUTE);
}
const task = async () => (await bed.store.task('task_1'))!;
const onMain = () => linesOf(bed.repository.commits.get(bed.repository.target)!.files, 'tides');
const question = async () => (await bed.store.records({ noun: 'question', isOpen: true })) as Question[];
const answer = async (text: string) => {
  const [{ id: questionId }] = (await question()) as [Question];
  await bed.must({
    ...{ type: 'question.answer', projectId: bed.projectId, taskId: 'task_1', questionId, by, source: 'user', text },
  });
  await bed.pass(10 * MINUTE);
};
const sentBack = async () =>
  (await bed.log('run.sent_back')).map(({ body }: LoggedEvent) => ('gates' in body ? body.gates : []));

/** The part of a reviewer's prompt about what the gates found. */
async function shownToReviewer(): Promise<string> {
  let shown = '';
  const render: EngineDeps['prompts']['render'] = async ({ gates }) => {
    shown = gates;
    return { prompt: '', cut: [] } as never;
  };
  const prompts = { render } as EngineDeps['prompts'];
  const project = (await bed.store.project(bed.projectId))!;
  const { store, repository: workspace } = bed;
  await briefingFor({ project, store, prompts, workspace, gates: { checks: [] } }, await task(), 'review');
  return shown;
}

describe('a conflict that an agent resolves by dropping the target’s lines', () => {
  it('is told to the agent in the same run, with file and lines; what it puts back lands', async () => {
    await run(1);
    expect(await sentBack()).toContainEqual(['merge loss']);
    const told = briefs.flatMap(({ feedback }) => feedback).find(({ text }) => text.includes('drops changes'));
    expect(told).toMatchObject({ kind: 'gate', files: ['tides'] });
    expect(told!.text).toContain('1 | main-1');
    expect(await task()).toMatchObject({ stage: 'done' });
    expect(onMain().toSorted()).toEqual(['line-1-a', 'main-1']);
    expect(await bed.log('question.asked')).toEqual([]);
  });

  it('does not land when the agent insists: a person is asked, and may accept exactly that', async () => {
    await run(99);
    expect(await task()).toMatchObject({ stage: 'needs_info' });
    expect(onMain()).toEqual(['main-1']);
    const [asked] = await question();
    expect(asked).toMatchObject({ type: 'blocking', tags: ['merge-loss'], expiresAt: null, defaultAnswer: null });
    expect(asked!.context).toContain('tides: main added or changed line 1, missing here\n    1 | main-1');
    // It is told twice, then a person is asked: no more money is spent on it.
    expect((await sentBack()).filter(([gate]) => gate === 'merge loss')).toHaveLength(2);
    await bed.pass(5 * 60 * MINUTE);
    expect(await task()).toMatchObject({ stage: 'needs_info' });
    expect(await shownToReviewer()).toContain('(a person is asked before it lands)');
    expect(await shownToReviewer()).toContain('    1 | main-1');
    await answer('Approve');
    expect(await task()).toMatchObject({ stage: 'done' });
    expect(onMain()).toEqual(['line-1-a']);
    const approved = (await bed.log('task.matter_approved')).map(({ body }) => body);
    expect(approved).toMatchObject([{ by, losses: [expect.stringContaining('main-1')] }]);
  });

  it('goes back to the agent when a person says so, and lands with the lines', async () => {
    await run(4);
    expect(await task()).toMatchObject({ stage: 'needs_info' });
    await answer('Send back');
    expect(await task()).toMatchObject({ stage: 'done' });
    expect(onMain().toSorted()).toEqual(['line-1-a', 'main-1']);
  });
});
