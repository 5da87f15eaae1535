import type { SpecDraft, SpecTask } from '@tidemill/contract';
import { sameNumber } from './migration.ts';
import { cycleIn } from './order.ts';

/** A larger one cannot be read by a person, and its approval is one transaction. */
const MOST_SPEC_TASKS = 500;
/** An agent gets the first faults; more would not help it. */
const MOST_FAULTS = 20;

/** Why a specification cannot be used: each fault names its place and what would be right. Empty when it can. */
export function specFaults(draft: SpecDraft): string[] {
  const { tasks, requirements } = draft;
  if (tasks.length > MOST_SPEC_TASKS)
    return [
      `it has ${tasks.length} tasks; a specification has at most ${MOST_SPEC_TASKS}: split it into several specifications`,
    ];
  return [
    ...(requirements.length === 0 ? ['it has no requirements: name at least one'] : []),
    ...repeated('requirement', requirements),
    ...repeated('task', tasks),
    ...sameTitles(tasks),
    ...sameMigrations(draft),
    ...draft.files.flatMap(({ path }) => outside('files', path)),
    ...tasks.flatMap((task) => taskFaults(task, draft)),
    ...uncovered(draft),
    ...cycle(tasks),
  ].slice(0, MOST_FAULTS);
}

function repeated(what: string, items: readonly { id: string }[]): string[] {
  const seen = new Set<string>();
  const twice = new Set(items.filter(({ id }) => seen.has(id) || !seen.add(id)).map(({ id }) => id));
  return [...twice].map((id) => `two ${what}s are called ${id}: give each its own id`);
}

function sameTitles(tasks: readonly SpecTask[]): string[] {
  const first = new Map<string, string>();
  return tasks.flatMap(({ id, title }) => {
    const key = title.toLowerCase().replace(/\s+/g, ' ');
    const other = first.get(key);
    if (other === undefined) first.set(key, id);
    return other === undefined || other === id
      ? []
      : [`tasks ${other} and ${id} have the same title "${title}": remove one, or say how they differ`];
  });
}

/** Both would be built, and only one of them would run. */
function sameMigrations({ tasks, files }: SpecDraft): string[] {
  const created = [
    ...files.filter(({ change }) => change === 'create').map(({ path }) => path),
    ...tasks.filter(({ action }) => action === 'create').flatMap((task) => task.files),
  ];
  const seen = new Set<string>();
  return created.flatMap((path) => {
    const other = seen.has(path) ? null : sameNumber(path, seen);
    seen.add(path);
    return other === null ? [] : [`${path} and ${other} have the same number: give each migration its own`];
  });
}

function taskFaults(task: SpecTask, { requirements, tasks }: SpecDraft): string[] {
  const unknown = (what: string, names: string[], known: readonly { id: string }[]) => {
    if (names.length === 0) return [];
    const ids = idsOf(known);
    return names
      .filter((name) => !ids.has(name))
      .map((name) => `task ${task.id} names the ${what} ${name}, which does not exist`);
  };
  return [
    ...task.files.flatMap((path) => outside(`task ${task.id}`, path)),
    ...unknown('task', task.dependsOn, tasks),
    ...unknown('requirement', task.requirements, requirements),
  ];
}

const KNOWN = new WeakMap<readonly { id: string }[], Set<string>>();
/** The ids of a list, computed once: every task compares its names with the same two lists. */
function idsOf(list: readonly { id: string }[]): Set<string> {
  const known = KNOWN.get(list) ?? new Set(list.map(({ id }) => id));
  KNOWN.set(list, known);
  return known;
}

/** A path must be inside the repository, and not in git's or Tidemill's own folder. */
function outside(where: string, path: string): string[] {
  const why = outsideReason(path);
  return why === null ? [] : [`${where}: the file "${path}" ${why}`];
}

function outsideReason(path: string): string | null {
  const parts = path.replaceAll('\\', '/').split('/');
  if (path.startsWith('/') || path.startsWith('~') || /^[a-z]:/i.test(path))
    return 'is not in the repository: write the path from its root';
  if (parts.includes('..')) return 'leaves the repository: write the path from its root, without ".."';
  if (parts[0] === '.git') return 'belongs to git: no task may change it';
  return null;
}

function uncovered({ requirements, tasks, ambiguities, architectures }: SpecDraft): string[] {
  // A draft that asks first may leave its tasks for the next round.
  if (ambiguities.length + architectures.length > 0) return [];
  if (tasks.length === 0) return ['it has no tasks: name at least one'];
  const covered = new Set(tasks.flatMap(({ requirements: names }) => names));
  return requirements
    .filter(({ id }) => !covered.has(id))
    .map(({ id }) => `no task names the requirement ${id}: add it to a task's "requirements", or add a task`);
}

function cycle(tasks: readonly SpecTask[]): string[] {
  const found = cycleIn(tasks);
  return found === null ? [] : [`tasks wait for each other: ${found.join(' → ')}; remove one of these dependencies`];
}
