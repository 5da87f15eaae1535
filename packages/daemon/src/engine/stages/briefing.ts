import {
  type Evidence,
  type Feedback,
  findingText,
  isBuilding,
  type KnownLesson,
  lossText,
  type Mode,
  type Task,
  type Trace,
} from '@tidemill/contract';
import { judgedBy, judgedFor, newestByGate, type ShownChange, TASK_GATE_MS, taskGates } from '@tidemill/core';
import type { Briefing, Change, Gates, Preparation, Workspace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { countRead, nearTraces } from '../learning/near-traces.ts';
import type { RunLessons } from '../learning/run-lessons.ts';
import type { RunBrief } from './agent-run.ts';
import { comingWork } from './coming-conflicts.ts';
import { decidingIn } from './deciding.ts';
import { withFewerTests } from './fewer-tests.ts';
import { relatedTasks } from './related-tasks.ts';
import { specContext } from './spec-context.ts';

const DIFF_LIMIT = 200_000;
/** Of each file. */
const MOST_LOST_LINES = 20;
const NOTHING: Change = { files: [], sections: [], isCut: false };

export interface BriefingSources extends Pick<EngineDeps, 'project' | 'store' | 'prompts'> {
  preparation?: Pick<Preparation, 'checks' | 'reads'>;
  workspace: Pick<Workspace, 'diff' | 'changedFiles' | 'filesIn' | 'mergeLosses'>;
  gates: Pick<Gates, 'checks'>;
}

/** The prompt of an agent for a task. Used to start the agent and to show the prompt to a person. */
export async function briefingFor(
  sources: BriefingSources,
  task: Task,
  mode: Mode,
  lessons: readonly KnownLesson[] = [],
): Promise<Briefing & { shown: ShownChange; traces: readonly Trace[] }> {
  const { workspace, store, project, prompts } = sources;
  const head = mode === 'review' ? task.head : null;
  const diff = head ? await workspace.diff({ number: task.number, branch: task.branch }, DIFF_LIMIT) : NOTHING;
  const deciding = head ? [...(await decidingIn(sources, task)), ...(await withFewerTests(sources, [head.tree]))] : [];
  const oldChecks = head ? judgedFor(task, head.tree) : null;
  const links = head ? await store.evidenceForTree(project.id, head.tree) : [];
  const lost = head ? await lossesText(sources, task) : [];
  const gates = [...links.flatMap(gateLines), ...lost].join('\n');
  const warned =
    isBuilding(mode) && task.head && task.feedback.length > 0 ? await warningsOf(sources, task.head.tree) : [];
  const { target } = project.rules;
  const hilConfig = task.hilConfig ?? project.rules.hilConfig;
  const coming = isBuilding(mode) ? await comingWork(sources, task) : [];
  const related = () => relatedTasks(sources, task);
  const own = taskGates(task).map((gate) => ({ ...gate, proves: [], timeout: TASK_GATE_MS }));
  const proofs = isBuilding(mode) ? [...sources.gates.checks, ...own] : [];
  const told = { ...task, feedback: [...task.feedback, ...warned, ...(await refusedResult(sources, task, mode))] };
  const traces = await nearTraces(sources, task, mode);
  const input = {
    task: told,
    mode,
    target,
    diff,
    deciding,
    oldChecks,
    gates,
    proofs,
    hilConfig,
    coming,
    related,
    lessons,
    traces,
    spec: await specContext(sources, task),
  };
  const briefing = await prompts.render({ ...input, judgedBy: judgedBy(project.rules, task) });
  return { ...briefing, shown: { files: namesIn(diff), gates: project.rules.gates }, traces };
}

/** Why the last run of this mode is repeated. An agent that is not told gives the same result again. */
async function refusedResult({ store }: BriefingSources, { id }: Task, mode: Mode): Promise<Feedback[]> {
  const ended = (await store.runs(id)).filter((run) => run.mode === mode && run.status === 'finished');
  const last = ended.at(-1);
  return last?.failure === 'invalid_result' ? [{ kind: 'result', text: last.summary, files: [] }] : [];
}

/** What resolving conflicts dropped of the target, for a reviewer: a person may have accepted it, or is asked. */
async function lossesText({ workspace, project }: BriefingSources, task: Task): Promise<string[]> {
  const { target } = project.rules;
  const losses = await workspace.mergeLosses({ number: task.number, branch: task.branch });
  if (losses.length === 0) return [];
  const isAccepted = losses.every(({ content }) => task.acceptedLosses.includes(content));
  const then = isAccepted ? 'a person accepted it' : 'a person is asked before it lands';
  return [
    `merge loss: after a conflict was resolved, changes of ${target} are missing (${then}). Say whether the task asks for that:`,
    lossText(losses, target, MOST_LOST_LINES),
  ];
}

/** A gate's result for a reviewer, with what it found. Findings are data of tools and of the work. */
function gateLines(link: Evidence): string[] {
  const { gate, status, severity, command, scan } = link;
  const isWarning = severity === 'warn' && status !== 'pass';
  const what = [command, scan?.summary ?? ''].filter((part) => part !== '').join('; ');
  const first = `${gate}: ${status}${isWarning ? ' (a warning: it does not block)' : ''}${what === '' ? '' : ` (${what})`}`;
  const found = [...(scan?.findings ?? []).map(findingText), ...(scan?.missing ?? [])];
  return [first, ...found.map((each) => `  - ${each}`)];
}

/** What gates that do not block said about the tree, for anyone who works on it next. */
async function warningsOf({ store, project }: BriefingSources, tree: string): Promise<Feedback[]> {
  const links = newestByGate(await store.evidenceForTree(project.id, tree), project.rules.gateConfigs).values();
  return [...links]
    .filter(({ status, severity }) => status === 'fail' && severity === 'warn')
    .map((link) => ({
      kind: 'gate',
      text: `A warning, which does not block:\n${gateLines(link).join('\n')}`,
      files: [],
    }));
}

/** The paths that a reviewer's evidence may refer to. */
export const namesIn = ({ files }: Change): string[] =>
  files.flatMap(({ path, from }) => (from === null ? [path] : [path, from]));

/** Everything an agent gets for a run of a task. */
export async function taskBrief(
  sources: BriefingSources,
  task: Task,
  mode: Mode,
  feedback: Feedback[],
  { lessons, record }: RunLessons,
  runId: string,
): Promise<RunBrief> {
  const { shown, traces, ...briefing } = await briefingFor(sources, { ...task, feedback }, mode, lessons);
  await countRead(
    sources,
    traces.map(({ id: traceId }) => traceId),
    runId,
  );
  const { id, number, title, body, files, stage, criteria } = task;
  const acceptance = criteria.map((criterion) => ({ id: criterion.id, text: criterion.text }));
  return {
    briefing,
    lessons: lessons.map(({ ref }) => ref),
    record,
    task: { id, number, title, body, acceptance, files, stage },
    attempt: task.runs[mode] ?? 0,
    hilConfig: task.hilConfig ?? sources.project.rules.hilConfig,
    ...(mode === 'review' ? { shown } : {}),
  };
}
