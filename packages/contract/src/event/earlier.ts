/**
 * What earlier versions wrote, in today's shape. The log is never rewritten, and a row keeps its old shape until it is
 * saved again: both are brought up to date here, each time they are read.
 */

type Document = Record<string, unknown>;

/** Today's types by the names they had before. */
const RENAMED: Record<string, string> = { 'worker.wished': 'worker.steered' };

/** The names under which events of these types are in the log. */
export function storedTypes(types: readonly string[]): string[] {
  const before = Object.keys(RENAMED).filter((name) => types.includes(RENAMED[name]!));
  return [...types, ...before];
}

/** The body of a stored event. What is no document is returned as it is: the schema says what is wrong with it. */
export function eventToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  const type = RENAMED[String(stored.type)];
  if (type !== undefined) return { ...desiredToday(stored), type };
  return OF_SUBJECT.test(String(stored.type)) ? subjectToday(stored) : stored;
}

/** The document of a stored row, of any noun. */
export function rowToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  return desiredToday('validationRetries' in stored ? subjectToday(stored) : stored);
}

/** Events about runs and leases, and the runs themselves: they were about tasks only. */
const OF_SUBJECT = /^(run|lease|guard)\./;
function subjectToday(stored: Document): Document {
  if (!('taskId' in stored)) return stored;
  const { taskId, ...rest } = stored;
  return { subjectId: taskId, ...rest };
}

/** A worker's desired state was its `wish`. */
function desiredToday(stored: Document): Document {
  if (!('wish' in stored)) return stored;
  const { wish, wishedBy, wishedAt, ...rest } = stored;
  return {
    ...{ desired: wish },
    ...(wishedBy === undefined ? {} : { desiredBy: wishedBy }),
    ...(wishedAt === undefined ? {} : { desiredAt: wishedAt }),
    ...rest,
  };
}

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
