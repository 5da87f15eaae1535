import {
  type Actor,
  ENGINE,
  type EventBody,
  isActiveLesson,
  knowledgeId,
  type Lesson,
  type LessonDraft,
  type LessonOrigin,
  lessonName,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { findLesson, ofLesson } from './lesson.ts';
import { matchesEverything, problemOfLesson } from './problem.ts';
import { alikeLessons, SAME_WORDS, twinOf } from './similar.ts';

/** Seen once by an agent. */
const DISCOVERED = 0.7;
/** Seen in two tasks, or said by a person. */
const SEEN_TWICE = 0.85;
/** More would bury those that are useful. */
const MOST_ACTIVE = 500;
/** Agents record at most this many within 24 hours, and one run at most MOST_PER_RUN. */
export const MOST_PER_DAY = 50;
const MOST_PER_RUN = 3;
/** How often agents may reword one that does not help. */
const MOST_VERSIONS = 4;
/** What a lesson gains when it is seen again, and loses when it does not help. */
export const STEP = 0.05;
const DAY_MS = 24 * 3_600_000;
const MOST_PATTERNS = 10;

const isTrusted = ({ kind }: Actor) => kind === 'person' || kind === 'token';

/** The one way in: what is new is recorded, what is known is confirmed or superseded, never doubled. */
export function recordLesson(slice: Slice, command: CommandOf<'lesson.record'>, env: DecideEnv): Decision {
  const { projectId, lessonId, draft, origin } = command;
  // A reactor may repeat its command.
  if (slice.record('lesson', lessonId)) return accept();
  if (!isTrusted(origin.by) && slice.projects.get(projectId)?.rules.learning?.enabled === false)
    return refuse('conflict', 'learning is switched off', 'learning.enabled in .tidemill/config.yaml switches it on');
  const problem = problemOfLesson(draft, origin.by);
  if (problem) return refuse('bad_input', problem.message, problem.hint);
  const active = slice
    .list('openRecords', projectId, 'lesson')
    .filter((record): record is Lesson => record.noun === 'lesson');
  const twin = twinOf(alikeLessons(draft, active));
  if (twin?.isOpposite) return contradict(command, twin.lesson);
  if (twin) return again(slice, command, twin.lesson, twin.likeness);
  const limit = limitOf(slice, command, active, env);
  if (!limit.ok) return limit;
  return accept(...limit.events, recorded(slice, command, {}));
}

/** The known lesson stays. A person is asked to retire it first; that an agent says the opposite is counted. */
function contradict(command: CommandOf<'lesson.record'>, known: Lesson): Decision {
  const { draft, origin } = command;
  const contradicted: EventBody = { type: 'lesson.contradicted', ...ofLesson(known), text: draft.text, by: origin.by };
  if (!isTrusted(origin.by)) return accept(contradicted);
  return refuse(
    'conflict',
    `lesson ${lessonName(known)} says the opposite: ${known.text}`,
    `Retire it first: tidemill memory retire ${lessonName(known)} --why "…"`,
  );
}

function again(slice: Slice, command: CommandOf<'lesson.record'>, known: Lesson, likeness: number): Decision {
  const { draft, origin } = command;
  const confidence = isTrusted(origin.by) ? SEEN_TWICE : DISCOVERED;
  const hasNewWords = likeness < SAME_WORDS;
  if (confidence <= known.confidence || !hasNewWords) return confirmed(known, origin, draft.filePatterns);
  if (!isTrusted(origin.by) && known.version >= MOST_VERSIONS)
    return refuse(
      'conflict',
      `lesson ${lessonName(known)} was worded in ${known.version} ways, and none of them helped`,
      'Another wording is unlikely to help. A person can edit or retire it.',
    );
  const number = slice.record('knowledge', knowledgeId(command.projectId))?.nextLesson ?? 1;
  return accept(
    recorded(slice, command, { occurrences: known.occurrences + 1, origin: joined(known.origin, origin) }),
    {
      type: 'lesson.superseded',
      ...ofLesson(known),
      byId: command.lessonId,
      byNumber: number,
    },
  );
}

function recorded(
  slice: Slice,
  { projectId, lessonId, draft, origin, control }: CommandOf<'lesson.record'>,
  more: { occurrences?: number; origin?: LessonOrigin },
): EventBody {
  const { occurrences = 1 } = more;
  const isSure = isTrusted(origin.by) || occurrences > 1;
  return {
    type: 'lesson.recorded',
    lessonId,
    number: slice.record('knowledge', knowledgeId(projectId))?.nextLesson ?? 1,
    draft,
    confidence: isSure ? SEEN_TWICE : DISCOVERED,
    stage: isSure ? 'validated' : 'experiment',
    occurrences,
    origin: more.origin ?? origin,
    control: { good: Math.min(control.good, control.total), total: control.total },
  };
}

export function confirmLesson(slice: Slice, command: CommandOf<'lesson.confirm'>): Decision {
  const found = findLesson(slice, command);
  if (!found.ok) return found;
  if (!isActiveLesson(found.lesson))
    return refuse('conflict', `lesson ${lessonName(found.lesson)} is not in use`, 'restore it first');
  return confirmed(found.lesson, command.origin, []);
}

/** Seen again. The same task counts once, so that nobody confirms itself. */
function confirmed(known: Lesson, origin: LessonOrigin, filePatterns: readonly string[]): Decision {
  const isNew = isTrusted(origin.by) || origin.taskIds.some((id) => !known.origin.taskIds.includes(id));
  if (!isNew) return accept();
  const occurrences = known.occurrences + 1;
  // One that was lowered because it did not help gets another try step by step: what it is about still happens.
  const isLowered = known.confidence < DISCOVERED && !isTrusted(origin.by);
  const confidence = isLowered ? raised(known.confidence) : Math.max(known.confidence, SEEN_TWICE);
  const event: EventBody = {
    type: 'lesson.confirmed',
    ...ofLesson(known),
    confidence,
    occurrences,
    origin: joined(known.origin, origin),
    filePatterns: joinedPatterns(known.filePatterns, filePatterns),
  };
  if (known.stage !== 'experiment' || isLowered) return accept(event);
  const why = isTrusted(origin.by) ? 'a person confirmed it' : `seen in ${occurrences} tasks`;
  return accept(event, {
    type: 'lesson.advanced',
    ...ofLesson(known),
    from: 'experiment',
    to: 'validated',
    why,
    proof: null,
    by: ENGINE,
  });
}

const raised = (confidence: number) => Math.round((confidence + STEP) * 100) / 100;

const joinedPatterns = (known: readonly string[], more: readonly string[]): string[] =>
  known.length === 0
    ? []
    : [...new Set([...known, ...more.filter((pattern) => !matchesEverything(pattern))])].slice(0, MOST_PATTERNS);

function joined(known: LessonOrigin, more: LessonOrigin): LessonOrigin {
  const both = (a: string[], b: string[]) => [...new Set([...a, ...b])].slice(-100);
  return {
    traceIds: both(known.traceIds, more.traceIds),
    taskIds: both(known.taskIds, more.taskIds),
    runId: more.runId ?? known.runId,
    by: more.by,
  };
}

/** Whether there is room; where it is full, the weakest experiment makes some. */
function limitOf(
  slice: Slice,
  { projectId, origin }: CommandOf<'lesson.record'>,
  active: readonly Lesson[],
  { now }: DecideEnv,
): Decision {
  if (!isTrusted(origin.by)) {
    const { recorded: times = [] } = slice.record('knowledge', knowledgeId(projectId)) ?? {};
    if (times.filter((at) => at > now - DAY_MS).length >= MOST_PER_DAY)
      return refuse('too_large', `agents have recorded ${MOST_PER_DAY} lessons within 24 hours`, 'Try again tomorrow.');
    const ofRun = active.filter(({ origin: { runId } }) => runId !== null && runId === origin.runId).length;
    if (ofRun >= MOST_PER_RUN)
      return refuse('too_large', `this run has recorded ${MOST_PER_RUN} lessons`, 'Keep the most important ones.');
  }
  if (active.length < MOST_ACTIVE) return accept();
  const weakest = active
    .filter(({ stage, promoted }) => stage === 'experiment' && promoted === null)
    .sort((a, b) => a.confidence - b.confidence || (a.lastUsedAt ?? 0) - (b.lastUsedAt ?? 0) || a.number - b.number)[0];
  if (!weakest)
    return refuse('too_large', `there are ${MOST_ACTIVE} lessons`, 'Retire some: tidemill memory list --unused');
  const why = `there are ${MOST_ACTIVE} lessons, and this is the weakest experiment`;
  return accept({ type: 'lesson.retired', ...ofLesson(weakest), why, by: ENGINE });
}

/** Only the fields of a draft. */
export const draftOf = ({ kind, text, why, filePatterns, action, topics, scope }: LessonDraft): LessonDraft => ({
  kind,
  text,
  why,
  filePatterns,
  action,
  topics,
  scope,
});
