import type { EventBody, ProjectRules, Task } from '@tidemill/contract';
import { scopesOverlap } from '../schedule/overlap.ts';
import { CONFLICT_FILES_LIMIT } from './policy.ts';

/** With more conflicts than this waiting for a person, building on would only make more of them. */
const MAX_OPEN_CONFLICTS = 5;

export const isOpenConflict = ({ stage, blocked }: Pick<Task, 'stage' | 'blocked'>): boolean =>
  stage === 'blocked' && blocked?.reason === 'conflict';

/** Why these files are no agent's to resolve; null when an agent may try. */
export function whyForPerson(files: string[], rules: Pick<ProjectRules, 'critical'>): string | null {
  if (files.some((file) => scopesOverlap([file], rules.critical))) return 'a file marked critical is among them';
  return files.length < CONFLICT_FILES_LIMIT ? null : `${files.length} files are too many for an agent`;
}

/** Why builders take nothing new, if so. Reviewers, gates and landing go on: they make conflicts fewer, not more. */
export function tooManyConflicts(open: number): { text: string; hint: string } | null {
  if (open <= MAX_OPEN_CONFLICTS) return null;
  const text = `${open} conflicts wait for a person; nothing new is built until there are ${MAX_OPEN_CONFLICTS} or fewer`;
  return { text, hint: '`tidemill conflicts` lists them' };
}

/** The one conflict too many is told, and none after it until there were few again. */
export function pileUp(events: EventBody[], openBefore: number): EventBody[] {
  const isMore = events.some((event) => event.type === 'task.blocked' && event.reason === 'conflict');
  const jam = isMore && openBefore === MAX_OPEN_CONFLICTS ? tooManyConflicts(openBefore + 1) : null;
  if (!jam) return [];
  const text = `${jam.text[0]!.toUpperCase()}${jam.text.slice(1)}. Resolve or abort some: \`tidemill conflicts\`.`;
  return [
    { type: 'alert.raised', taskId: null, kind: 'too_many_conflicts', text, severity: 'error', subject: '', count: 1 },
  ];
}
