import {
  HELD_REASONS,
  heldReason,
  type Project,
  type ProjectStatus,
  stageOrder,
  type WorkerView,
} from '@tidemill/contract';

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

/** The status lists at most this many items that need a person. */
const NAMED = 20;

/** Stages in which every task waits for a person's approval. */
export const humanStages = ({ rules }: Project): Set<string> =>
  new Set(
    Object.values(rules.pipelines).flatMap(({ stages }) =>
      Object.keys(stages).filter((name) => stages[name]?.actor === 'human'),
    ),
  );

export function stagesOf(project: Project, status: ProjectStatus): StageView[] {
  const human = humanStages(project);
  return ['open', ...stageOrder(project, status.tasks), 'done'].map((name) => {
    const count = status.tasks[name] ?? 0;
    const named = status.needsYou.filter(({ at }) => at === name);
    const held: StageView['held'] = named.map((need) => ({ number: need.number, why: heldReason(need) }));
    // Tasks that the status does not list wait too.
    if (held.length === 0 && count > 0 && human.has(name)) held.push({ number: null, why: HELD_REASONS.approval });
    return {
      name,
      count,
      held,
      workers: status.workers.filter(({ task }) => task?.stage === name),
      isHeldCut: status.needsYou.length >= NAMED,
    };
  });
}
