import {
  type BlockReason,
  isBuilding,
  MOST_FACTS,
  type ReflectionMetrics,
  type Run,
  type Task,
  type Trace,
  withoutSecrets,
} from '@tidemill/contract';
import { isInfrastructure, type NewReflection, scopesOverlap } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { changedFiles } from './changed-files.ts';

/** Reasons that say something about the work. The others are about the machine, the settings or a decision of a person. */
const TELLING: readonly BlockReason[] = [
  'validation',
  'review_escalation',
  'no_changes',
  'agent_failed',
  'no_progress',
];
const MOST_TRACES = 12;
const LONGEST_TRACE = 500;
const LONGEST_PLAN = 1_200;
const LONGEST_BODY = 600;
const LONGEST_DIFF = 2_000;
/** One in so many tasks that landed at the first try is looked at too: what works is worth repeating. */
const CLEAN_SHARE = 20;
const WENT_WELL = 'it went as planned; one in 20 such tasks is looked at';

/** Why a task is worth a reflection; null when all went as planned, or when only the environment failed. */
function reasonToReflect(task: Task, runs: readonly Run[], outside: readonly string[]): string | null {
  if (task.blocked && (!TELLING.includes(task.blocked.reason) || isEnvironment(task, runs))) return null;
  const sentBack = runs.reduce((sum, run) => sum + run.validationRetries, 0);
  const rejected = runs.filter(({ mode, outcome }) => mode === 'review' && outcome === 'changes_requested').length;
  const failed = runs.filter(({ failure }) => failure !== null && !isInfrastructure(failure)).length;
  const reasons = [
    ...(task.blocked ? [`it is blocked (${task.blocked.reason.replaceAll('_', ' ')})`] : []),
    ...(sentBack > 0 ? [`gates sent the agent back ${times(sentBack)}`] : []),
    ...(rejected > 0 ? [`the review asked for changes ${times(rejected)}`] : []),
    ...(failed > 0 ? [`${failed === 1 ? 'a run' : `${failed} runs`} failed`] : []),
    ...(outside.length > 0 ? [`${outside.length} files outside its scope were changed`] : []),
  ];
  return reasons.length === 0 ? null : reasons.join(', ');
}

