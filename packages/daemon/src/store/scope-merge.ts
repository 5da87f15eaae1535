import { emptyScope, type Scope } from '@tidemill/core';

/** One scope for a whole batch: every id once and ascending, which is the order in which rows are locked. */
export function mergeScopes(scopes: Scope[]): Scope {
  const [only] = scopes;
  // Most batches hold one command, whose scope is in order but for single fields.
  const all = <F extends keyof Scope>(field: F): Scope[F] =>
    (scopes.length === 1 ? only![field] : scopes.flatMap((scope) => scope[field] as unknown[])) as Scope[F];
  const merged = emptyScope();
  for (const field of [
    'projects',
    'lockedProjects',
    'workers',
    'leasedBy',
    'tasks',
    'dependentsOf',
    'lastRunsOf',
    'openConflicts',
    'scopedRunning',
    'edges',
    'records',
    'openRecordsOf',
    'readRecords',
  ] as const) {
    merged[field] = distinct(all(field), (id) => id);
  }
  merged.evidence = distinct(all('evidence'), (wanted) => `${wanted.projectId}/${wanted.tree}`);
  merged.projectRecords = distinct(all('projectRecords'), (wanted) => `${wanted.projectId}/${wanted.noun}`);
  merged.ready = mergeWindows(all('ready'));
  return merged;
}

/** Each claim takes at most one candidate away from those after it, so one more row per claim keeps every window full. */
function mergeWindows(windows: Scope['ready']): Scope['ready'] {
  const merged = new Map<string, Scope['ready'][number]>();
  for (const window of windows) {
    const key = `${window.projectId}/${window.role}`;
    const known = merged.get(key);
    merged.set(key, known ? { ...known, limit: Math.max(known.limit, window.limit) + 1 } : window);
  }
  return [...merged.keys()].sort().map((key) => merged.get(key)!);
}

function distinct<T>(items: T[], key: (item: T) => string): T[] {
  if (items.length < 2) return items;
  const byKey = new Map(items.map((item) => [key(item), item]));
  return [...byKey.keys()].sort().map((each) => byKey.get(each)!);
}
