import { hash } from 'node:crypto';
import type { Project, Trace } from '@tidemill/contract';
import { type OwnTrace, ownTrace } from '../../engine/learning/own-trace.ts';
import type { Services } from '../context.ts';
import { unwrap } from '../find.ts';

/** Records a trace of a person, a program or an agent. */
export async function recordOwnTrace(services: Services, project: Project, own: OwnTrace): Promise<Trace> {
  const trace = await ownTrace({ ...services, hash: (text) => hash('sha256', text) }, project, own);
  unwrap(await services.store.execute({ type: 'trace.store', projectId: project.id, trace }));
  return { noun: 'trace', projectId: project.id, ...trace };
}
