import type { Task } from '@tidemill/contract';
import { isReady, searchKey } from '@tidemill/core';
import type { TaskQuery } from '../ports.ts';
import { asInteger, compose, isInteger, type Query, type SqlCondition } from './sql-query.ts';

/** Values in one statement: SQLite allows 32,766, Postgres 65,535, and both are slow with so many. */
export const MOST_VALUES = 1000;

const WAITING: SqlCondition = ['ready_role IS NOT NULL AND waiting = 1'];
const strandedIn = (projectId: string): SqlCondition => [
  `id IN (SELECT task_id FROM dependencies JOIN tasks AS c ON c.id = depends_on WHERE c.project_id = ? AND c.stage = 'cancelled')`,
  { values: [projectId] },
];

/** The query as SQL, the same for every database. */
export function sqlOfTasks(query: TaskQuery): Query {
  const { projectId, stages, ids, numbers, waitingFor, isStranded, isWaiting, newestFirst, afterNumber, limit } = query;
  const orderBy = newestFirst ? 'number DESC' : 'number';
  const where: SqlCondition[] = [
    [newestFirst ? 'number <' : 'number >', asInteger(afterNumber || undefined)],
    ['stage IN', stages],
    ...(isWaiting ? [WAITING] : []),
    ...(isStranded ? [strandedIn(projectId)] : []),
    ...wordsOf(query.search).map(({ word, number }): SqlCondition => {
      const values = [`%${word.replace(/[\\%_]/g, '\\$&')}%`, ...(number === null ? [] : [number])];
      return [`(title_key LIKE ? ESCAPE '\\'${number === null ? '' : ' OR number = ?'})`, { values }];
    }),
  ];
  const named: SqlCondition[] = [
    ['id IN', ids],
    ['number IN', numbers?.filter(isInteger)],
  ];
  if (waitingFor) {
    const marks = waitingFor.map(() => '?').join(', ') || 'NULL';
    named.push([`id IN (SELECT task_id FROM dependencies WHERE depends_on IN (${marks}))`, { values: waitingFor }]);
  }
  // Written so that the planner does not use the project's index, and read every task, when a few ids are given.
  if (ids ?? waitingFor) return { where: [["project_id || '' =", projectId], ...named, ...where], orderBy, limit };
  const mine: SqlCondition = ['project_id =', projectId];
  if (numbers || limit === undefined) return { where: [mine, ...named, ...where], orderBy, limit };
  // Filtered by the index alone: documents may be long, and only those of the page are read.
  const { sql, values } = compose('SELECT id FROM tasks', { where: [mine, ...where], orderBy, limit });
  return { where: [[`id IN (${sql})`, { values }]], orderBy };
}

/** The same for rows in memory, ascending by number. */
export function tasksWhere(all: Task[], query: TaskQuery): Task[] {
  const { stages, ids, numbers, waitingFor, isStranded, isWaiting, newestFirst, afterNumber = 0, limit } = query;
  const cancelled = new Set(isStranded && all.flatMap(({ id, stage }) => (stage === 'cancelled' ? [id] : [])));
  const words = wordsOf(query.search);
  const found = all.filter((task) => {
    const key = words.length > 0 ? searchKey(task.title) : '';
    return (
      (afterNumber === 0 || (newestFirst ? task.number < afterNumber : task.number > afterNumber)) &&
      (stages?.includes(task.stage) ?? true) &&
      (ids?.includes(task.id) ?? true) &&
      (numbers?.includes(task.number) ?? true) &&
      (!isStranded || task.dependsOn.some((id) => cancelled.has(id))) &&
      (!isWaiting || (isReady(task) && task.waiting !== null)) &&
      (waitingFor?.some((id) => task.dependsOn.includes(id)) ?? true) &&
      words.every(({ word, number }) => key.includes(word) || task.number === number)
    );
  });
  return (newestFirst ? found.reverse() : found).slice(0, limit);
}

function wordsOf(search = ''): { word: string; number: number | null }[] {
  const words = searchKey(search)
    .split(/\s+/)
    .filter((word) => word !== '');
  return [...new Set(words)].map((word) => {
    const digits = /^#?(\d{1,10})$/.exec(word)?.[1];
    return { word, number: digits && isInteger(Number(digits)) ? Number(digits) : null };
  });
}
