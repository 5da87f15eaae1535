import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type AgentConfig, AUTONOMY_PRESETS, INTEGRITY_GATE, type Task } from '@tidemill/contract';
import { builtinPipelines } from '@tidemill/core';
import { createAgentFor } from '../agents/agent-for.ts';
import { createIds, systemClock } from '../clock.ts';
import { briefingFor } from '../engine/stages/briefing.ts';
import { gitWith } from '../git/program.ts';
import { createGuards } from '../guards/guards.ts';
import { unwrap } from '../handlers/find.ts';
import type { AgentRequest, AgentSession, AgentSink, Briefing } from '../ports.ts';
import { leakedProcesses } from '../process/leaks.ts';
import { openStore } from '../store/open.ts';
import { promptsOf } from './offline.ts';
import { reportTrial, TRIAL_FILE, TRIAL_TEXT, type TrialReport, TrialWatch } from './trial-report.ts';

const MODE = 'implement';
const TIME_LIMIT_MS = 5 * 60_000;
const MOST_TURNS = 30;
const FORGOTTEN_MS = 24 * 3_600_000;

export interface TrialRequest {
  name: string;
  config: AgentConfig;
  sandbox: 'auto' | 'off';
  /** Where the agent's program and settings are looked for: the repository one stands in. It is not touched. */
  root: string;
  /** The trial has a folder of its own in it, which is removed afterwards. */
  dataDir: string;
  signal: AbortSignal;
  /** What the agent prints, as it comes. */
  onOutput(chunk: string): void;
}

/**
 * Lets the agent do one tiny task as the engine would have it done (same prompt, guards and sandbox), in a repository
 * made for it. Nothing is recorded, and no other agent steps in when it fails: that is what one wants to know.
 */
export async function tryAgent(request: TrialRequest): Promise<TrialReport> {
  const trials = path.join(request.dataDir, 'trials');
  await mkdir(trials, { recursive: true, mode: 0o700 });
  await forgetOld(trials);
  const folder = await realpath(await mkdtemp(path.join(trials, 'trial-')));
  try {
    return await tryIn(folder, request);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function tryIn(folder: string, request: TrialRequest): Promise<TrialReport> {
  const repository = await makeRepository(path.join(folder, 'worktrees', '1'));
  const homeId = path.basename(folder);
  const host = { root: request.root, dataDir: folder, homeId, sandbox: request.sandbox };
  const alone = 'fallback' in request.config ? { ...request.config, fallback: [] } : request.config;
  const agent = createAgentFor({ default: alone }, host)(MODE);
  const watch = new TrialWatch(request.onOutput);
  const guards = await createGuards({ root: repository, dataDir: folder });
  const { task, briefing } = await makeTask(repository);
  const startedAt = systemClock.now();
  const session = start(agent, task, briefing, repository, watch.sink, (call) => {
    watch.used(call.tool);
    return guards.check(call, { worktree: repository, mode: MODE, cwd: call.cwd ?? repository });
  });
  const stop = () => void session.stop();
  request.signal.addEventListener('abort', stop, { once: true });
  if (request.signal.aborted) stop();
  const end = await session.end;
  request.signal.removeEventListener('abort', stop);
  return reportTrial({
    name: request.name,
    label: agent.label,
    end,
    watch,
    wasStopped: request.signal.aborted,
    durationMs: systemClock.now() - startedAt,
    written: await readFile(path.join(repository, TRIAL_FILE), 'utf8').catch(() => null),
    left: (await leakedProcesses(homeId)).map(({ pid, command }) => `${pid} ${command}`),
  });
}

function start(
  agent: ReturnType<ReturnType<typeof createAgentFor>>,
  task: Task,
  briefing: Briefing,
  cwd: string,
  sink: AgentSink,
  guard: AgentRequest['guard'],
): AgentSession {
  const { id, number, title, body, files, stage, criteria } = task;
  const acceptance = criteria.map((criterion) => ({ id: criterion.id, text: criterion.text }));
  return agent.start(
    {
      runId: 'run_trial',
      cwd,
      timeoutMs: TIME_LIMIT_MS,
      maxTurns: MOST_TURNS,
      model: briefing.model,
      tools: briefing.tools,
      resume: null,
      guard,
      beforeStop: async () => null,
      brief: {
        mode: MODE,
        prompt: briefing.prompt,
        attempt: 1,
        feedback: [],
        task: { id, number, title, body, acceptance, files, stage },
      },
    },
    sink,
  );
}

async function makeRepository(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const git = gitWith({ cwd: folder });
  await git(['init', '-q', '-b', 'main']);
  await writeFile(path.join(folder, 'README.md'), '# A trial\n\nMade by Tidemill to try out an agent.\n');
  await git(['add', '-A']);
  const identity = ['-c', 'user.name=Tidemill', '-c', 'user.email=tidemill@localhost'];
  await git([...identity, 'commit', '-q', '-m', 'Start']);
  return folder;
}

/** A task as any other, in a store that is gone with the process. */
async function makeTask(root: string): Promise<{ task: Task; briefing: Briefing }> {
  const clock = systemClock;
  const store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
  const projectId = 'project_trial';
  const taskId = 'task_trial';
  const rules = {
    target: 'main',
    defaultPipeline: 'quick',
    gates: [INTEGRITY_GATE],
    pipelines: builtinPipelines,
    reviewPlans: false,
    critical: [],
    hilConfig: AUTONOMY_PRESETS.full,
    budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' },
  };
  try {
    unwrap(await store.execute({ type: 'project.register', projectId, name: 'trial', root, rules }));
    const { task } = unwrap(
      await store.execute({
        type: 'task.create',
        projectId,
        taskId,
        kind: 'chore',
        priority: 2,
        dependsOn: [],
        title: `Write ${TRIAL_FILE}`,
        body: `Make a file \`${TRIAL_FILE}\` whose only line is: ${TRIAL_TEXT}\n\nThis only tries out whether you can work here. There are no tests.`,
        accept: [`${TRIAL_FILE} has the one line "${TRIAL_TEXT}"`],
        files: [TRIAL_FILE],
      }),
    );
    const project = (await store.project(projectId))!;
    const workspace = {
      diff: async () => ({ files: [], sections: [], isCut: false }),
      changedFiles: async () => ({ changed: [], before: new Map() }),
    };
    const gates = { checks: [] };
    return {
      task: task!,
      briefing: await briefingFor({ project, store, prompts: promptsOf(project), workspace, gates }, task!, MODE),
    };
  } finally {
    await store.close();
  }
}

/** What trials that were killed have left. */
async function forgetOld(trials: string): Promise<void> {
  for (const name of await readdir(trials)) {
    const folder = path.join(trials, name);
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs > FORGOTTEN_MS) await rm(folder, { recursive: true, force: true });
  }
}
