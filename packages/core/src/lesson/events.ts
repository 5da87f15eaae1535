import {
  type KnowledgeBase,
  knowledgeId,
  type Lesson,
  type LessonUse,
  lessonUseId,
  type Tally,
} from '@tidemill/contract';
import type { Happened, Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { draftOf, MOST_PER_DAY } from './record.ts';

const NOTHING = { injected: 0, helped: 0, hurt: 0, control: { good: 0, total: 0 }, contradicted: 0 };

export const lessonEvents = {
  'lesson.recorded': (slice, body, happened) => {
    const { lessonId: id, number, draft, confidence, stage, occurrences, origin, control } = body;
    slice.records.put({
      noun: 'lesson',
      id,
      projectId: happened.projectId,
      number,
      ...draftOf(draft),
      confidence,
      occurrences,
      supersededBy: null,
      stage,
      version: 1,
      origin,
      ...NOTHING,
      control,
      lastUsedAt: null,
      replayId: null,
      proof: null,
      promoted: null,
      retiredWhy: null,
      createdAt: happened.at,
    });
    changeBase(slice, happened, ({ recorded }) => ({
      nextLesson: number + 1,
      recorded: origin.by.kind === 'agent' ? [...recorded, happened.at].slice(-MOST_PER_DAY) : recorded,
    }));
  },
  'lesson.confirmed': (slice, { lessonId, confidence, occurrences, origin, filePatterns }) =>
    changeLesson(slice, lessonId, () => ({ confidence, occurrences, origin, filePatterns })),
  'lesson.superseded': (slice, { lessonId, byId }) => {
    const version = slice.record('lesson', lessonId)?.version ?? 0;
    changeLesson(slice, lessonId, () => ({ supersededBy: byId }));
    changeLesson(slice, byId, () => ({ version: version + 1 }));
  },
  'lesson.contradicted': (slice, { lessonId }) =>
    changeLesson(slice, lessonId, ({ contradicted }) => ({ contradicted: contradicted + 1 })),
  'lesson.refused': (slice, { fault }, happened) =>
    changeBase(slice, happened, ({ refused }) => ({
      refused: [...refused, { at: happened.at, fault }].slice(-MOST_PER_DAY),
    })),
  'lesson.edited': (slice, { lessonId, draft, version, beginsAgain }) =>
    changeLesson(slice, lessonId, (lesson) => ({
      ...draftOf(draft),
      version,
      ...(beginsAgain
        ? { ...NOTHING, control: lesson.control, replayId: null, proof: null, ...stageAgain(lesson) }
        : {}),
    })),
  'lesson.injected': (slice, { taskId, runId, files, lessonIds, heldBackIds }, { projectId, at }) => {
    for (const id of lessonIds) changeLesson(slice, id, ({ injected }) => ({ injected: injected + 1, lastUsedAt: at }));
    const use: LessonUse = {
      noun: 'lesson_use',
      id: lessonUseId(runId),
      projectId,
      runId,
      taskId,
      files,
      lessonIds,
      heldBackIds,
      verdict: null,
      why: '',
      at,
    };
    slice.records.put(use);
  },
  'lesson.settled': (slice, { runId, verdict, why, confidences }, happened) => {
    const use = slice.record('lesson_use', lessonUseId(runId));
    if (!use) return;
    slice.records.put({ ...use, verdict, why });
    for (const [id, confidence] of Object.entries(confidences)) changeLesson(slice, id, () => ({ confidence }));
    if (verdict === 'neither') return;
    const isGood = verdict === 'helped';
    for (const id of use.lessonIds)
      changeLesson(slice, id, ({ helped, hurt }) => (isGood ? { helped: helped + 1 } : { hurt: hurt + 1 }));
    for (const id of use.heldBackIds) changeLesson(slice, id, ({ control }) => ({ control: counted(control, isGood) }));
    changeBase(slice, happened, ({ runs }) => ({ runs: counted(runs, isGood) }));
  },
  'lesson.advanced': (slice, { lessonId, to, proof }) =>
    changeLesson(slice, lessonId, (lesson) => ({
      stage: to,
      proof: proof ?? lesson.proof,
      replayId: proof?.replayId ?? lesson.replayId,
    })),
  'lesson.promoted': (slice, { lessonId, file, taskId }) =>
    changeLesson(slice, lessonId, () => ({ promoted: { file, taskId } })),
  'lesson.demoted': (slice, { lessonId }) => changeLesson(slice, lessonId, () => ({ promoted: null })),
  'lesson.retired': (slice, { lessonId, why }) =>
    changeLesson(slice, lessonId, () => ({ stage: 'retired', retiredWhy: why })),
  'lesson.restored': (slice, { lessonId, confidence }) =>
    changeLesson(slice, lessonId, () => ({ stage: 'experiment', retiredWhy: null, confidence, ...NOTHING })),
} satisfies Reductions;

/** What a person worded is not an experiment; what was proven with other words is. */
const stageAgain = ({ stage }: Lesson): Partial<Lesson> => (stage === 'production' ? { stage: 'experiment' } : {});

const counted = ({ good, total }: Tally, isGood: boolean): Tally => ({
  good: good + (isGood ? 1 : 0),
  total: total + 1,
});

function changeLesson(slice: Slice, id: string, change: (lesson: Lesson) => Partial<Lesson>): void {
  const lesson = slice.record('lesson', id);
  if (lesson) slice.records.put({ ...lesson, ...change(lesson) });
}

function changeBase(
  slice: Slice,
  { projectId }: Happened,
  change: (base: KnowledgeBase) => Partial<KnowledgeBase>,
): void {
  const id = knowledgeId(projectId);
  const known: KnowledgeBase = slice.record('knowledge', id) ?? {
    noun: 'knowledge',
    id,
    projectId,
    nextLesson: 1,
    runs: { good: 0, total: 0 },
    recorded: [],
    refused: [],
  };
  slice.records.put({ ...known, ...change(known) });
}
