import {
  isActiveLesson,
  type Lesson,
  type LessonDraft,
  type LessonStage,
  lessonName,
  type Refusal,
} from '@tidemill/contract';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { problemOfLesson } from './problem.ts';

type Found = { ok: true; lesson: Lesson } | { ok: false; refusal: Refusal };

/** A replay with fewer pairs shows nothing. */
const LEAST_PAIRS = 5;
/** A lesson goes into a file of instructions from here on. */
const PROMOTE_FROM = { confidence: 0.9, occurrences: 3 };
const RESTORED = 0.7;

export const ofLesson = ({ id, number }: Lesson) => ({ lessonId: id, number });

export function findLesson(slice: Slice, { projectId, lessonId }: { projectId: string; lessonId: string }): Found {
  const lesson = slice.record('lesson', lessonId);
  if (lesson?.projectId === projectId) return { ok: true, lesson };
  const hint = '`tidemill memory list` shows them';
  return { ok: false, refusal: { code: 'not_found', message: `there is no lesson ${lessonId}`, hint } };
}

function findActive(slice: Slice, command: { projectId: string; lessonId: string }): Found {
  const found = findLesson(slice, command);
  if (!found.ok || isActiveLesson(found.lesson)) return found;
  const { lesson } = found;
  const state = lesson.stage === 'retired' ? 'retired' : 'superseded by another one';
  const message = `lesson ${lessonName(lesson)} is ${state}`;
  const hint = lesson.stage === 'retired' ? `tidemill memory restore ${lessonName(lesson)}` : '';
  return { ok: false, refusal: { code: 'conflict', message, hint } };
}

export function editLesson(slice: Slice, command: CommandOf<'lesson.edit'>): Decision {
  const found = findActive(slice, command);
  if (!found.ok) return found;
  const { lesson } = found;
  const { change, by } = command;
  const draft: LessonDraft = {
    kind: lesson.kind,
    text: change.text ?? lesson.text,
    why: change.why ?? lesson.why,
    filePatterns: change.filePatterns ?? lesson.filePatterns,
    action: change.action === undefined ? lesson.action : change.action,
    topics: change.topics ?? lesson.topics,
    scope: change.scope ?? lesson.scope,
  };
  const problem = problemOfLesson(draft, by);
  if (problem) return refuse('bad_input', problem.message, problem.hint);
  const beginsAgain = draft.text !== lesson.text;
  if (!beginsAgain && isSame(draft, lesson)) return accept();
  const version = lesson.version + (beginsAgain ? 1 : 0);
  return accept({ type: 'lesson.edited', ...ofLesson(lesson), draft, version, beginsAgain, by });
}

function isSame(draft: LessonDraft, lesson: Lesson): boolean {
  const same = (a: readonly string[], b: readonly string[]) => a.join('\n') === b.join('\n');
  return (
    draft.why === lesson.why &&
    draft.action === lesson.action &&
    draft.scope === lesson.scope &&
    same(draft.filePatterns, lesson.filePatterns) &&
    same(draft.topics, lesson.topics)
  );
}

const ORDER: LessonStage[] = ['experiment', 'validated', 'production'];

export function advanceLesson(slice: Slice, command: CommandOf<'lesson.advance'>): Decision {
  const found = findActive(slice, command);
  if (!found.ok) return found;
  const { lesson } = found;
  const { to, why, proof, by } = command;
  if (lesson.stage === to) return accept();
  const isForward = ORDER.indexOf(to) > ORDER.indexOf(lesson.stage);
  if (isForward && to === 'production') {
    const lack = lackOfProof(proof);
    if (lack) return refuse('evidence_missing', `lesson ${lessonName(lesson)} stays ${lesson.stage}: ${lack}`);
  }
  return accept({ type: 'lesson.advanced', ...ofLesson(lesson), from: lesson.stage, to, why, proof, by });
}

/** Why a replay does not show that a lesson helps; null when it does. */
function lackOfProof(proof: CommandOf<'lesson.advance'>['proof']): string | null {
  if (!proof) return 'no replay has tried it';
  if (proof.pairs < LEAST_PAIRS) return `${proof.pairs} pairs are too few, ${LEAST_PAIRS} are needed`;
  if (proof.low <= 0) return `its gain is not certain (at least ${percent(proof.low)})`;
  if (proof.gain <= proof.placeboGain) return `a lesson without content gained as much (${percent(proof.placeboGain)})`;
  return null;
}
const percent = (share: number) => `${Math.round(share * 100)} %`;

/** Why a lesson does not belong in a file that every agent reads; null when it does. */
export function lackForInstructions({ confidence, occurrences, filePatterns }: Lesson): string | null {
  if (confidence < PROMOTE_FROM.confidence)
    return `its confidence is ${confidence}, it needs ${PROMOTE_FROM.confidence}`;
  if (occurrences < PROMOTE_FROM.occurrences)
    return `it was seen in ${occurrences} tasks, it needs ${PROMOTE_FROM.occurrences}`;
  const isAboutSingleFiles = filePatterns.length > 0 && filePatterns.every((pattern) => !pattern.includes('*'));
  return isAboutSingleFiles ? `it is about ${filePatterns.join(', ')} only` : null;
}

export function promoteLesson(slice: Slice, command: CommandOf<'lesson.promote'>): Decision {
  const found = findActive(slice, command);
  if (!found.ok) return found;
  const { lesson } = found;
  const { file, taskId, by } = command;
  if (lesson.promoted)
    return refuse('conflict', `lesson ${lessonName(lesson)} is already in ${lesson.promoted.file}`, '');
  const lack = lackForInstructions(lesson);
  if (lack) return refuse('evidence_missing', `lesson ${lessonName(lesson)} stays in the memory: ${lack}`);
  return accept({ type: 'lesson.promoted', ...ofLesson(lesson), file, taskId, by });
}

export function demoteLesson(slice: Slice, command: CommandOf<'lesson.demote'>): Decision {
  const found = findLesson(slice, command);
  if (!found.ok) return found;
  const { lesson } = found;
  if (!lesson.promoted) return accept();
  const { why, by } = command;
  return accept({ type: 'lesson.demoted', ...ofLesson(lesson), file: lesson.promoted.file, why, by });
}

export function retireLesson(slice: Slice, command: CommandOf<'lesson.retire'>): Decision {
  const found = findActive(slice, command);
  if (!found.ok) return found;
  const { why, by } = command;
  return accept({ type: 'lesson.retired', ...ofLesson(found.lesson), why, by });
}

export function restoreLesson(slice: Slice, command: CommandOf<'lesson.restore'>): Decision {
  const found = findLesson(slice, command);
  if (!found.ok) return found;
  const { lesson } = found;
  if (lesson.stage !== 'retired')
    return refuse('conflict', `lesson ${lessonName(lesson)} is not retired`, 'only a retired lesson can be restored');
  const confidence = Math.max(lesson.confidence, RESTORED);
  return accept({ type: 'lesson.restored', ...ofLesson(lesson), confidence, by: command.by });
}
