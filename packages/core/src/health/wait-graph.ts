/** Which task waits for which. */
export type WaitGraph = Map<string, string[]>;

/** Every cycle, once, starting at its smallest name. Iterative: a graph may be deep. */
export function cyclesIn(graph: WaitGraph): string[][] {
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  for (const start of graph.keys()) {
    if (done.has(start)) continue;
    const path: string[] = [];
    const onPath = new Map<string, number>();
    const work: { node: string; next: number }[] = [{ node: start, next: 0 }];
    while (work.length > 0) {
      const top = work.at(-1)!;
      if (top.next === 0) {
        onPath.set(top.node, path.length);
        path.push(top.node);
      }
      const target = graph.get(top.node)?.[top.next];
      top.next += 1;
      if (target === undefined) {
        done.add(top.node);
        onPath.delete(top.node);
        path.pop();
        work.pop();
      } else if (onPath.has(target)) {
        const cycle = fromSmallest(path.slice(onPath.get(target)));
        cycles.set(cycle.join(' '), cycle);
      } else if (!done.has(target)) {
        work.push({ node: target, next: 0 });
      }
    }
  }
  return [...cycles.values()];
}

function fromSmallest(cycle: string[]): string[] {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? '');
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
