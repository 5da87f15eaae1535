import type { GateConfig } from '@tidemill/contract';
import type { GateRequest } from '../ports.ts';
import { atMost } from '../process/at-most.ts';

/** In the order of the config: a gate that others need comes before them. */
export function wanted(config: GateConfig[], { only, maxMs }: Pick<GateRequest, 'only' | 'maxMs'>): GateConfig[] {
  const names = new Set(only ?? config.map(({ name }) => name));
  for (const gate of config.toReversed()) if (names.has(gate.name)) for (const needed of gate.needs) names.add(needed);
  const chosen = config.filter(({ name }) => names.has(name));
  const ordered: GateConfig[] = [];
  const add = (gate: GateConfig) => {
    if (ordered.includes(gate)) return;
    for (const needed of chosen) if (gate.needs.includes(needed.name)) add(needed);
    ordered.push(gate);
  };
  for (const gate of chosen) add(gate);
  return maxMs === undefined ? ordered : withoutLong(ordered, maxMs);
}

function withoutLong(ordered: GateConfig[], maxMs: number): GateConfig[] {
  const left = new Set<string>();
  return ordered.filter(({ name, timeout, needs, kind = 'command' }) => {
    const isLeftOut = timeout > maxMs || kind !== 'command' || needs.some((needed) => left.has(needed));
    if (isLeftOut) left.add(name);
    return !isLeftOut;
  });
}

/** What a scan found decides, not its exit code, so others cannot know in time whether it passed. */
const isParallel = ({ parallel, kind = 'command' }: GateConfig) => parallel === true && kind === 'command';

/** Neighbours that may run side by side form a group. Every other gate is alone. */
export function groupsOf(gates: GateConfig[]): GateConfig[][] {
  const groups: GateConfig[][] = [];
  for (const gate of gates) {
    const last = groups.at(-1);
    if (isParallel(gate) && last?.[0] && isParallel(last[0])) last.push(gate);
    else groups.push([gate]);
  }
  return groups;
}

/** What a gate of a group left: the end of its command. */
interface Ended {
  ended: { kind: string; exitCode?: number | null };
}

/**
 * Runs the gates of a group, at most `limit` at a time. A gate waits for those of the group that it needs. It is left
 * out (null) when one of its needs did not exit with 0. Returns in the order of the group, when all have ended.
 */
export async function sideBySide<T extends Ended>(
  group: GateConfig[],
  limit: number,
  passed: ReadonlySet<string>,
  run: (gate: GateConfig) => Promise<T>,
): Promise<PromiseSettledResult<T | null>[]> {
  const turn = atMost(Math.max(1, limit));
  const started = new Map<string, Promise<T | null>>();
  const inTurn = async ({ needs }: GateConfig, start: () => Promise<T>): Promise<T | null> => {
    const needed = await Promise.all(needs.map((name) => started.get(name) ?? passed.has(name)));
    return needed.every(isPass) ? turn(start) : null;
  };
  for (const gate of group)
    started.set(
      gate.name,
      inTurn(gate, () => run(gate)),
    );
  return Promise.allSettled(started.values());
}

const isPass = (before: Ended | boolean | null): boolean =>
  typeof before === 'object' ? before?.ended.kind === 'exited' && before.ended.exitCode === 0 : before;