/** The machine or the vendor failed last. */
function isEnvironment({ lastRunId }: Task, runs: readonly Run[]): boolean {
  const last = runs.find(({ id }) => id === lastRunId);
  return last?.failure != null && isInfrastructure(last.failure);
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** A task at the first try: no gate and no review sent it back. */
export const isFirstPass = (task: Pick<Task, 'landedCommit'>, runs: readonly Run[]): boolean =>
  task.landedCommit !== null &&
  runs.every(({ validationRetries, outcome }) => validationRetries === 0 && outcome !== 'changes_requested') &&
  runs.filter(({ mode, outcome }) => isBuilding(mode) && outcome !== 'interrupted').length <= 1;

/** Always the same for a task, so that a repetition chooses the same. */
const isLookedAt = ({ hash }: Pick<EngineDeps, 'hash'>, task: Task, runs: readonly Run[]): boolean =>
  isFirstPass(task, runs) && Number.parseInt(hash(task.id).slice(0, 6), 16) % CLEAN_SHARE === 0;

/** The beginning of the change. Its branch may be gone when the task has landed. */
async function diffOf({ workspace, onNote }: EngineDeps, { number, branch, head }: Task): Promise<string> {
  if (head === null) return '';
  try {
    return (await workspace.diff({ number, branch }, LONGEST_DIFF)).sections.join('\n');
  } catch (error) {
    onNote(`the change of #${number} cannot be read; the reflection goes on without it`, error);
    return '';
  }
}

/** What a reflection about a task is given. Null when there is nothing to learn. */
export async function reflectionOnTask(deps: EngineDeps, task: Task): Promise<NewReflection | null> {
  const { store, project, workspace } = deps;
  const runs = await store.runs(task.id);
  const changed = await changedFiles(workspace, task);
  const outside = task.files.length === 0 ? [] : changed.filter((file) => !scopesOverlap([file], task.files));
  const why = reasonToReflect(task, runs, outside) ?? (isLookedAt(deps, task, runs) ? WENT_WELL : null);
  if (why === null) return null;
  const found = await store.searchRecords({
    noun: 'trace',
    projectId: project.id,
    tags: [`task:${task.number}`],
    limit: 100,
  });
  const traces = found.map(({ record }) => record).filter(({ type }) => type !== 'question' && type !== 'decision');
  const use = await store.records({ noun: 'lesson_use', parent: task.id });
  return {
    about: { kind: 'task', id: task.id, number: task.number, title: task.title },
    why,
    facts: factsOf(task, runs, {
      changed,
      outside,
      traces,
      diff: await diffOf(deps, task),
      isClean: why === WENT_WELL,
    }),
    files: changed.length > 0 ? changed : task.files,
    traceIds: traces.map(({ id }) => id),
    metrics: metricsOf([{ task, runs, isTaught: use.some(({ lessonIds }) => lessonIds.length > 0) }]),
  };
}

export function metricsOf(done: readonly { task: Task; runs: readonly Run[]; isTaught: boolean }[]): ReflectionMetrics {
  const first = done.filter(({ task, runs }) => isFirstPass(task, runs));
  const begin = Math.min(...done.flatMap(({ task, runs }) => [task.createdAt, ...runs.map((run) => run.startedAt)]));
  const end = Math.max(...done.map(({ task }) => task.stageSince));
  const all = done.flatMap(({ runs }) => runs);
  return {
    tasks: done.length,
    firstPass: first.length,
    taught: done.filter(({ isTaught }) => isTaught).length,
    taughtFirstPass: first.filter(({ isTaught }) => isTaught).length,
    durationMs: done.length === 0 ? 0 : Math.max(0, end - begin),
    tokens: all.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
  };
}

interface Around {
  changed: readonly string[];
  outside: readonly string[];
  traces: readonly Trace[];
  diff: string;
  isClean: boolean;
}

/** Planned and done, in few words: what the two calls cost depends on it. */
function factsOf(task: Task, runs: readonly Run[], { changed, outside, traces, diff, isClean }: Around): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`];
  const told = traces
    .toSorted((a, b) => a.at - b.at)
    .slice(-MOST_TRACES)
    .map(({ type, what, correct }) => cut(`${type}: ${what}${correct ? ` Correct: ${correct}` : ''}`, LONGEST_TRACE));
  const parts = [
    ...(isClean
      ? ['It went as planned. Name the assumption about this repository that held, and what of it is worth repeating.']
      : []),
    `Task: ${task.title}`,
    ...(task.body.trim() === '' ? [] : [cut(task.body, LONGEST_BODY)]),
    ...list(
      'Criteria',
      task.criteria.map(
        ({ id, text, met }) => `${id} ${cut(text, 200)}${met === null ? '' : met ? ' (met)' : ' (not met)'}`,
      ),
    ),
    ...list('Planned files', task.files.slice(0, 20)),
    ...(task.plan.trim() === '' ? [] : [`Plan:\n${cut(task.plan, LONGEST_PLAN)}`]),
    ...list('Changed files', changed.slice(0, 30)),
    ...list('Changed outside the planned files', outside.slice(0, 20)),
    ...list('Runs', runs.map(runLine)),
    ...list('What was recorded', told),
    ...(diff === '' ? [] : [`The change:\n${cut(diff, LONGEST_DIFF)}`]),
    task.landedCommit
      ? 'In the end it landed.'
      : `It has not landed${task.blocked ? `: ${cut(task.blocked.text, 500)}` : ''}.`,
  ];
  return withoutSecrets(parts.join('\n\n')).slice(0, roomFor(runs)).toWellFormed();
}

const LEAST_ROOM = 1_500;
/** A token has about four characters. Both calls get the facts: each may take 1 % of what the work took. */
function roomFor(runs: readonly Run[]): number {
  const tokens = runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0);
  return Math.min(MOST_FACTS, Math.max(LEAST_ROOM, Math.floor(tokens * 0.01 * 4)));
}

function runLine({ mode, outcome, failure, validationRetries, summary }: Run): string {
  const end = failure ?? outcome ?? 'running';
  const back = validationRetries > 0 ? `, sent back by gates ${times(validationRetries)}` : '';
  return cut(`${mode}: ${end}${back}${summary ? `; ${summary}` : ''}`, 300);
}

const cut = (text: string, most: number): string => {
  const line = text.trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}…`;
};
