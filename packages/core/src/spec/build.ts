import {
  elapsed,
  type RequirementVerdict,
  type Run,
  type Spec,
  type SpecDraft,
  type SpecTaskLink,
  type Task,
} from '@tidemill/contract';

/** More failed tasks than this stop the building. */
const MOST_FAILED = 3;

export type BuiltTask = Pick<Task, 'id' | 'number' | 'title' | 'stage' | 'lease' | 'blocked'>;

export interface BuildState {
  done: number;
  total: number;
  /** The tasks that are blocked. */
  failed: BuiltTask[];
  /** No worker has begun them. */
  unstarted: BuiltTask[];
  hasStarted: boolean;
  isComplete: boolean;
}

/** How far the tasks of a specification are. Cancelled ones no longer count. */
export function buildState({ tasks }: Pick<Spec, 'tasks'>, rows: ReadonlyMap<string, BuiltTask>): BuildState {
  const all = tasks.flatMap(({ taskId }) => rows.get(taskId) ?? []);
  const counted = all.filter(({ stage }) => stage !== 'cancelled');
  const done = counted.filter(({ stage }) => stage === 'done').length;
  const unstarted = counted.filter(({ stage, lease }) => stage === 'open' && lease === null);
  return {
    done,
    total: counted.length,
    failed: counted.filter(({ stage }) => stage === 'blocked'),
    unstarted,
    hasStarted: unstarted.length < counted.length,
    isComplete: counted.length > 0 && done === counted.length,
  };
}

/** Why the building must stop; null when it may go on. */
export function abortReason(
  spec: Pick<Spec, 'tasks'>,
  { failed, isComplete }: BuildState,
  { workedMs, limitMs }: { workedMs: number; limitMs: number },
): string | null {
  if (isComplete) return null;
  const numbers = (tasks: BuiltTask[]) => tasks.map(({ number }) => `#${number}`).join(', ');
  if (failed.length > MOST_FAILED) return `${failed.length} tasks are blocked: ${numbers(failed)}`;
  const ofDatabase = new Set(spec.tasks.filter(({ phase }) => phase === 'database').map(({ taskId }) => taskId));
  const critical = failed.filter(({ id }) => ofDatabase.has(id));
  if (critical.length > 0) return `a task of the database phase is blocked: ${numbers(critical)}`;
  if (workedMs <= limitMs) return null;
  return `agents have worked on it for more than ${elapsed(limitMs)}, which is the limit \`specs.buildLimit\``;
}

/** The time in which at least one of the runs worked, since a time. A lost worker counts until it was last seen. */
export function workedTime(
  runs: readonly Pick<Run, 'startedAt' | 'endedAt' | 'lostAt'>[],
  since: number,
  now: number,
): number {
  const spans = runs
    .map(({ startedAt, endedAt, lostAt }) => ({ from: Math.max(since, startedAt), to: lostAt ?? endedAt ?? now }))
    .sort((a, b) => a.from - b.from);
  let [total, covered] = [0, since];
  for (const { from, to } of spans) {
    total += Math.max(0, to - Math.max(from, covered));
    covered = Math.max(covered, to);
  }
  return total;
}

export interface RequirementProgress {
  id: string;
  kind: string;
  text: string;
  tasks: { key: string; taskId: string | null }[];
  done: number;
  total: number;
  verdict: RequirementVerdict | null;
}

/** How far each requirement is. Before approval there are tasks in the document only. */
export function requirementProgress(
  draft: Pick<SpecDraft, 'requirements' | 'tasks'>,
  { tasks, verdicts }: Pick<Spec, 'tasks' | 'verdicts'>,
  stages: ReadonlyMap<string, string>,
): RequirementProgress[] {
  const links = new Map(tasks.map((link) => [link.key, link]));
  return draft.requirements.map(({ id, kind, text }) => {
    const named = tasks.length > 0 ? tasksOf(tasks, id) : keysOf(draft, id);
    const own = named.map((key) => ({ key, taskId: links.get(key)?.taskId ?? null }));
    const counted = own.filter(({ taskId }) => taskId === null || stages.get(taskId) !== 'cancelled');
    return {
      ...{ id, kind, text },
      tasks: own,
      done: counted.filter(({ taskId }) => taskId !== null && stages.get(taskId) === 'done').length,
      total: counted.length,
      verdict: verdicts.find(({ requirement }) => requirement === id) ?? null,
    };
  });
}

const tasksOf = (tasks: readonly SpecTaskLink[], id: string) =>
  tasks.filter(({ requirements }) => requirements.includes(id)).map(({ key }) => key);
const keysOf = ({ tasks }: Pick<SpecDraft, 'tasks'>, id: string) =>
  tasks.filter(({ requirements }) => requirements.includes(id)).map((task) => task.id);
