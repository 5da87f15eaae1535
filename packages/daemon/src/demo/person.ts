import type { Api, QuestionView } from '@tidemill/contract';
import { fit, WIDTH } from './summary.ts';
import { type Following, until } from './until.ts';

/** What the demo's person says about the idea, one message after each reply. The sample's scenario refers to them. */
const MESSAGES = [
  'Our mill turns with the tide. The almanac only lists high and low water, so every morning I work out by hand when I can grind. It should tell me.',
  'First the level at any time, then the next turn, then the hours when the mill can turn. Other almanacs know nothing about mills.',
  'I compared last week with the gauge: between two turns the water follows half a wave. Some old tables are in feet, and the last line of a file gets lost.',
  'That is all. Please write it up.',
];
const BY = 'miller';
/** Answers to what is asked about the idea and its specification; other questions get their first option. */
const ANSWERS: [about: RegExp, answer: string][] = [[/Who would use/, 'The miller, every morning']];

/** Plays the person of the demo: talks about an idea until its brief is ready. Returns the idea's number. */
export async function talkAboutIdea(following: Following, say: (line: string) => void): Promise<number> {
  const { api, project } = following;
  const [first, ...others] = MESSAGES;
  const { idea } = await api.createIdea({ project, by: BY, text: first! });
  let phase: string = idea.phase;
  await until(following, async () => {
    const { idea: now, questions } = await api.idea({ project, idea: idea.id });
    if (now.phase !== phase) say(`  Idea I${now.number}: ${phase.toLowerCase()} → ${now.phase.toLowerCase()}`);
    phase = now.phase;
    await answerAll(api, project, questions);
    if (now.status === 'complete') return true;
    const isWaiting = now.jobId === null && !now.hasNews && questions.every(({ holds }) => !holds);
    if (isWaiting && now.messageCount >= 2 * (MESSAGES.length - others.length) && others.length > 0)
      await api.sayToIdea({ project, idea: idea.id, by: BY, text: others.shift()! });
    return false;
  });
  return idea.number;
}

/** Has the brief specified, answers what is asked, and approves the result. */
export async function approveSpecOf(following: Following, idea: number, say: (line: string) => void): Promise<boolean> {
  const { api, project } = following;
  const { id, number } = await api.newSpec({ project, by: BY, idea });
  let isApproved = false;
  await until(following, async () => {
    const { spec, tasks } = await api.spec({ project, spec: id });
    if (spec.status === 'failed') throw new Error(`The specification failed: ${spec.why}`);
    const asked = (await api.questions({ project })).filter(({ subjectId }) => subjectId === id);
    // "Start" approves it too, but the person has read it and approves it directly.
    const open = asked.filter(({ type }) => type !== 'celebratory');
    for (const { ref, text } of open.filter(({ holds }) => holds)) say(fit(`  ${ref} ${text}`, WIDTH));
    await answerAll(api, project, open);
    isApproved = spec.approved !== null;
    if (isApproved) say(`  Specification S${number} is approved: ${tasks.length} tasks.`);
    else if (spec.status === 'draft' && open.length === 0) await api.approveSpec({ project, spec: id, by: BY });
    return isApproved;
  });
  return isApproved;
}

async function answerAll(api: Api, project: string, questions: readonly QuestionView[]): Promise<void> {
  for (const { id, text, options } of questions) {
    const prepared = ANSWERS.find(([about]) => about.test(text))?.[1];
    const answer = prepared ?? options.find(({ recommended }) => recommended)?.label ?? options[0]?.label ?? 'Go on.';
    await api.answerQuestion({ project, question: id, text: answer, by: BY });
  }
}
