import { isBuilding } from '@tidemill/contract';
import { afterEach, expect, it } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { MINUTE } from '../../../../../test/support/merge-bed.ts';
import type { Agent } from '../../ports.ts';

let bed: EngineBed;
afterEach(() => bed.close());

it('what a planning or reviewing agent writes is put back, and never lands', async () => {
  const modes: string[] = [];
  const writing = (agent: Agent): Agent => ({
    label: 'writing',
    start(request, hooks) {
      const { mode } = request.brief;
      modes.push(mode);
      if (!isBuilding(mode)) bed.repository.work(request.cwd)!.set(`stray-${mode}`, 'fine');
      return agent.start(request, hooks);
    },
  });
  bed = await EngineBed.open({ defaultPipeline: 'feature' }, (of) => ({
    agentFor: () => writing(quickAgent(() => of.repository)),
  }));
  await bed.start();
  await bed.add(1, { accept: ['it works'] });
  await bed.pass(20 * MINUTE);
  expect(modes).toEqual(['plan', 'implement', 'review']);
  expect([...bed.repository.commits.get(bed.repository.target)!.files.keys()]).toEqual(['readme', 'file-1']);
});
