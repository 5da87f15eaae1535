import type { ApprovalMatter, AskedQuestion, EventBody, MatterContents, Project, Task } from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import type { Slice } from '../slice.ts';
import { type Asking, type AskResult, askAll } from './ask.ts';
import { APPROVAL_OPTIONS } from './effect.ts';

export interface About {
  slice: Slice;
  project: Project;
  task: Task;
  env: DecideEnv;
}

interface Change {
  /** The content of the change in each matter that its files touch. */
  contents: MatterContents;
  /** Matters that its author says it touches. */
  declares: ApprovalMatter[];
  message: string;
  /** The stage for a rejected change. */
  sendBackTo: string;
  /** No notice about it was sent yet. */
  isNew: boolean;
}

/** Asks for approval where the autonomy requires it, and sends a notice where it asks for one. */
export function approvalFor(
  { slice, project, task, env }: About,
  { contents, declares, message, sendBackTo, isNew }: Change,
  asking: Asking,
): Pick<AskResult, 'events' | 'holding'> {
  const touched = new Set<ApprovalMatter>([...(Object.keys(contents) as ApprovalMatter[]), ...declares]);
  const setting = task.hilConfig ?? project.rules.hilConfig;
  // An approval is for the content that was shown. Other content needs a new approval.
  const isAgreed = (matter: ApprovalMatter) =>
    task.approved.includes(matter) &&
    (contents[matter] === undefined || contents[matter] === task.approvedContents[matter]);
  const open = [...touched].filter((matter) => !isAgreed(matter));
  const notices = open
    .filter((matter) => isNew && setting[matter] === 'notify_and_proceed')
    .map((matter) => noticeOf(task, matter, message));
  const matters = open.filter((matter) => setting[matter] === 'requires_approval');
  if (matters.length === 0) return { events: notices, holding: [] };
  const shown = matters.flatMap((matter) => (contents[matter] === undefined ? [] : [[matter, contents[matter]]]));
  const effect = { kind: 'approval', matters, sendBackTo, contents: Object.fromEntries(shown) } as const;
  // Asked every time: an earlier rejection does not count as an answer.
  const fresh = {
    ...asking,
    task: { ...task, openQuestions: [], asked: {} },
    holdsAlways: false,
    agent: 'engine',
    source: 'engine' as const,
    effect,
  };
  const asked = askAll(slice, fresh, [questionOf(task, matters, message)], env);
  return { events: [...notices, ...asked.events], holding: asked.holding };
}

function noticeOf(task: Task, matter: ApprovalMatter, message: string): EventBody {
  return {
    type: 'alert.raised',
    count: 1,
    taskId: task.id,
    kind: 'autonomy',
    severity: 'info',
    subject: `${task.id} ${matter}`,
    text: `#${task.number} ${WORDS[matter]}: ${message}`.slice(0, 2000),
  };
}

function questionOf(task: Task, matters: ApprovalMatter[], message: string): AskedQuestion {
  const what = matters.map((matter) => WORDS[matter]).join(' and ');
  const isOtherwise = matters.some((matter) => task.approved.includes(matter));
  return {
    ...blocking(`#${task.number} ${task.title}: the work ${what}. Continue with it?`),
    context: [message, isOtherwise ? OTHERWISE : ''].filter((part) => part !== '').join('\n\n'),
    options: APPROVAL_OPTIONS,
    tags: matters,
  };
}

const OTHERWISE = 'The content has changed since you approved it.';

const WORDS: Record<ApprovalMatter, string> = {
  scopeChanges: 'changes files outside its scope',
  architectureDecisions: 'decides about the architecture',
  dependencyModifications: 'changes dependencies',
};

export function blocking(text: string): AskedQuestion {
  return { text: text.slice(0, 20_000), type: 'blocking', context: '', options: [], allowFreeText: true, tags: [] };
}
