import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type AgentConfig,
  AUTONOMY_PRESETS,
  INTEGRITY_GATE,
  LoopConfig,
  type ProjectRules,
  personActor,
} from '@tidemill/contract';
import { builtinPipelines, unwrap } from '@tidemill/core';
import { createAgentFor } from '../agents/agent-for.ts';
import { createRunLog } from '../agents/run-log.ts';
import { createIds, systemClock } from '../clock.ts';
import { Engine } from '../engine/engine.ts';
import { ReactorHost } from '../engine/reactors/host.ts';
import { createGates } from '../gates/gates.ts';
import { gitWith } from '../git/program.ts';
import { createGuards } from '../guards/guards.ts';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../ports.ts';
import { leakedProcesses } from '../process/leaks.ts';
import { openStore } from '../store/open.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { promptsOf } from './repositories.ts';
import { reportTrial, TRIAL_FILE, TRIAL_TEXT, type TrialReport, TrialWatch } from './trial-report.ts';

const MODE = 'trial';
/** How long recording the end of the run may take. */
const GRACE_MS = 5_000;
const FORGOTTEN_MS = 24 * 3_600_000;

export interface TrialRequest {
  name: string;
  config: AgentConfig;
  sandbox: 'auto' | 'off';
  /** The current repository, where the agent's program and settings are searched. It is not changed. */
  root: string;
  /** The trial creates its own folder here and removes it afterwards. */
  dataDir: string;
  signal: AbortSignal;
  /** Receives the agent's output. */
  onOutput(chunk: string): void;
}

/**
 * Gives the agent one small job through a separate engine, with the usual lease, run, guards and sandbox, in a
 * temporary repository. Nothing is kept, and there is no fallback agent.
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
  const trial = await openTrial(folder, request);
  const { engine, store, project, watch, agent } = trial;
  const startedAt = systemClock.now();
  const about = { projectId: project.id, subjectId: project.id, jobId: 'job_trial' } as const;
  // The lost lease stops the agent. Nothing waits for a checkpoint.
  const stop = () => {
    const cancelled = store.execute({ type: 'job.cancel', ...about, why: 'stopped by a person' });
    void cancelled.finally(() => engine.stop({ graceMs: 0 }));
  };
  try {
    await engine.start();
    request.signal.addEventListener('abort', stop, { once: true });
    if (request.signal.aborted) stop();
    const input = `Make a file \`${TRIAL_FILE}\` whose only line is: ${TRIAL_TEXT}`;
    unwrap(await store.execute({ type: 'job.request', ...about, mode: MODE, input, by: personActor('person') }));
    const end = await Promise.race([trial.end, stoppedEnd(request.signal)]);
    await engine.stop({ graceMs: GRACE_MS });
    return reportTrial({
      name: request.name,
      label: agent.label,
      end,
      watch,
      wasStopped: request.signal.aborted,
      durationMs: systemClock.now() - startedAt,
      written: trial.written(),
      left: (await leakedProcesses(trial.homeId)).map(({ pid, command }) => `${pid} ${command}`),
    });
  } finally {
    request.signal.removeEventListener('abort', stop);
    await trial.close();
  }
}

/** A normal engine over a temporary repository and store. */
async function openTrial(folder: string, request: TrialRequest) {
  const root = await makeRepository(path.join(folder, 'repository'));
  const homeId = path.basename(folder);
  const host = { root: request.root, dataDir: folder, homeId, sandbox: request.sandbox };
  const clock = systemClock;
  const ids = createIds(clock);
  const store = await openStore({ url: 'memory:', clock, ids });
  const projectId = 'project_trial';
  unwrap(await store.execute({ type: 'project.register', projectId, name: 'trial', root, rules: RULES }));
  const project = (await store.project(projectId))!;
  const alone = 'fallback' in request.config ? { ...request.config, fallback: [] } : request.config;
  const agent = createAgentFor({ default: alone }, host)(MODE);
  const watch = new TrialWatch(request.onOutput);
  const { promise: end, resolve: settle } = Promise.withResolvers<AgentEnd>();
  const workspace = await openWorkspace({
    root,
    target: 'main',
    landing: 'squash',
    push: 'never',
    dataDir: folder,
    clock,
  });
  let written: string | null = null;
  const onNote = () => undefined; // The report says what happened.
  const engine = new Engine({
    project,
    store,
    workspace: {
      ...workspace,
      async scratch(name) {
        const scratch = await workspace.scratch(name);
        const remove = async () => {
          written = await readFile(path.join(scratch.path, TRIAL_FILE), 'utf8').catch(() => null);
          await scratch.remove();
        };
        return { ...scratch, remove };
      },
    },
    agentFor: () => watched(agent, watch, settle),
    gates: createGates({ config: [], hashes: {}, host, logDir: path.join(folder, 'gates') }),
    guards: await createGuards({ root, dataDir: folder }),
    prompts: promptsOf(project),
    openRunLog: createRunLog({ dir: path.join(folder, 'runs'), clock, onError: onNote }),
    reactors: new ReactorHost({ store, clock, onNote }),
    clock,
    ids,
    owner: homeId,
    host: homeId,
    hash: (text) => hash('sha256', text),
    isOwnerDead: () => false,
    workers: 1,
    batch: 1,
    push: 'never',
    onNote,
  });
  const close = async () => {
    await workspace.close();
    await store.close();
  };
  return { engine, store, project, agent, watch, end, homeId, written: () => written, close };
}

/** Wraps the agent to observe it. Its first end is the result of the trial. */
function watched(agent: Agent, watch: TrialWatch, onEnd: (end: AgentEnd) => void): Agent {
  return {
    ...agent,
    start(request, sink) {
      const both: AgentSink = {
        ...sink,
        output(chunk) {
          sink.output(chunk);
          watch.sink.output(chunk);
        },
        usage(usage, settled) {
          sink.usage(usage, settled);
          watch.sink.usage(usage, settled);
        },
        session(id) {
          sink.session(id);
          watch.sink.session(id);
        },
      };
      const guard: AgentRequest['guard'] = (call) => {
        watch.used(call.tool);
        return request.guard(call);
      };
      const session = agent.start({ ...request, guard }, both);
      void session.end.then(onEnd);
      return session;
    },
  };
}

/** The result of a trial that was stopped before its agent started. */
function stoppedEnd(signal: AbortSignal): Promise<AgentEnd> {
  const { promise, resolve } = Promise.withResolvers<AgentEnd>();
  const end = () => resolve({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return promise;
}

const RULES: ProjectRules = {
  target: 'main',
  defaultPipeline: 'quick',
  gates: [INTEGRITY_GATE],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
};

async function makeRepository(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const git = gitWith({ cwd: folder });
  await git(['init', '-q', '-b', 'main']);
  const identity = ['-c', 'user.name=Tidemill', '-c', 'user.email=tidemill@localhost'];
  await git([...identity, 'commit', '-q', '--allow-empty', '-m', 'Start']);
  return folder;
}

/** Removes the leftovers of killed trials. */
async function forgetOld(trials: string): Promise<void> {
  for (const name of await readdir(trials)) {
    const folder = path.join(trials, name);
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs > FORGOTTEN_MS) await rm(folder, { recursive: true, force: true });
  }
}
