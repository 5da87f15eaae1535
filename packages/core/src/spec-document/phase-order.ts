import { SPEC_PHASES, type SpecTask } from '@tidemill/contract';

type Node = Pick<SpecTask, 'id' | 'dependsOn' | 'phase'>;

/**
 * What each task waits for. A task that names nothing waits for the nearest earlier phase that has tasks: the database
 * comes before the types, these before the interface, the tests last. `order`: see inBuildOrder. Only tasks that come
 * earlier in it are waited for, so that no cycle can arise.
 */
export function dependenciesOf(order: readonly Node[]): Map<string, string[]> {
  const waited = new Map<string, string[]>();
  for (const [at, task] of order.entries()) {
    const before = order.slice(0, at);
    waited.set(task.id, task.dependsOn.length > 0 ? task.dependsOn : lastOf(nearestPhase(before, task)));
  }
  return waited;
}

function nearestPhase(before: readonly Node[], { phase }: Node): Node[] {
  for (let at = SPEC_PHASES.indexOf(phase) - 1; at >= 0; at -= 1) {
    const found = before.filter((task) => task.phase === SPEC_PHASES[at]);
    if (found.length > 0) return found;
  }
  return [];
}

/** Those that no other one of them waits for: the others are done before them. */
function lastOf(tasks: readonly Node[]): string[] {
  const needed = new Set(tasks.flatMap(({ dependsOn }) => dependsOn));
  return tasks.map(({ id }) => id).filter((id) => !needed.has(id));
}
