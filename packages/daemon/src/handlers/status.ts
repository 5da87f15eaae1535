import type { NeedsYou, Project, ProjectStatus, RouteRequest, SandboxView, Task } from '@tidemill/contract';
import { CONFIG_FILE } from '../config/check.ts';
import { loadSettings } from '../config/load.ts';
import { projectOf } from './answer.ts';
import type { Services } from './context.ts';
import { workerViews } from './fleet.ts';
import { commandFor, openQuestions } from './question.ts';

/** More would not be read; the counts by stage are complete. */
const SHOWN = 20;

export async function status(services: Services, input: RouteRequest<'status'>): Promise<ProjectStatus> {
  const { store, daemon } = services;
  const project = await projectOf(services, input.project);
  // Taken first: whoever follows the log from here on sees every change this answer does not show.
  const lastSeq = await store.lastSeq();
  const workload = await store.workload(project.id);
  const { id, name, root, rules } = project;
  return {
    project: { id, name, root, target: rules.target },
    daemon,
    running: services.isRunning(project.id),
    idle: workload.leased === 0 && (workload.ready === 0 || services.isWaitingForPerson(project.id)),
    tasks: workload.byStage,
    total: Object.values(workload.byStage).reduce((sum, count) => sum + count, 0),
    workers: await workerViews(services, project),
    needsYou: await needsYou(services, project, workload.byStage),
    questions: (await openQuestions(services, project)).slice(0, SHOWN),
    gates: rules.gates,
    sandbox: await sandboxOf(services, project),
    inbox: 0,
    conflicts: 0,
    alerts: [],
    warnings: services.warnings(project.id),
    lastSeq,
  };
}

/** The project's own choice comes before what the machine can do. */
async function sandboxOf(services: Services, { root }: Project): Promise<SandboxView> {
  const settings = await loadSettings(root).catch(() => null); // what is wrong with them, `doctor` and `up` say
  if (settings?.config.sandbox !== 'off') return services.sandbox();
  return { active: false, text: `sandbox: off in ${CONFIG_FILE}: agents and gates run unsandboxed` };
}

/** What stands still until a person acts, each with the command that moves it on. */
async function needsYou({ store }: Services, project: Project, byStage: Record<string, number>): Promise<NeedsYou[]> {
  const stages = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.entries(pipeline.stages));
  const human = stages.flatMap(([name, stage]) => (stage.actor === 'human' ? [name] : []));
  const working = stages.flatMap(([name, stage]) => (stage.actor === 'human' ? [] : [name]));
  const find = async (names: string[], isStuck: (task: Task) => boolean | Promise<boolean>) => {
    const present = [...new Set(names)].filter((stage) => (byStage[stage] ?? 0) > 0);
    if (present.length === 0) return [];
    const found: Task[] = [];
    for (const task of await store.tasks({ projectId: project.id, stages: present, limit: 200 })) {
      if (found.length < SHOWN && (await isStuck(task))) found.push(task);
    }
    return found;
  };
  const stuck = [
    ...(await find(['needs_info', 'blocked', ...human], (task) => task.role === null)),
    ...(await find(working, (task) => task.waiting !== null)),
  ];
  if ((byStage.cancelled ?? 0) > 0) {
    stuck.push(...(await find(['open'], async (task) => (await cancelledDependency(store, task)) !== null)));
  }
  return Promise.all(stuck.slice(0, SHOWN).map(async (task) => ({ ...line(task), ...(await advice(store, task)) })));
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

async function cancelledDependency(store: Services['store'], task: Task): Promise<Task | null> {
  if (task.unmet === 0) return null;
  for (const id of task.dependsOn) {
    const dependency = await store.task(id);
    if (dependency?.stage === 'cancelled') return dependency;
  }
  return null;
}

async function advice(store: Services['store'], task: Task): Promise<Pick<NeedsYou, 'why' | 'command'>> {
  const named = (verb: string, rest = '') => `tidemill task ${verb} ${task.number}${rest}`;
  if (task.stage === 'needs_info') {
    const asked = await store.record('question', task.openQuestions[0]?.id ?? '');
    const why = task.openQuestions.map(({ text }) => text).join(' / ');
    return { why, command: asked ? commandFor(asked, task) : named('retry', ' --note "…"') };
  }
  if (task.stage === 'blocked') {
    const { reason, text } = task.blocked ?? { reason: 'blocked', text: '' };
    const isChoice = reason === 'no_criteria' || reason === 'review_escalation';
    const command = reason === 'conflict' ? `tidemill conflicts show ${task.number}` : null;
    return { why: `${reason}: ${text}`, command: command ?? (isChoice ? named('approve') : named('retry')) };
  }
  // An agent that waits for its login goes on when somebody retries; a landing that waits, by itself.
  if (task.waiting) return { why: task.waiting, command: task.role === 'merger' ? '' : named('retry') };
  if (task.stage === 'open') {
    const dependency = await cancelledDependency(store, task);
    return { why: `waits for #${dependency?.number}, which was cancelled`, command: named('after', ' --none') };
  }
  return { why: 'asks for your approval', command: named('approve') };
}
