import { type Actor, engineActor, personActor } from '../actor.ts';

/**
 * What earlier versions wrote, in today's shape. The log is never rewritten, and a row keeps its old shape until it is
 * saved again: both are brought up to date here, each time they are read.
 */

type Document = Record<string, unknown>;

/** Today's types by the names they had before. */
const RENAMED: Record<string, string> = { 'worker.wished': 'worker.steered' };
/** Names that only the engine signed with, while an actor was no more than a name. */
const ENGINE_NAMES = ['Tidemill', 'supervisor', 'delivery', 'budget', 'time', 'learned'];

/** The names under which events of these types are in the log. */
export function storedTypes(types: readonly string[]): string[] {
  const before = Object.keys(RENAMED).filter((name) => types.includes(RENAMED[name]!));
  return [...types, ...before];
}

/** The body of a stored event. What is no document is returned as it is: the schema says what is wrong with it. */
export function eventToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  const type = RENAMED[String(stored.type)];
  const renamed = type === undefined ? stored : { ...desiredToday(stored), type };
  const body = actorsToday(OF_SUBJECT.test(String(stored.type)) ? subjectToday(renamed) : renamed);
  // The note of a person.
  return isDocument(body.entry) ? { ...body, entry: actorsToday(body.entry) } : body;
}

/** The document of a stored row, of any noun. */
export function rowToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  const row = actorsToday(desiredToday('validationRetries' in stored ? subjectToday(stored) : stored));
  const isOld = (entry: unknown) => isDocument(entry) && typeof entry.by === 'string';
  if (!Array.isArray(row.context) || !row.context.some(isOld)) return row;
  return { ...row, context: row.context.map((entry) => (isDocument(entry) ? actorsToday(entry) : entry)) };
}

/** A worker's desired state was its `wish`. */
function desiredToday(stored: Document): Document {
  if (!('wish' in stored)) return stored;
  const { wish, wishedBy, wishedAt, ...rest } = stored;
  return {
    ...{ desired: wish },
    ...(typeof wishedBy === 'string' ? { desiredBy: wishedBy === '' ? null : actorToday(wishedBy) } : {}),
    ...(wishedAt === undefined ? {} : { desiredAt: wishedAt }),
    ...rest,
  };
}

/** Events about runs and leases, and the runs themselves: they were about tasks only. */
const OF_SUBJECT = /^(run|lease|guard)\./;
function subjectToday(stored: Document): Document {
  if (!('taskId' in stored)) return stored;
  const { taskId, ...rest } = stored;
  return { subjectId: taskId, ...rest };
}

/** Whoever did something was a name. */
function actorsToday(stored: Document): Document {
  const { by, revokedBy, answer } = stored;
  const changed: Document = {};
  if (typeof by === 'string') changed.by = actorToday(by);
  if (typeof revokedBy === 'string') changed.revokedBy = actorToday(revokedBy);
  if (isDocument(answer) && typeof answer.by === 'string') changed.answer = { ...answer, by: actorToday(answer.by) };
  return Object.keys(changed).length === 0 ? stored : { ...stored, ...changed };
}

/** Nobody wrote down whether a name had come with a token. */
const actorToday = (name: string): Actor => (ENGINE_NAMES.includes(name) ? engineActor(name) : personActor(name));

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
