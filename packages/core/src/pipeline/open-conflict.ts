import type { EventBody, ProjectRules, Task } from '@tidemill/contract';
import { scopesOverlap } from '../schedule/overlap.ts';
import { CONFLICT_FILES_LIMIT } from './policy.ts';

/** With more open conflicts than this, further work would only create more of them. */
const MAX_OPEN_CONFLICTS = 5;

export const isOpenConflict = ({ stage, blocked }: Pick<Task, 'stage' | 'blocked'>): boolean =>
  stage === 'blocked' && blocked?.reason === 'conflict';

/** Why an agent must not resolve these files; null when it may try. */
export function whyForPerson(files: string[], rules: Pick<ProjectRules, 'critical'>): string | null {
  if (files.some((file) => scopesOverlap([file], rules.critical))) return 'a file marked critical is among them';
  return files.length < CONFLICT_FILES_LIMIT ? null : `${files.length} files are too many for an agent`;
}

/** Why builders take no new work, or null. Reviews, gates and landing continue: they reduce conflicts. */
export function tooManyConflicts(open: number): { text: string; hint: string } | null {
  if (open <= MAX_OPEN_CONFLICTS) return null;
  const text = `${open} conflicts wait for a person; builders take no new work until there are ${MAX_OPEN_CONFLICTS} or fewer`;
  return { text, hint: '`tidemill conflicts` lists them' };
}

/** An alert when the limit is exceeded, and no other until the number was below the limit again. */
export function conflictLimitAlert(events: EventBody[], openBefore: number): EventBody[] {
  const isMore = events.some((event) => event.type === 'task.blocked' && event.reason === 'conflict');
  const tooMany = isMore && openBefore === MAX_OPEN_CONFLICTS ? tooManyConflicts(openBefore + 1) : null;
  if (!tooMany) return [];
  const text = `${tooMany.text[0]!.toUpperCase()}${tooMany.text.slice(1)}. Resolve or abort some: \`tidemill conflicts\`.`;
  return [
    { type: 'alert.raised', taskId: null, kind: 'too_many_conflicts', text, severity: 'error', subject: '', count: 1 },
  ];
}
