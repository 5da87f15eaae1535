import type { Project } from '../project/project.ts';
import type { Outcome } from '../run/run.ts';
import { type Pipeline, RESERVED_STAGES, type Stage } from './pipeline.ts';

const FORWARD: Outcome[] = ['plan_complete', 'investigation_complete', 'pr_ready', 'approved'];
const isReserved = (name: string) => (RESERVED_STAGES as readonly string[]).includes(name);

/** The default pipeline's stages in order, plus non-empty stages of other pipelines at their position. */
export function stageOrder({ rules }: Project, counts: Record<string, number>): string[] {
  const { [rules.defaultPipeline]: main, ...others } = rules.pipelines;
  const isPassed = (name: string, stage: Stage | undefined) =>
    stage?.actor === 'human' && stage.onlyIfPlansAreReviewed && !rules.reviewPlans && !counts[name];
  const order = main ? pathOf(main).filter((name) => !isPassed(name, main.stages[name])) : [];
  for (const pipeline of Object.values(others)) {
    let before = order.length;
    for (const name of pathOf(pipeline).reverse()) {
      const known = order.indexOf(name);
      if (known >= 0) before = known;
      else if (counts[name]) order.splice(before, 0, name);
    }
  }
  const elsewhere = Object.keys(counts).filter((name) => counts[name] && !isReserved(name) && !order.includes(name));
  return [...order, ...elsewhere];
}

function pathOf({ start, stages }: Pipeline): string[] {
  const path: string[] = [];
  for (let name: string | undefined = start; name && stages[name] && !path.includes(name); ) {
    path.push(name);
    const on: Partial<Record<Outcome, string>> = stages[name]?.on ?? {};
    name = FORWARD.map((outcome) => on[outcome]).find((to) => to !== undefined);
  }
  return path;
}
