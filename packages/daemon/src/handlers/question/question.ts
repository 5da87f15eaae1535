import {
  type Actor,
  AppError,
  type Preference,
  type Project,
  type Question,
  type QuestionType,
  type QuestionView,
  type RouteRequest,
  type Task,
} from '@tidemill/contract';
import type { Store } from '../../ports.ts';
import type { Services } from '../context.ts';
import { projectOf, taskOf, unwrap } from '../find.ts';
import type { Signed } from '../handler.ts';
import { subjectOf } from './subject.ts';

const DIFF_LIMIT = 200_000;
/** Shorter endings of an id would be ambiguous. */
const SHORTEST_ENDING = 4;

const PRESSING: readonly QuestionType[] = [
  ...(['blocking', 'clarifying', 'confirming', 'preference', 'educational', 'celebratory'] as const),
];

export async function listQuestions(services: Services, input: RouteRequest<'questions'>): Promise<QuestionView[]> {
  const project = await projectOf(services, input.project);
  const taskId = input.task === undefined ? undefined : (await taskOf(services, project, input.task)).id;
  return ranked(services.store, project, { parent: taskId, ...(input.all ? {} : { isOpen: true }) });
}

export const openQuestions = ({ store }: Pick<Services, 'store'>, project: Project) =>
  ranked(store, project, { isOpen: true });

export const openQuestionsAbout = ({ store }: Pick<Services, 'store'>, project: Project, parent: string) =>
  ranked(store, project, { parent, isOpen: true });

export async function showQuestion(services: Services, input: RouteRequest<'question'>) {
  const project = await projectOf(services, input.project);
  const found = await questionOf(services, project, input.question);
  const task = found.taskId === null ? null : await services.store.task(found.taskId);
  const hasWork = task !== null && task.head !== null && !['done', 'cancelled'].includes(task.stage);
  const change = hasWork
    ? await services.repositories.withWorkspace(project, (workspace) => workspace.diff(task, DIFF_LIMIT))
    : null;
  const diff = change?.sections.join('') ?? '';
  return { question: viewOf(found, task, await subjectOf(services.store, found)), diff };
}

export async function answerQuestion(services: Services, input: Signed<'answerQuestion'>) {
  const project = await projectOf(services, input.project);
  const question = await questionOf(services, project, input.question);
  const ways = [input.text !== undefined, input.option !== undefined, input.useDefault].filter(Boolean);
  if (ways.length !== 1)
    throw new AppError('bad_input', 'give exactly one of a text, the number of an option, or the default', {
      hint: `tidemill answer ${question.ref} "…"`,
    });
  const text = input.text ?? (input.option === undefined ? defaultOf(question) : optionOf(question, input.option));
  await give(services, question, text, input.useDefault ? 'default' : 'user', input.by);
  return viewNow(services.store, question.id);
}

export async function answerDefaults(services: Services, input: Signed<'answerDefaults'>) {
  const project = await projectOf(services, input.project);
  const answered: QuestionView[] = [];
  const left: QuestionView[] = [];
  for (const question of await openQuestions(services, project)) {
    if (question.defaultAnswer === null) {
      left.push(question);
      continue;
    }
    try {
      await give(services, question, question.defaultAnswer, 'default', input.by);
      answered.push(await viewNow(services.store, question.id));
    } catch (error) {
      // It was already answered by another person. That is fine.
      if (!(error instanceof AppError && error.code === 'already_answered')) throw error;
    }
  }
  return { answered, left };
}

export async function listPreferences(services: Services, input: RouteRequest<'preferences'>): Promise<Preference[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const found = await services.store.records({ noun: 'preference', projectId, ...(input.all ? {} : { isOpen: true }) });
  return found.sort((a, b) => a.learnedAt - b.learnedAt);
}

export async function revokePreference(services: Services, input: Signed<'revokePreference'>) {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'preference', projectId });
  const found = unique(all, input.preference, 'learned default', '`tidemill preferences` shows them.');
  const command = { type: 'preference.revoke', projectId, preferenceId: found.id, by: input.by } as const;
  unwrap(await services.store.execute(command));
  return (await services.store.record('preference', found.id))!;
}

/** The command that answers a question. */
export function commandFor({ ref, effect, options }: Question, task: Pick<Task, 'number'> | null): string {
  if (effect.kind === 'approval' && task) return `tidemill task approve ${task.number}`;
  return options.length > 0 ? `tidemill answer ${ref} --option 1` : `tidemill answer ${ref} "…"`;
}

async function give({ store }: Services, question: Question, text: string, source: 'user' | 'default', by: Actor) {
  const { projectId, taskId, subjectId, id: questionId } = question;
  const command = { type: 'question.answer', projectId, taskId, subjectId, questionId, text, source, by } as const;
  return unwrap(await store.execute(command));
}

