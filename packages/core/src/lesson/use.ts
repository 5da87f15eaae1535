import {
  ENGINE,
  type EventBody,
  isActiveLesson,
  knowledgeId,
  type Lesson,
  lessonName,
  lessonUseId,
  type Tally,
} from '@tidemill/contract';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { ofLesson } from './lesson.ts';
import { baseRateOf, boundsOf, LIKELY, ratedRuns } from './rate.ts';
import { STEP } from './record.ts';

/** With fewer measured runs no bound decides. */
const ENOUGH_RUNS = 3;
const PREVENTED = 0.95;
const LEAST = 0.1;

/** What a run was given. A repetition changes nothing. */
export function injectLessons(slice: Slice, command: CommandOf<'lesson.inject'>): Decision {
  const { runId, taskId, files, lessonIds, heldBackIds } = command;
  if (slice.record('lesson_use', lessonUseId(runId))) return accept();
  const given = lessonIds
    .map((id) => slice.record('lesson', id))
    .filter((lesson): lesson is Lesson => lesson !== undefined && isActiveLesson(lesson));
  return accept({
    type: 'lesson.injected',
    taskId,
    runId,
    files,
    lessonIds: given.map(({ id }) => id),
    heldBackIds,
    names: given.map(lessonName),
  });
}

/** The run's result is known: its lessons are counted, lowered, raised or retired. Once per run. */
export function settleLessons(slice: Slice, command: CommandOf<'lesson.settle'>): Decision {
  const { projectId, runId, taskId, lessonIds, verdict, why } = command;
  const use = slice.record('lesson_use', lessonUseId(runId));
  if (!use) return refuse('not_found', `run ${runId} was given no lessons`);
  if (use.verdict !== null) return accept();
  const missing = [...use.lessonIds, ...use.heldBackIds].filter((id) => !lessonIds.includes(id));
  if (missing.length > 0) return refuse('bad_input', `lessons ${missing.join(', ')} of run ${runId} are not named`);
  const settled = (confidences: Record<string, number>): EventBody => ({
    type: 'lesson.settled',
    taskId,
    runId,
    verdict,
    why,
    confidences,
  });
  if (verdict === 'neither') return accept(settled({}));
  const isGood = verdict === 'helped';
  const before = slice.record('knowledge', knowledgeId(projectId))?.runs ?? { good: 0, total: 0 };
  const runs: Tally = { good: before.good + (isGood ? 1 : 0), total: before.total + 1 };
  const confidences: Record<string, number> = {};
  const after: EventBody[] = [];
  for (const id of use.lessonIds) {
    const known = slice.record('lesson', id);
    if (!known || !isActiveLesson(known)) continue;
    const lesson = isGood ? { ...known, helped: known.helped + 1 } : { ...known, hurt: known.hurt + 1 };
    const judged = judge(lesson, runs, isGood);
    if (judged.confidence !== known.confidence) confidences[id] = judged.confidence;
    after.push(...judged.events);
  }
  return accept(settled(confidences), ...after);
}

function judge(lesson: Lesson, runs: Tally, isGood: boolean): { confidence: number; events: EventBody[] } {
  const rated = ratedRuns(lesson);
  const base = baseRateOf(lesson, runs);
  const { low, high } = boundsOf(rated);
  const figures = `${rated.good} of ${rated.total} runs with it ended well, ${Math.round(base * 100)} % do without it`;
  const { confidence } = lesson;
  const isKnown = rated.total >= ENOUGH_RUNS;
  // A replay has shown a gain, so the figures must show twice that it is gone.
  if (isKnown && high < base && lesson.stage !== 'production')
    return { confidence, events: [{ type: 'lesson.retired', ...ofLesson(lesson), why: figures, by: ENGINE }] };
  if (isGood && isKnown && low > base) {
    const on = { type: 'lesson.advanced', from: lesson.stage, to: 'validated', proof: null, by: ENGINE } as const;
    const events: EventBody[] = lesson.stage === 'experiment' ? [{ ...on, ...ofLesson(lesson), why: figures }] : [];
    return { confidence: Math.max(confidence, PREVENTED), events };
  }
  if (isGood) return { confidence, events: [] };
  const isBelow = boundsOf(rated, LIKELY).high < base;
  const lowered = isBelow ? Math.max(LEAST, Math.round((confidence - STEP) * 100) / 100) : confidence;
  const hasFallen = lesson.stage !== 'experiment' && isKnown && isBelow;
  if (!hasFallen) return { confidence: lowered, events: [] };
  const back = { type: 'lesson.advanced', from: lesson.stage, to: 'experiment', proof: null, by: ENGINE } as const;
  return { confidence: lowered, events: [{ ...back, ...ofLesson(lesson), why: figures }] };
}
