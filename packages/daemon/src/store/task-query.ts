import type { Task } from '@tidemill/contract';
import type { TaskQuery } from '../ports.ts';
import type { Condition, Query } from './sql-query.ts';
import { searchKey } from './task-columns.ts';

/** Values in one statement: SQLite takes 32,766, Postgres 65,535, and neither likes so many. */
export const MOST_VALUES = 1000;
/** The largest number that fits Postgres' integer; no mill has as many tasks. */
const LARGEST = 2 ** 31 - 1;

/** The query as SQL, the same for every database. */
export function sqlOfTasks(query: TaskQuery): Query {
  const { projectId, stages, ids, numbers, waitingFor, newestFirst, afterNumber, limit } = query;
  const from = afterNumber || undefined;
  const where: Condition[] = [
    ['project_id =', projectId],
    [newestFirst ? 'number <' : 'number >', from],
    ['stage IN', stages],
    ['id IN', ids],
    ['number IN', numbers?.filter((number) => number <= LARGEST)],
    ...wordsOf(query.search).map(({ word, number }): Condition => {
      const values = [`%${word.replace(/[\\%_]/g, '\\$&')}%`, ...(number === null ? [] : [number])];
      return [`(title_key LIKE ? ESCAPE '\\'${number === null ? '' : ' OR number = ?'})`, { values }];
    }),
  ];
  if (waitingFor) {
    const marks = waitingFor.map(() => '?').join(', ') || 'NULL';
    where.push([`id IN (SELECT task_id FROM dependencies WHERE depends_on IN (${marks}))`, { values: waitingFor }]);
  }
  return { where, orderBy: newestFirst ? 'number DESC' : 'number', limit };
}

/** The same over rows at hand, which come ascending by number. */
export function tasksWhere(all: Task[], query: TaskQuery): Task[] {
  const { stages, ids, numbers, waitingFor, newestFirst, afterNumber = 0, limit } = query;
  const words = wordsOf(query.search);
  const found = all.filter((task) => {
    const key = words.length > 0 ? searchKey(task.title) : '';
    return (
      (afterNumber === 0 || (newestFirst ? task.number < afterNumber : task.number > afterNumber)) &&
      (stages?.includes(task.stage) ?? true) &&
      (ids?.includes(task.id) ?? true) &&
      (numbers?.includes(task.number) ?? true) &&
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
    return { word, number: digits && Number(digits) <= LARGEST ? Number(digits) : null };
  });
}
