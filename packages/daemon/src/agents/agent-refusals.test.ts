import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AgentConfig, UseLimits } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentRequest } from '../ports.ts';
import { sandboxStatus } from '../process/sandbox.ts';
import { createAgentFor } from './agent-for.ts';

const status = await sandboxStatus();
let base: string;
beforeAll(async () => {
  base = await mkdtemp('/var/tmp/tidemill-agent-refusals-');
  for (const name of ['mine', 'data/worktrees/1', 'elsewhere']) await mkdir(path.join(base, name), { recursive: true });
  await writeFile(path.join(base, 'elsewhere', 'rules.txt'), 'PRIVATE');
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function run(script: string, limits = {}) {
  const dataDir = path.join(base, 'data');
  const root = path.join(base, 'mine');
  const host = { root, dataDir, homeId: dataDir, sandbox: 'auto' as const, limits: UseLimits.parse(limits) };
  const config = AgentConfig.parse({ type: 'command', command: ['sh', '-c', script] });
  const request = {
    runId: 'run_refused',
    cwd: path.join(dataDir, 'worktrees', '1'),
    brief: { mode: 'implement' },
    timeoutMs: 60_000,
  } as AgentRequest;
  const nothing = () => undefined;
  const sink = { output: nothing, usage: nothing, progress: nothing, session: nothing } as never;
  return createAgentFor({ default: config }, host)('implement').start(request, sink).end;
}

describe("an agent's run that fails in the sandbox", () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));

  it('names the path that was not shown, and the setting', async () => {
    const file = path.join(base, 'elsewhere', 'rules.txt');
    const end = await run(`cat ${file} || exit 1`);
    expect(end).toMatchObject({ kind: 'failed', failure: 'crash' });
    expect(end).toHaveProperty('message', expect.stringContaining(`\`readable: [${file}]\` in .tidemill/config.yaml`));
    expect(JSON.stringify(end)).not.toContain('PRIVATE');
  });

  it('names the path that is read-only, and the setting', async () => {
    const end = await run(`echo x > ${base}/mine/made || exit 1`);
    expect(end).toHaveProperty('message', expect.stringContaining("`writable` in the agent's entry"));
  });

  it('ends with the limit that it exceeded', async () => {
    const end = await run('for i in $(seq 60); do sleep 100 & done; wait', { processes: 20 });
    expect(end).toMatchObject({
      kind: 'failed',
      failure: 'crash',
      message:
        'sh ran more than 20 processes at once; if it needs more, raise limits.processes in .tidemill/config.yaml',
    });
  });
});
