import { HELD_REASONS, type NeedsYou, type Project, type Task, withoutTaskName } from '@tidemill/contract';
import type { Store, TaskQuery, Workload } from '../../ports.ts';
import { commandFor } from '../question/question.ts';

/** Names of the stages that need a person. `isCertain`: in every pipeline that has the stage. */
export function humanStages({ rules }: Project): { all: string[]; isCertain: boolean } {
  const stages = Object.values(rules.pipelines).flatMap((pipeline) => Object.entries(pipeline.stages));
  const human = new Set(stages.flatMap(([name, { actor }]) => (actor === 'human' ? [name] : [])));
  return { all: [...human], isCertain: stages.every(([name, { actor }]) => actor === 'human' || !human.has(name)) };
}

/** At most `limit` tasks that wait for a person, each with the command that continues it. */
export async function needsYou(store: Store, project: Project, load: Workload, limit: number): Promise<NeedsYou[]> {
  const stages = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.keys(pipeline.stages));
  const { all: human } = humanStages(project);
  const working = stages.filter((name) => !human.includes(name));
  const present = (names: string[]) => [...new Set(names)].filter((name) => (load.byStage[name] ?? 0) > 0);
  const found: Task[] = [];
  const add = async (query: Omit<TaskQuery, 'projectId' | 'limit'>, isStuck: (task: Task) => boolean) => {
    for (let afterNumber = 0; found.length < limit && query.stages?.length !== 0; ) {
      const page = await store.tasks({ ...query, projectId: project.id, afterNumber, limit });
      found.push(...page.filter(isStuck));
      if (page.length < limit) return;
      afterNumber = page.at(-1)!.number;
    }
  };
  await add({ stages: present(['needs_info', 'blocked', ...human]) }, (task) => task.role === null);
  if (load.waiting > 0) await add({ stages: present(working), isWaiting: true }, () => true);
  if ((load.byStage.cancelled ?? 0) > 0) await add({ stages: ['open'], isStranded: true }, () => true);
  return Promise.all(found.slice(0, limit).map(async (task) => ({ ...line(task), ...(await advice(store, task)) })));
}

const line = (task: Task) => {
  const { number, title, stage, resumeStage } = task;
  const isAside = stage === 'needs_info' || stage === 'blocked';
  return { number, title, stage, at: isAside ? (resumeStage ?? 'open') : stage, holds: holdsOf(task) };
};

function holdsOf({ stage, blocked, waiting }: Task): NeedsYou['holds'] {
  if (stage === 'needs_info') return 'question';
  if (blocked) return blocked.reason;
  if (waiting !== null) return 'waiting';
  return stage === 'open' ? 'cancelled_dependency' : 'approval';
}

async function advice(store: Store, task: Task): Promise<Pick<NeedsYou, 'why' | 'command'>> {
  const named = (verb: string, rest = '') => `tidemill task ${verb} ${task.number}${rest}`;
  if (task.stage === 'needs_info') {
    const asked = await store.record('question', task.openQuestions[0]?.id ?? '');
    const why = task.openQuestions.map(({ text }) => withoutTaskName(text, task)).join(' / ');
    return { why, command: asked ? commandFor(asked, task) : named('retry', ' --note "…"') };
  }
  if (task.stage === 'blocked') {
    const { reason, text } = task.blocked ?? { reason: 'waiting' as const, text: '' };
    const asked = reason === 'no_progress' ? await store.record('question', task.openQuestions[0]?.id ?? '') : null;
    // Its question says more than that the agent repeated itself: which key is in the change.
    if (asked) return { why: questionOf(task), command: commandFor(asked, task) };
    const isChoice = reason === 'no_criteria' || reason === 'review_escalation';
    const command = reason === 'conflict' ? `tidemill conflicts show ${task.number}` : null;
    return {
      why: `${HELD_REASONS[reason]}: ${text}`,
      command: command ?? (isChoice ? named('approve') : named('retry')),
    };
  }
  // A task that waits for an agent's login continues after a retry. A waiting landing continues by itself.
  if (task.waiting) return { why: task.waiting, command: task.role === 'merger' ? '' : named('retry') };
  if (task.stage === 'open') {
    const dependency = await cancelledDependency(store, task);
    return {
      why: `waits for #${dependency?.number}, which was cancelled`,
      command: named('after', ` --not ${dependency?.number}`),
    };
  }
  return { why: 'needs your approval', command: named('approve') };
}

/** Its first line, without the name of the task. */
function questionOf(task: Task): string {
  const [first = ''] = (task.openQuestions[0]?.text ?? '').split('\n');
  return withoutTaskName(first, task);
}

async function cancelledDependency(store: Store, { dependsOn }: Task): Promise<Task | null> {
  for (const id of dependsOn) {
    const dependency = await store.task(id);
    if (dependency?.stage === 'cancelled') return dependency;
  }
  return null;
}
