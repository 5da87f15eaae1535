import { MODES, type ProjectRules, type Role, type Stage, type Task, type TaskMode } from '@tidemill/contract';

export function stageOf(rules: ProjectRules, task: Pick<Task, 'pipeline' | 'stage'>): Stage | undefined {
  return rules.pipelines[task.pipeline]?.stages[task.stage];
}

export const stageNamed = (
  rules: ProjectRules,
  { pipeline }: Pick<Task, 'pipeline'>,
  name: string,
): Stage | undefined => rules.pipelines[pipeline]?.stages[name];

/** The role a stage needs. `open` needs the role of the first stage. */
export function roleOf(rules: ProjectRules, pipelineName: string, stageName: string): Role | null {
  const pipeline = rules.pipelines[pipelineName];
  const stage = pipeline?.stages[stageName === 'open' ? pipeline.start : stageName];
  if (!stage || stage.actor === 'human') return null;
  if (stage.actor === 'agent') return MODES[stage.mode].role;
  return stage.does === 'verify' ? 'verifier' : 'merger';
}

/** With feedback on existing work, the mode becomes the one that addresses it. */
export function modeOf(stage: Extract<Stage, { actor: 'agent' }>, task: Task): TaskMode {
  if (task.feedback.length === 0) return stage.mode;
  if (stage.mode === 'implement' && task.head !== null) return 'request_changes';
  if (stage.mode === 'plan' && task.plan !== '') return 'plan_revision';
  return stage.mode;
}

/** The gates a stage requires: a verify stage may name some, landing always requires all. */
export function gatesOf(rules: ProjectRules, stage: Stage): string[] {
  if (stage.actor === 'system' && stage.does === 'verify' && stage.gates) return stage.gates;
  return rules.gates;
}
