import type { ProjectRules, Stage, Task } from '@tidemill/contract';
import { arePlansReviewed } from '../pipeline/enter.ts';

/** Outcomes that lead forward. */
const ONWARD = ['plan_complete', 'investigation_complete', 'pr_ready', 'approved'];

/**
 * Why a person may not move a task to this stage, or null. Moving back and skipping an agent's work are always possible.
 * Skipping a check is not: gates, a review, a person's approval.
 */
export function jumpObstacle(rules: ProjectRules, task: Task, to: string): string | null {
  const stages = rules.pipelines[task.pipeline]?.stages ?? {};
  const current = task.resumeStage ?? task.stage;
  if (to === 'open' || to === current || leadsTo(stages, to, current)) return null;
  // Its stage was removed from the pipeline, so it is unknown which checks it passed. A person decides.
  if (!Object.hasOwn(stages, current) && current !== 'open' && current !== 'cancelled') return null;
  const start = rules.pipelines[task.pipeline]?.start;
  // Each stage with the first check on the path to it.
  const checks = new Map<string, string | null>();
  const pending: [name: string, check: string | null][] = Object.hasOwn(stages, current)
    ? onward(stages[current]).map((next) => [next, isCheck(rules, task, current) ? current : null])
    : [[start ?? '', null]];
  for (let at = pending.shift(); at; at = pending.shift()) {
    const [name, check] = at;
    if (checks.has(name)) continue;
    checks.set(name, check);
    const own = check ?? (isCheck(rules, task, name) ? name : null);
    pending.push(...onward(stages[name]).map((next): [string, string | null] => [next, own]));
  }
  const check = checks.get(to);
  if (check === undefined) return `no transition leads there from ${current}`;
  return check === null ? null : `Tidemill moves it there when ${passing(check, stages[check])}`;
}

const onward = (stage: Stage | undefined): string[] =>
  Object.entries(stage?.on ?? {})
    .filter(([outcome]) => ONWARD.includes(outcome))
    .map(([, to]) => to);

function leadsTo(stages: Record<string, Stage>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const pending = [from];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    pending.push(...onward(stages[name]));
  }
  return false;
}

function isCheck(rules: ProjectRules, task: Task, name: string): boolean {
  const stage = rules.pipelines[task.pipeline]?.stages[name];
  if (stage?.actor === 'human') return !stage.onlyIfPlansAreReviewed || arePlansReviewed(rules, task);
  return stage?.actor === 'system' || (stage?.actor === 'agent' && stage.mode === 'review');
}

function passing(name: string, stage: Stage | undefined): string {
  if (stage?.actor === 'human') return `you have approved it in ${name}`;
  if (stage?.actor === 'agent') return 'a reviewer has approved it';
  return stage?.actor === 'system' && stage.does === 'merge' ? 'it has landed' : 'its gates pass';
}
