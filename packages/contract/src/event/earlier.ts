import { type Actor, engineActor, personActor } from '../access/actor.ts';

/**
 * What earlier versions wrote, in the current shape. The log is never rewritten, and a row keeps its old shape until it
 * is saved again: both are converted here on every read.
 */

type Document = Record<string, unknown>;

/** Current event types by their earlier names. */
const RENAMED: Record<string, string> = { 'worker.wished': 'worker.steered' };
/** Nouns whose names were in camel case, in rows and in the types of their events. */
const RENAMED_NOUNS: Record<string, string> = {
  guardProposal: 'guard_proposal',
  trackerItem: 'tracker_item',
  lessonUse: 'lesson_use',
};
/** Names that only the engine used, when an actor was only a name. */
const ENGINE_NAMES = ['Tidemill', 'supervisor', 'delivery', 'budget', 'time', 'learned'];

/** All names of these event types in the log. */
export function storedTypes(types: readonly string[]): string[] {
  const before = Object.keys(RENAMED).filter((name) => types.includes(RENAMED[name]!));
  const ofNouns = Object.entries(RENAMED_NOUNS).flatMap(([earlier, noun]) =>
    types.filter((type) => type.startsWith(`${noun}.`)).map((type) => earlier + type.slice(noun.length)),
  );
  return [...types, ...before, ...ofNouns];
}

function typeToday(stored: string): string | undefined {
  const [noun = '', verb] = stored.split('.');
  return RENAMED[stored] ?? (noun in RENAMED_NOUNS ? `${RENAMED_NOUNS[noun]}.${verb}` : undefined);
}

/** The body of a stored event. A value that is not a document is returned unchanged: the schema reports the fault. */
export function eventToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  const type = typeToday(String(stored.type));
  const renamed = type === undefined ? stored : { ...desiredToday(stored), type };
  const body = actorsToday(OF_SUBJECT.test(String(stored.type)) ? subjectToday(renamed) : renamed);
  // A person's note.
  return isDocument(body.entry) ? { ...body, entry: actorsToday(body.entry) } : body;
}

/** The document of a stored row, of any noun. */
export function rowToday(stored: unknown): unknown {
  if (!isDocument(stored)) return stored;
  const named = nounToday(stored);
  const row = actorsToday(desiredToday('validationRetries' in named ? subjectToday(named) : named));
  const isOld = (entry: unknown) => isDocument(entry) && typeof entry.by === 'string';
  if (!Array.isArray(row.context) || !row.context.some(isOld)) return row;
  return { ...row, context: row.context.map((entry) => (isDocument(entry) ? actorsToday(entry) : entry)) };
}

function nounToday(stored: Document): Document {
  const noun = RENAMED_NOUNS[String(stored.noun)];
  return noun === undefined ? stored : { ...stored, noun };
}

/** The desired state of a worker was called `wish`. */
function desiredToday(stored: Document): Document {
  if (!('wish' in stored)) return stored;
  const { wish, wishedBy, wishedAt, ...rest } = stored;
  return {
    desired: wish,
    ...(typeof wishedBy === 'string' ? { desiredBy: wishedBy === '' ? null : actorToday(wishedBy) } : {}),
    ...(wishedAt === undefined ? {} : { desiredAt: wishedAt }),
    ...rest,
  };
}

/** Runs, and events about runs and leases, were only about tasks. */
const OF_SUBJECT = /^(run|lease|guard)\./;
function subjectToday(stored: Document): Document {
  if (!('taskId' in stored)) return stored;
  const { taskId, ...rest } = stored;
  return { subjectId: taskId, ...rest };
}

/** An actor was only a name. */
function actorsToday(stored: Document): Document {
  const { by, revokedBy, answer } = stored;
  const changed: Document = {};
  if (typeof by === 'string') changed.by = actorToday(by);
  if (typeof revokedBy === 'string') changed.revokedBy = actorToday(revokedBy);
  if (isDocument(answer) && typeof answer.by === 'string') changed.answer = { ...answer, by: actorToday(answer.by) };
  return Object.keys(changed).length === 0 ? stored : { ...stored, ...changed };
}

/** The old data does not say whether a name came with a token. */
const actorToday = (name: string): Actor => (ENGINE_NAMES.includes(name) ? engineActor(name) : personActor(name));

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
