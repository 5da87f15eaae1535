import type { Task, TaskDetail } from '@tidemill/contract';
import type { Store } from '../../ports.ts';
import { subjectOf } from '../people/subject.ts';

/** Where a task comes from, as people name it. Null when somebody added it by hand. */
export async function originOf(store: Store, { origin }: Task): Promise<TaskDetail['origin']> {
  if (!origin || origin.kind === 'person') return null;
  if (origin.kind === 'loop') {
    const proposal = await store.record('proposal', origin.id);
    const ref = proposal ? `proposal ${proposal.number}` : 'a proposal';
    return { text: `${ref} of the loop${origin.category ? `, ${origin.category}` : ''}`, page: '/loop' };
  }
  const subject = await subjectOf(store, { subjectId: origin.id });
  if (!subject) return null;
  const requirements = origin.requirements?.length ? ` (${origin.requirements.join(', ')})` : '';
  return { text: `${subject.ref} ${subject.title}${requirements}`, page: subject.page };
}
