import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { AgentView } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TrialReport } from '../../packages/daemon/src/assembly/trial-report.ts';
import { call, refusals, startMessagesServer, structured } from '../support/model/messages.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { CLAUDE_CODE, installVendor } from '../support/vendor.ts';
import { TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
beforeAll(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({});
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

async function trial(name: string, cwd: string): Promise<{ code: number | null; report: TrialReport }> {
  const { code, stdout, stderr } = await machine.run(['agents', 'test', name, '--json'], cwd);
  expect(stdout, stderr).not.toBe('');
  return { code, report: JSON.parse(stdout) as TrialReport };
}
const verdicts = ({ steps }: TrialReport) => Object.fromEntries(steps.map(({ name, ok }) => [name, ok]));

describe('Claude Code', { timeout: 240_000 }, () => {
  test('is listed, responds, and does the trial outside a project', async (context) => {
    const vendor = await installVendor(...CLAUDE_CODE);
    if ('missing' in vendor) return context.skip(true, vendor.missing);
    machine.env.PATH = `${vendor.bin}${delimiter}${process.env.PATH}`;
    const folder = join(repository.folder, 'elsewhere');
    repository.write({ '../elsewhere/note.txt': 'no repository\n' });
    expect(existsSync(join(folder, '.tidemill'))).toBe(false);

    const listed = await machine.json<AgentView[]>(['agents'], folder);
    expect(listed.find(({ name }) => name === 'claude')).toMatchObject({
      installed: true,
      where: vendor.program,
      version: expect.stringMatching(/^\d+\.\d+/),
      can: { hooks: true, cost: true, structuredOutput: true, resume: true },
    });

    const server = await startMessagesServer([
      call('Bash', { command: 'printf "the mill turns\\n" > tidemill-trial.txt', description: 'write' }),
      structured({ outcome: 'pr_ready', summary: 'wrote it' }),
    ]);
    machine.env.ANTHROPIC_API_KEY = 'dummy';
    machine.env.ANTHROPIC_BASE_URL = server.url;
    try {
      const { report } = await trial('claude', folder);
      expect(report.failure).toBeNull();
      expect(verdicts(report)).toEqual({
        started: true,
        session: true,
        'tool use': true,
        'file written': true,
        'structured result': true,
        cost: true,
        stopped: true,
      });
      expect(report.usage.costUsd).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
    const locked = await startMessagesServer(refusals.auth);
    machine.env.ANTHROPIC_BASE_URL = locked.url;
    try {
      const { code, report } = await trial('claude', folder);
      expect(report).toMatchObject({ ok: false, failure: { class: 'auth', hint: expect.stringContaining('Log in') } });
      expect(code).toBe(1);
    } finally {
      await locked.stop();
    }
  });
});
