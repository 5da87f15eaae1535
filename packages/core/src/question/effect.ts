import type { Answer, EventBody, Project, Question, QuestionOption, Task } from '@tidemill/contract';
import { isAboutBlindness } from '../gate/blindness.ts';
import { isAboutWorkflows } from '../gate/workflow-files.ts';
import { LEFT_ALONE_MS } from '../health/stuck.ts';
import { enter } from '../pipeline/enter.ts';
import { parked, parkedIfAsking } from '../pipeline/park.ts';
import type { Slice } from '../slice.ts';
import { interruptRun, released } from '../work.ts';
import { criteriaAnswered } from './criteria.ts';

export const APPROVE = 'Approve';
export const SEND_BACK = 'Send back';
/** The options of an approval. */
export const APPROVAL_OPTIONS: QuestionOption[] = [
  { label: APPROVE, description: 'The work continues.', recommended: false, implications: '' },
  {
    label: SEND_BACK,
    description: 'Write what to do instead.',
    recommended: false,
    implications: '',
  },
];
const PUT_BACK = 'Put back what a resolved conflict dropped:';
const NOT_PUSHED =
  'A person does not agree to these files. Undo your changes to them, unless the words above say otherwise:';
const STAYED_BLIND =
  'With your change a gate passes although the code was broken on purpose. Change your work so that the gate notices such faults again:';
export const STUCK_CHOICES = { wait: 'Wait', skip: 'Skip', retry: 'Retry' } as const;

type EffectOf<K extends Question['effect']['kind']> = Extract<Question['effect'], { kind: K }>;

/** The effect of an answer on its task. */
export function effectOf(slice: Slice, project: Project, task: Task, question: Question, answer: Answer): EventBody[] {
  const { effect } = question;
  const goOn = (to: string) => whenAllAnswered(slice, project, task, question, to);
  switch (effect.kind) {
    case 'stuck':
      // It holds the task now, because an agent asked the same.
      if (task.stage === 'needs_info') return goOn(task.resumeStage ?? task.stage);
      return stuckChoice(slice, project, { ...task, openQuestions: restOf(task, question) }, answer);
    case 'unblock':
      if (task.stage === 'needs_info') return goOn(task.resumeStage ?? task.stage);
      return unblock(task, question, effect, answer, goOn);
    case 'approval':
      return approval(task, question, effect, answer, goOn);
    case 'criteria':
      return [
        ...criteriaAnswered(task, effect, answer),
        ...(task.stage === 'needs_info' ? goOn(task.resumeStage ?? task.stage) : []),
      ];
    // A delivery is never about a single task.
    case 'delivery':
    case 'none':
      return task.stage === 'needs_info' ? goOn(task.resumeStage ?? task.stage) : [];
  }
}

/** The task continues after the last question that held it. Until then only its resume stage may change. */
export function whenAllAnswered(
  slice: Slice,
  project: Project,
  task: Task,
  question: Question,
  to: string,
): EventBody[] {
  const rest = restOf(task, question);
  if (rest.length === 0) return enter(slice, project.rules, task, { to, because: 'answered' });
  return task.stage === 'needs_info' && to === task.resumeStage ? [] : [parked(task, to, rest)];
}

/** What holds the task once this question is answered. */
const restOf = (task: Task, question: Question) => task.openQuestions.filter(({ id }) => id !== question.id);

function approval(
  task: Task,
  { context }: Question,
  { matters, sendBackTo, checks, contents, declared, losses, pull }: EffectOf<'approval'>,
  answer: Answer,
  goOn: (to: string) => EventBody[],
): EventBody[] {
  const isParked = task.stage === 'needs_info';
  if (answer.option === APPROVE) {
    const content = {
      contents,
      declared,
      ...(checks ? { checks } : {}),
      ...(losses ? { losses } : {}),
      ...(pull ? { pull } : {}),
    };
    const about = { taskId: task.id, matters, ...content };
    const agreed: EventBody = { type: 'task.matter_approved', ...about, by: answer.by };
    return [agreed, ...(isParked ? goOn(task.resumeStage ?? task.stage) : [])];
  }
  // An agent that is to put lines back must know which.
  const more = losses ? PUT_BACK : pull === undefined ? null : toAgentAbout(pull);
  const text = more ? `${answer.text}\n\n${more}\n${context}` : answer.text;
  const feedback = [{ kind: 'person' as const, text, files: [] }];
  return [{ type: 'task.feedback_given', taskId: task.id, feedback }, ...(isParked ? goOn(sendBackTo) : [])];
}

function toAgentAbout(pull: string): string | null {
  if (isAboutBlindness(pull)) return STAYED_BLIND;
  return isAboutWorkflows(pull) ? NOT_PUSHED : null;
}

function unblock(
  task: Task,
  question: Question,
  { leaves }: EffectOf<'unblock'>,
  { option, text, by }: Answer,
  goOn: (to: string) => EventBody[],
): EventBody[] {
  const { resumeStage, id: taskId } = task;
  if (task.stage !== 'blocked' || resumeStage === null) return [];
  if (option !== null && leaves.includes(option)) {
    const why = `${by.name} said: ${text}. Its work is kept; you can retry it at any time.`;
    return [{ type: 'task.blocked', taskId, from: resumeStage, reason: 'skipped', text: why }];
  }
  const chosen = question.options.find(({ label }) => label === option);
  const words = chosen?.description ? `${chosen.label}: ${chosen.description}` : text;
  const feedback = [{ kind: 'person' as const, text: words, files: [] }];
  const said: EventBody = { type: 'task.feedback_given', taskId, feedback };
  return [said, { type: 'task.counters_reset', taskId, by }, ...goOn(resumeStage)];
}

/** A person's answer about a task that makes no progress. */
function stuckChoice(slice: Slice, project: Project, task: Task, { option, text, by }: Answer): EventBody[] {
  if (task.lease === null) return [];
  if (option === STUCK_CHOICES.wait) return [{ type: 'task.left_alone', taskId: task.id, by, ms: LEFT_ALONE_MS }];
  const why = `${by.name} said: ${text}`;
  const stop = [...interruptRun(slice, task, why), released(task, why)];
  if (option !== STUCK_CHOICES.skip) return [...stop, ...parkedIfAsking(task)];
  const block = { reason: 'skipped' as const, text: `${why}. Its work is kept; you can retry it at any time.` };
  return [...stop, ...enter(slice, project.rules, task, { to: 'blocked', because: why, block })];
}
