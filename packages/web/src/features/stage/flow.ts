import type { NeedsYou, Outcome, Pipeline, Project, ProjectStatus, Stage, WorkerView } from '@tidemill/contract';

/** A stage of the overview: its count, its workers and the tasks that wait for a person. */
export interface StageView {
  name: string;
  count: number;
  workers: WorkerView[];
  /** Waiting tasks; the number is null if it is unknown. */
  held: { number: number | null; why: string }[];
  /** More tasks may wait than are listed. */
  isHeldCut: boolean;
}

const FORWARD: Outcome[] = ['plan_complete', 'investigation_complete', 'pr_ready', 'approved'];
/** The status lists at most this many items that need a person. */
const NAMED = 20;
const ENDS = ['open', 'done', 'cancelled', 'needs_info', 'blocked'];

/** Why a task waits for a person, in five words at most. */
export const WHY: Record<NeedsYou['holds'], string> = {
  validation: 'gates keep failing',
  review_escalation: 'builder and reviewer disagree',
  no_criteria: 'no criteria to judge by',
  no_changes: 'the agent changed nothing',
  conflict: 'a conflict needs you',
  agent_failed: 'the agent keeps failing',
  unverified_gate: 'a gate could not run',
  no_transition: 'no next stage',
  time_limit: 'it took too long',
  no_progress: 'the same failure, three times',
  skipped: 'you skipped it',
  question: 'has a question for you',
  approval: 'needs your approval',
  waiting: 'it cannot continue',
  cancelled_dependency: 'depends on a cancelled task',
};

export const heldText = ({ holds, at }: NeedsYou) =>
  holds === 'waiting' && at === 'merge' ? 'your checkout blocks the landing' : WHY[holds];

/** Stages in which every task waits for a person's approval. */
export const humanStages = ({ rules }: Project): Set<string> =>
  new Set(
    Object.values(rules.pipelines).flatMap(({ stages }) =>
      Object.keys(stages).filter((name) => stages[name]?.actor === 'human'),
    ),
  );

export function stagesOf(project: Project, status: ProjectStatus): StageView[] {
  const human = humanStages(project);
  return ['open', ...orderOf(project, status.tasks), 'done'].map((name) => {
    const count = status.tasks[name] ?? 0;
    const named = status.needsYou.filter(({ at }) => at === name);
    const held: StageView['held'] = named.map((need) => ({ number: need.number, why: heldText(need) }));
    // Tasks that the status does not list wait too.
    if (held.length === 0 && count > 0 && human.has(name)) held.push({ number: null, why: WHY.approval });
    return {
      name,
      count,
      held,
      workers: status.workers.filter(({ task }) => task?.stage === name),
      isHeldCut: status.needsYou.length >= NAMED,
    };
  });
}

/** The default pipeline's stages in order, plus non-empty stages of other pipelines at their position. */
export function orderOf({ rules }: Project, counts: Record<string, number>): string[] {
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
  const elsewhere = Object.keys(counts).filter((name) => counts[name] && !ENDS.includes(name) && !order.includes(name));
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
