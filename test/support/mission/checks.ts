import type { Finding } from '@tidemill/contract';
import { expect } from 'vitest';
import type { TidemillHome } from '../tidemill-home.ts';

export async function expectHealthy(machine: TidemillHome, root: string): Promise<void> {
  const { code, stdout, stderr } = await machine.run(['doctor', '--json'], root);
  const { findings } = JSON.parse(stdout || '{"findings":[]}') as { findings: Finding[] };
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(code, stderr).toBe(0);
}

/** The evidence of every commit that landed is valid. */
export async function expectProven(machine: TidemillHome, root: string): Promise<void> {
  const commits = (await machine.git(root, 'rev-list', '--grep=^Task: #', 'main')).split('\n');
  for (const commit of commits) {
    const { ok, checks } = await machine.ask(root, (api, project) => api.verifyEvidence({ project, commit }));
    expect(ok, JSON.stringify(checks)).toBe(true);
  }
}

export const tasksOf = (machine: TidemillHome, root: string) =>
  machine.ask(root, (api, project) => api.tasks({ project }));
