import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AUTONOMY_PRESETS, GateConfig } from '../packages/contract/src/index.ts';
import { createAgentFor } from '../packages/daemon/src/agents/agent-for.ts';
import { createGates } from '../packages/daemon/src/gates/gates.ts';
import type { Agent, AgentRequest, AgentSession } from '../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../packages/daemon/src/process/sandbox.ts';
import { type MessagesServer, say, startMessagesServer, structured } from '../test/support/model/messages.ts';
import { CLAUDE_CODE, installVendor } from '../test/support/vendor.ts';
import { type BenchOptions, sized } from './options.ts';
import { type Row, row, type Section } from './row.ts';
import { interleaved, median, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const DONE = structured({ outcome: 'pr_ready', summary: 'done' });
const AGENTS_AT_ONCE = 10;

/** What our layer adds to Claude Code, and what the sandbox adds to a gate. */
export async function run(options: BenchOptions): Promise<Section> {
  return inTemporaryFolder(async (folder) => {
    const stage = await lay(folder);
    const notes: string[] = [];
    const rows = [...(await gateRows(options, stage))];
    const vendor = await installVendor(...CLAUDE_CODE);
    if ('missing' in vendor) notes.push(`Claude Code was not measured: ${vendor.missing}`);
    else {
      rows.push(...(await agentRows(options, stage, vendor.program)));
      notes.push(
        'From the start to the first request that the model server sees; the peer runs the same program without us.',
      );
    }
    const sandbox = await sandboxStatus();
    if (!sandbox.available) notes.push(`Nothing was sandboxed: ${sandbox.why}`);
    return { name: 'vendors', title: 'Our layer over an agent, and the sandbox over a gate', rows, notes };
  });
}

interface Stage {
  root: string;
  dataDir: string;
  worktree: string;
  home: string;
}

async function lay(folder: string): Promise<Stage> {
  const stage = {
    root: path.join(folder, 'repository'),
    dataDir: path.join(folder, 'data'),
    worktree: path.join(folder, 'data', 'worktree'),
    home: path.join(folder, 'home'),
  };
  for (const each of Object.values(stage)) await mkdir(each, { recursive: true });
  await writeFile(path.join(stage.worktree, 'file.txt'), 'text\n');
  return stage;
}

async function gateRows(options: BenchOptions, { root, dataDir, worktree }: Stage): Promise<Row[]> {
  const gate = (sandbox: 'auto' | 'off') => {
    const config = [GateConfig.parse({ name: 'nothing', run: 'true', timeout: '10s' })];
    const host = { root, dataDir, homeId: 'bench', sandbox };
    const gates = createGates({ config, host, logDir: path.join(dataDir, 'gates') });
    const request = { path: worktree, tree: 'tree', files: ['file.txt'], signal: new AbortController().signal };
    return () => timed(() => gates.run(request));
  };
  const times = await interleaved(sized(options, 31, 5), { sandboxed: gate('auto'), bare: gate('off') });
  return [
    row({
      name: 'the sandbox, added to a gate that does nothing',
      value: Math.max(0, median(times.sandboxed) - median(times.bare)),
      unit: 'ms',
      peer: { name: 'the gate without a sandbox', value: median(times.bare) },
      target: { atMost: 30 },
    }),
  ];
}

async function agentRows(options: BenchOptions, stage: Stage, program: string): Promise<Row[]> {
  // Only ours offers the tool for a result; a bare one would be told for ever that it does not exist.
  const server = await startMessagesServer(({ body }) =>
    JSON.stringify(body.tools ?? []).includes('StructuredOutput') ? DONE : say('Done.'),
  );
  try {
    const env = environment(stage, server);
    const times = await interleaved(sized(options, 9, 2), {
      ours: () => firstRequest(server, () => startAgent(claude(stage, env, program), stage).end),
      bare: () => firstRequest(server, () => startBare(program, env, stage.worktree)),
    });
    const memory = await memoryPerAgent(stage, program);
    return [
      row({
        name: 'our layer, added to the start of Claude Code',
        value: Math.max(0, median(times.ours) - median(times.bare)),
        unit: 'ms',
        target: { atMost: 100 },
        peer: { name: '`claude -p`, start to first request', value: median(times.bare) },
      }),
      row({
        name: `our memory per agent, ${AGENTS_AT_ONCE} at once`,
        value: memory,
        unit: 'MB',
        target: { atMost: 15 },
      }),
    ];
  } finally {
    await server.stop();
  }
}

function environment({ home }: Stage, { url }: MessagesServer): Record<string, string> {
  return {
    HOME: home,
    PATH: process.env.PATH ?? '',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  };
}

/** Until the server sees it; the run's end is waited for, but not measured. */
async function firstRequest(server: MessagesServer, start: () => Promise<unknown>): Promise<number> {
  const before = server.requests.length;
  const startedAt = performance.now();
  const end = start();
  while (server.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 1));
  const took = performance.now() - startedAt;
  await end;
  return took;
}

async function startBare(program: string, env: Record<string, string>, cwd: string): Promise<void> {
  const args = ['-p', 'Do it.', '--output-format', 'stream-json', '--verbose', '--setting-sources', ''];
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'ignore'] });
  await once(child, 'exit');
}

function claude({ root, dataDir }: Stage, env: Record<string, string>, program: string): Agent {
  const config = { type: 'claude' as const, program, env, pass: [], writable: [], fallback: [] };
  return createAgentFor({ default: config }, { root, dataDir, homeId: 'bench', sandbox: 'auto' })('implement');
}

function startAgent(agent: Agent, { worktree }: Stage): AgentSession {
  const task = { id: 'task_1', number: 1, title: 'Do it', body: '', acceptance: [], files: [], stage: 'implement' };
  const request: AgentRequest = {
    runId: `run_${crypto.randomUUID()}`,
    cwd: worktree,
    timeoutMs: 60_000,
    maxTurns: 50,
    model: null,
    tools: null,
    resume: null,
    guard: async () => ({ kind: 'allow' }),
    beforeStop: async () => null,
    brief: {
      mode: 'implement',
      prompt: 'Do it.',
      subjectId: task.id,
      task,
      attempt: 1,
      feedback: [],
      hilConfig: AUTONOMY_PRESETS.full,
    },
  };
  const ignore = () => undefined;
  return agent.start(request, { output: ignore, usage: ignore, progress: ignore, session: ignore, denied: ignore });
}

/** How much this process grows while agents wait for their model. One beforehand has everything loaded already. */
async function memoryPerAgent(stage: Stage, program: string): Promise<number> {
  const hold = Promise.withResolvers<void>();
  const server = await startMessagesServer(async () => {
    await hold.promise;
    return DONE;
  });
  try {
    const agent = claude(stage, environment(stage, server), program);
    const before = settledMemory();
    const sessions = Array.from({ length: AGENTS_AT_ONCE }, () => startAgent(agent, stage));
    while (server.requests.length < AGENTS_AT_ONCE) await new Promise((resolve) => setTimeout(resolve, 10));
    const after = settledMemory();
    hold.resolve();
    await Promise.all(sessions.map(({ end }) => end));
    return Math.max(0, after - before) / AGENTS_AT_ONCE;
  } finally {
    hold.resolve();
    await server.stop();
  }
}

function settledMemory(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1_048_576;
}
