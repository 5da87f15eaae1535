import type {
  ApprovalMatter,
  AskedQuestion,
  Declarations,
  EventBody,
  MatterContents,
  Project,
  Task,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import { isUnplanned } from '../pipeline/plan.ts';
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
  /** The names of those files, for the person who decides. */
  files?: Partial<Record<ApprovalMatter, readonly string[]>>;
  /** What its author says it decides. */
  declared: Declarations;
  message: string;
  /** A plan that waits for a person here, because no stage for it follows. */
  plan: string | null;
  /** The stage for a rejected change. */
  sendBackTo: string;
  /** No notice about it was sent yet. */
  isNew: boolean;
}

/** Asks for approval where the autonomy requires it, and sends a notice where it asks for one. */
export function approvalFor(
  { slice, project, task, env }: About,
  change: Change,
  asking: Asking,
): Pick<AskResult, 'events' | 'holding'> {
  const { contents, plan, message, sendBackTo } = change;
  const setting = task.hilConfig ?? project.rules.hilConfig;
  const declared = undecided(task, change.declared);
  const open = MATTERS.filter((matter) => declared[matter] !== undefined || !isAgreed(task, matter, contents[matter]));
  const notices = open
    .filter((matter) => change.isNew && setting[matter] === 'notify_and_proceed')
    .map((matter) => noticeOf(task, matter, message));
  const matters = open.filter((matter) => setting[matter] === 'requires_approval');
  if (matters.length === 0 && plan === null) return { events: notices, holding: [] };
  const effect = {
    kind: 'approval' as const,
    matters,
    sendBackTo,
    contents: pick(contents, matters),
    declared: pick(declared, matters),
  };
  // Asked every time: an earlier rejection does not count as an answer.
  const fresh = {
    ...asking,
    task: { ...task, openQuestions: [], asked: {} },
    holdsAlways: false,
    agent: 'engine',
    source: 'engine' as const,
    effect,
  };
  const question = questionOf({ project, task }, { ...change, declared }, matters);
  const asked = askAll(slice, fresh, [question], env);
  return { events: [...notices, ...asked.events], holding: asked.holding };
}

const MATTERS: ApprovalMatter[] = ['scopeChanges', 'architectureDecisions', 'dependencyModifications'];

/** An approval is for the content that was shown. Other content needs a new approval. */
const isAgreed = (task: Task, matter: ApprovalMatter, content: string | undefined) =>
  content === undefined || (task.approved.includes(matter) && content === task.approvedContents[matter]);

/** The declared decisions that no person has approved. One without words is approved with its matter. */
function undecided(task: Task, declared: Declarations): Declarations {
  const isKnown = (matter: ApprovalMatter, words: string) =>
    words === ''
      ? task.approved.includes(matter)
      : (task.approvedDeclared[matter] ?? []).some((each) => essence(each) === essence(words));
  return Object.fromEntries(
    MATTERS.flatMap((matter) => {
      const left = (declared[matter] ?? []).filter((words) => !isKnown(matter, words));
      return left.length > 0 ? [[matter, left]] : [];
    }),
  );
}
const essence = (words: string) => words.toLowerCase().replace(/\W+/g, ' ').trim();

const pick = <T>(of: Partial<Record<ApprovalMatter, T>>, matters: ApprovalMatter[]) =>
  Object.fromEntries(matters.flatMap((matter) => (of[matter] === undefined ? [] : [[matter, of[matter]]])));

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

function questionOf(
  { project, task }: Pick<About, 'project' | 'task'>,
  change: Change,
  matters: ApprovalMatter[],
): AskedQuestion {
  const { plan, declared, contents, files = {}, message } = change;
  const words = (matter: ApprovalMatter) => {
    if (matter !== 'scopeChanges') return WORDS[matter];
    if (contents.scopeChanges === undefined) return 'changes the scope';
    return isUnplanned(project.rules, task) ? 'was done without a plan that you have seen' : WORDS.scopeChanges;
  };
  const what = matters.map(words).join(' and ');
  const isPlan = plan !== null;
  const name = `#${task.number} ${task.title}`;
  const text = isPlan ? `${name}: the plan is ready${what && ` and ${what}`}.` : `${name}: the work ${what}.`;
  const isOtherwise = matters.some((matter) => contents[matter] !== undefined && task.approved.includes(matter));
  const parts = [
    plan ?? message,
    ...matters.map((matter) => lines(HEADINGS[matter], declared[matter] ?? [], files[matter] ?? [])),
    isOtherwise ? OTHERWISE : '',
  ];
  const context = parts.filter((part) => part !== '').join('\n\n');
  return {
    ...blocking(`${text} Continue with it?`),
    context: context.slice(0, 20_000),
    options: APPROVAL_OPTIONS,
    tags: [...matters, ...(isPlan ? ['plan'] : [])],
  };
}

const MOST_FILES = 20;

/** What the agent declared, and what the files show. */
function lines(heading: string, declared: string[], files: readonly string[]): string {
  const shown = files.slice(0, MOST_FILES).join(', ');
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  const all = [
    ...declared.filter((words) => words !== '').map((words) => `- ${words}`),
    ...(files.length > 0 ? [`- in ${shown}${more}`] : []),
  ];
  return all.length === 0 ? '' : `${heading}\n${all.join('\n')}`;
}

const OTHERWISE = 'The content has changed since you approved it.';

const WORDS: Record<ApprovalMatter, string> = {
  scopeChanges: 'changes files outside its scope',
  architectureDecisions: 'decides about the architecture',
  dependencyModifications: 'changes dependencies',
};
const HEADINGS: Record<ApprovalMatter, string> = {
  scopeChanges: 'Scope:',
  architectureDecisions: 'Architecture:',
  dependencyModifications: 'Dependencies:',
};

export function blocking(text: string): AskedQuestion {
  return { text: text.slice(0, 20_000), type: 'blocking', context: '', options: [], allowFreeText: true, tags: [] };
}