function defaultOf({ ref, defaultAnswer }: Question): string {
  if (defaultAnswer !== null) return defaultAnswer;
  throw new AppError('bad_input', `${ref} has no default`, { hint: `Give the answer: tidemill answer ${ref} "…"` });
}

function optionOf({ ref, options }: Question, number: number): string {
  const option = options[number - 1];
  if (option) return option.label;
  const hint = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  throw new AppError('bad_input', `${ref} has no option ${number}`, {
    hint: hint ? `The options are ${hint}.` : `It has none: tidemill answer ${ref} "…"`,
  });
}

/**
 * Finds a question by its name (`Q7.1`, `7.1`, `Q3`), by a task with one open question (`#7`, `7`), by its id or the end
 * of its id, or by its agent's own id if only one open question has it.
 */
async function questionOf({ store }: Services, project: Project, name: string): Promise<Question> {
  const hint = '`tidemill questions` shows the open ones, with --all every one.';
  const [, mark, task, nth] = /^(q|#)?(\d{1,9})(?:\.(\d{1,9}))?$/i.exec(name) ?? [];
  if (task === undefined) {
    if (name.startsWith('question_')) {
      const found = await store.record('question', name);
      if (found?.projectId === project.id) return found;
    }
    const all = await store.records({ noun: 'question', projectId: project.id });
    return byOwnId(all, name) ?? unique(all, name, 'question', hint);
  }
  const about =
    mark?.toLowerCase() === 'q' && nth === undefined ? null : await store.taskByNumber(project.id, Number(task));
  const asked = about ? await store.records({ noun: 'question', projectId: project.id, parent: about.id }) : [];
  if (nth !== undefined) {
    const found = asked.find(({ ref }) => ref === `Q${task}.${nth}`);
    if (found) return found;
  } else {
    const open = asked.filter(({ status }) => status === 'open');
    if (open.length === 1) return open[0]!;
    if (open.length > 1)
      throw new AppError('bad_input', `#${task} has more than one open question`, {
        hint: `Name one of ${open.map(({ ref }) => ref).join(', ')}.`,
      });
    const all = mark === '#' ? [] : await store.records({ noun: 'question', projectId: project.id });
    const found = all.find(({ ref, taskId }) => taskId === null && ref === `Q${task}`);
    if (found) return found;
  }
  throw new AppError('not_found', `there is no question ${name} in ${project.name}`, { hint });
}

/** The open question that its agent calls so. Agents choose these names, so they never take the place of an id. */
function byOwnId(all: Question[], name: string): Question | null {
  if (all.some(({ id }) => id.endsWith(name) && name.length >= SHORTEST_ENDING)) return null;
  const named = all.filter(({ ownId, status }) => ownId === name && status === 'open');
  if (named.length > 1)
    throw new AppError('bad_input', `more than one open question is called "${name}"`, {
      hint: `Name one of ${named.map(({ ref }) => ref).join(', ')}.`,
    });
  return named[0] ?? null;
}

function unique<T extends { id: string }>(all: T[], name: string, what: string, hint: string): T {
  const found = all.filter(({ id }) => id === name || (name.length >= SHORTEST_ENDING && id.endsWith(name)));
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw new AppError('bad_input', `more than one ${what} ends with "${name}"`, { hint });
  throw new AppError('not_found', `there is no ${what} "${name}"`, { hint });
}

async function viewNow(store: Store, id: string): Promise<QuestionView> {
  const question = (await store.record('question', id))!;
  const task = question.taskId === null ? null : await store.task(question.taskId);
  return viewOf(question, task, await subjectOf(store, question));
}

function viewOf(question: Question, task: Task | null, subject: QuestionView['subject']): QuestionView {
  const about = task && { number: task.number, title: task.title, stage: task.stage };
  return { ...question, task: about, subject, command: commandFor(question, task) };
}

/** Questions that block work come first, then by type, the task's priority, and age. */
export async function ranked(
  store: Store,
  project: Project,
  query: { parent?: string; isOpen?: boolean },
): Promise<QuestionView[]> {
  const questions = await store.records({ noun: 'question', projectId: project.id, ...query });
  const tasks = new Map<string, Task | null>();
  for (const { taskId } of questions)
    if (taskId !== null && !tasks.has(taskId)) tasks.set(taskId, await store.task(taskId));
  const subjects = new Map<string, QuestionView['subject']>();
  for (const question of questions) subjects.set(question.id, await subjectOf(store, question));
  const taskOfQuestion = ({ taskId }: Question) => (taskId === null ? null : (tasks.get(taskId) ?? null));
  const rank = (question: Question) => [
    question.status === 'open' ? 0 : 1,
    question.holds ? 0 : 1,
    PRESSING.indexOf(question.type),
    taskOfQuestion(question)?.priority ?? 4,
    question.askedAt,
  ];
  return questions
    .map((question) => ({ question, rank: rank(question) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ question }) => viewOf(question, taskOfQuestion(question), subjects.get(question.id) ?? null));
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
