import type { ApprovalMatter, AskedQuestion, EventBody, Project, Run, Task } from '@tidemill/contract';
import type { CommandOf, DecideEnv } from '../command.ts';
import type { Verdict } from '../run/verdict.ts';
import type { Slice } from '../slice.ts';
import { withdrawn } from './answer.ts';
import { type Asking, type AskResult, askAll } from './ask.ts';
import { APPROVAL_OPTIONS } from './effect.ts';
import { canPark, parked } from './park.ts';

interface RunEnd {
  slice: Slice;
  project: Project;
  task: Task;
  run: Run;
  command: CommandOf<'run.finish'>;
  end: Verdict;
  /** What would follow if nobody had anything to ask. */
  after: EventBody[];
  env: DecideEnv;
}

/**
 * The end of a run with what it asks. A question that holds parks the task where it would have gone on; an agent that
 * failed for want of an answer has not failed.
 */
export function askAtEnd(runEnd: RunEnd): EventBody[] {
  const { slice, task, run, command, end, after, env } = runEnd;
  const needsInfo = end.outcome === 'needs_info';
  const asking = askingOf(runEnd, needsInfo);
  const own = askAll(slice, asking, questionsOf(command, needsInfo, end.message), env);
  own.events.unshift(...noLongerStuck(slice, task));
  if (needsInfo || (end.outcome === 'failed' && own.holding.length > 0)) {
    if (own.holding.length > 0) return [...own.events, parked(task, task.stage, own.holding)];
    // Answered at once, by what was learned: the next run knows.
    if (own.answered > 0) return own.events;
    // It asks again what was answered a moment ago: once more it will not help.
    const text = `The agent asks again what was answered already: ${end.message}`;
    return [...own.events, { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'no_progress', text }];
  }
  const approval = approvalOf(runEnd, { ...asking, askedJustNow: own.asked });
  const holding = [...own.holding, ...approval.holding];
  const stage = stageAfter(task, after);
  const events = [...after, ...own.events, ...approval.events];
  return holding.length > 0 && canPark({ stage }) && end.outcome !== 'failed'
    ? [...events, parked({ ...task, id: run.taskId }, stage, holding)]
    : events;
}

function noLongerStuck(slice: Slice, task: Task): EventBody[] {
  return slice
    .recordsOf('question', task.projectId)
    .filter(({ taskId, status, effect, holds }) => {
      return taskId === task.id && status === 'open' && effect.kind === 'stuck' && !holds;
    })
    .map((question) => withdrawn(question, 'its run has ended'));
}

function questionsOf({ envelope }: CommandOf<'run.finish'>, needsInfo: boolean, message: string): AskedQuestion[] {
  const questions = envelope?.open_questions ?? [];
  if (questions.length > 0 || !needsInfo) return questions;
  return [blocking(message || 'The agent needs to know more, but did not say what.')];
}

function askingOf({ project, task, run }: RunEnd, holdsAlways: boolean): Asking {
  const source = run.mode === 'plan' || run.mode === 'plan_revision' ? 'plan' : 'execute';
  return { project, task, runId: run.id, stage: run.stage, holdsAlways, agent: run.agent, source, sourceId: task.id };
}

/** What the change touches that a person wants to decide, or to hear of. */
function approvalOf(
  { slice, project, task, command, end, env }: RunEnd,
  asking: Asking,
): Pick<AskResult, 'events' | 'holding'> {
  const isFinished = end.outcome === 'pr_ready' || end.outcome === 'plan_complete';
  const contents = command.touches ?? {};
  const inFiles = Object.keys(contents) as ApprovalMatter[];
  const touched = new Set<ApprovalMatter>([...inFiles, ...(command.envelope?.declares ?? [])]);
  const setting = task.hilConfig ?? project.rules.hilConfig;
  // An agreement is to what was there to be seen: other content is another matter.
  const isAgreed = (matter: ApprovalMatter) =>
    task.approved.includes(matter) &&
    (contents[matter] === undefined || contents[matter] === task.approvedContents[matter]);
  const open = isFinished ? [...touched].filter((matter) => !isAgreed(matter)) : [];
  const notices = open
    .filter((matter) => setting[matter] === 'notify_and_proceed')
    .map(
      (matter): EventBody => ({
        ...{
          type: 'alert.raised',
          count: 1,
          taskId: task.id,
          kind: 'autonomy',
          severity: 'info',
          subject: `${task.id} ${matter}`,
        },
        text: `#${task.number} ${WORDS[matter]}: ${end.message}`.slice(0, 2000),
      }),
    );
  const matters = open.filter((matter) => setting[matter] === 'requires_approval');
  if (matters.length === 0) return { events: notices, holding: [] };
  const what = matters.map((matter) => WORDS[matter]).join(' and ');
  const isOtherwise = matters.some((matter) => task.approved.includes(matter));
  const question: AskedQuestion = {
    ...blocking(`#${task.number} ${task.title}: the work ${what}. Go on with it?`),
    context: [end.message, ...(isOtherwise ? [OTHERWISE] : [])].join('\n\n'),
    options: APPROVAL_OPTIONS,
    tags: matters,
  };
  const shown = matters.flatMap((matter) => (contents[matter] === undefined ? [] : [[matter, contents[matter]]]));
  const effect = { kind: 'approval', matters, sendBackTo: task.stage, contents: Object.fromEntries(shown) } as const;
  // Asked as often as it comes up: an approval that was refused before is no approval.
  const fresh = {
    ...asking,
    task: { ...task, openQuestions: [], asked: {} },
    holdsAlways: false,
    agent: 'engine',
    source: 'engine' as const,
    effect,
  };
  const asked = askAll(slice, fresh, [question], env);
  return { events: [...notices, ...asked.events], holding: asked.holding };
}

const OTHERWISE = 'It is not what you approved before: its content has changed since.';

const WORDS: Record<ApprovalMatter, string> = {
  scopeChanges: 'goes beyond the files it was given',
  architectureDecisions: 'decides about the architecture',
  dependencyModifications: 'changes dependencies',
};

function blocking(text: string): AskedQuestion {
  return { text: text.slice(0, 20_000), type: 'blocking', context: '', options: [], allowFreeText: true, tags: [] };
}

function stageAfter(task: Task, events: EventBody[]): string {
  let stage = task.stage;
  for (const event of events) {
    if (event.type === 'task.moved' && event.taskId === task.id) stage = event.to;
    if (event.type === 'task.blocked' && event.taskId === task.id) stage = 'blocked';
  }
  return stage;
}
