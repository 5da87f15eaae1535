import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GuardedEngine } from '../../../../../test/support/guarded-engine.ts';
import { provenFile } from '../../hooks/hook-evidence.ts';
import { knowledgeFile } from '../../hooks/session-answer.ts';
import { OwnSessionWatch } from './own-sessions.ts';

let engine: GuardedEngine;
beforeEach(async () => {
  engine = await GuardedEngine.open();
});
afterEach(() => engine.close());

test('an own session is told what is open, and its hook knows the evidence that says pass', async () => {
  const { tools, dataDir, folder, bed } = engine;
  await engine.run(1);
  await bed.add(2);
  const watch = new OwnSessionWatch(tools, { all: async () => [] }, tools.sessions);
  await watch.handle();
  const [proven] = (await bed.store.evidence({ projectId: bed.projectId })).filter(({ status }) => status === 'pass');
  expect(readFileSync(provenFile(dataDir, folder), 'utf8')).toContain(proven!.hash);
  expect(readFileSync(knowledgeFile(dataDir, folder), 'utf8')).toMatch(/^Open work of Tidemill here\./);
});

test('an own session that starts after the daemon stopped is told the last state', async () => {
  const { dataDir, folder, bed } = engine;
  await engine.run(1);
  await bed.add(2);
  await bed.stop();
  expect(readFileSync(knowledgeFile(dataDir, folder), 'utf8')).toMatch(/#2 |1 waiting in the queue/);
});
