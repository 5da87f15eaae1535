import { personActor } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { Random } from '../../../../../test/sim/random.ts';
import { SimRepository } from '../../../../../test/sim/repository.ts';
import { defaultRules } from '../../../../../test/support/mill.ts';
import { createIds, systemClock } from '../../clock.ts';
import { openStore } from '../../store/open.ts';
import type { EngineDeps } from '../deps.ts';
import type { Fleet } from '../workers/fleet.ts';
import { WorktreeCleanup } from './worktrees.ts';

const projectId = 'project_1';

test('a worktree that stayed after its task ended, because of an outage, is removed later', async () => {
  const store = await openStore({ url: 'memory:', clock: systemClock, ids: createIds(systemClock) });
  await store.execute({ type: 'project.register', projectId, name: 'demo', root: '/demo', rules: defaultRules });
  const workspace = new SimRepository(systemClock, new Random(1));
  for (const number of [1, 2]) {
    const about = { projectId, taskId: `task_${number}` };
    const text = { title: `Task ${number}`, body: '', kind: 'feature', accept: [], files: [], dependsOn: [] } as const;
    await store.execute({ type: 'task.create', ...about, ...text, accept: [], files: [], dependsOn: [], priority: 2 });
    await workspace.open((await store.task(about.taskId))!);
  }
  await store.execute({ type: 'task.cancel', projectId, taskId: 'task_1', by: personActor('ada') });
  const project = (await store.project(projectId))!;
  const deps = { store, workspace, project } as unknown as EngineDeps;
  const cleanup = new WorktreeCleanup(deps, { slots: [] } as unknown as Fleet);
  await cleanup.handle({ cause: 'tick', tickIn: () => undefined });
  expect([...workspace.branches.keys()]).toEqual([(await store.task('task_2'))!.branch]);
  await store.close();
});
