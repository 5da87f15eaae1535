import { isActiveLesson, knowledgeId, type Lesson, lessonName } from '@tidemill/contract';
import type { Store } from '../../ports.ts';
import type { StandingCondition } from '../reactors/standing-alerts.ts';
import { isUnused, WEEK_MS } from './summary.ts';

/** With fewer lessons nothing follows from their use. */
const ENOUGH_LESSONS = 10;
const UNUSED_SHARE = 0.5;
const MOST_CONTRADICTIONS = 3;
const MOST_VERSIONS = 4;
/** Refusals of one kind within a week. */
const MOST_GENERIC = 5;
const MOST_GRADED = 3;

/** Signs that learning itself goes wrong. */
export async function learningFaults(
  store: Pick<Store, 'records' | 'record'>,
  projectId: string,
  now: number,
): Promise<StandingCondition[]> {
  const active = (await store.records({ noun: 'lesson', projectId, isOpen: true })).filter(isActiveLesson);
  const { refused = [] } = (await store.record('knowledge', knowledgeId(projectId))) ?? {};
  const lately = refused.filter(({ at }) => at > now - WEEK_MS);
  const count = (...faults: string[]) => lately.filter(({ fault }) => faults.includes(fault)).length;
  return [
    ...unused(active, now),
    ...active.flatMap(oscillating),
    ...tooMany(
      'memory_generic',
      count('generic', 'broad'),
      MOST_GENERIC,
      'were too general to be of use. Ask for names of files, functions and commands: .tidemill/agents/prevent.md',
    ),
    ...tooMany(
      'memory_graded',
      count('graded'),
      MOST_GRADED,
      'graded themselves. Only what gates and reviews measure counts; see `tidemill memory summary`',
    ),
  ];
}

/** What is stored and never handed out is of no use. */
function unused(active: readonly Lesson[], now: number): StandingCondition[] {
  const idle = active.filter((lesson) => isUnused(lesson, now)).length;
  if (active.length < ENOUGH_LESSONS || idle < active.length * UNUSED_SHARE) return [];
  const text = `${idle} of ${active.length} lessons were not given to any run for 90 days: \`tidemill memory list --unused\`.`;
  return [{ kind: 'memory_unused', subject: '', severity: 'info', text }];
}

/** Agents change their minds about it with every failure. */
function oscillating(lesson: Lesson): StandingCondition[] {
  const { contradicted, version, text } = lesson;
  if (contradicted < MOST_CONTRADICTIONS && version < MOST_VERSIONS) return [];
  const name = lessonName(lesson);
  const how =
    contradicted >= MOST_CONTRADICTIONS
      ? `agents recorded the opposite ${contradicted} times`
      : `it was worded in ${version} ways`;
  const what = `Lesson ${name} is disputed: ${how}. It says: ${text} Decide with \`tidemill memory edit ${name}\` or \`retire ${name}\`.`;
  return [{ kind: 'memory_oscillates', subject: name, severity: 'warning', text: what }];
}

function tooMany(
  kind: 'memory_generic' | 'memory_graded',
  count: number,
  most: number,
  what: string,
): StandingCondition[] {
  if (count < most) return [];
  const text = `${count} lessons that agents wanted to record within a week ${what}.`;
  return [{ kind, subject: '', severity: 'warning', text }];
}
