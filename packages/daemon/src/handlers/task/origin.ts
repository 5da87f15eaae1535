import type { Task, TaskDetail } from '@tidemill/contract';
import type { Store } from '../../ports.ts';
import { subjectOf } from '../question/subject.ts';

const TRACKER = '/settings#tracker';

/** Where a task comes from, as people name it. Null when somebody added it by hand. */
export async function originOf(store: Store, { id, projectId, origin }: Task): Promise<TaskDetail['origin']> {
  if (!origin || origin.kind === 'person') return null;
  if (origin.kind === 'tracker') {
    const by = origin.author ? ` by ${origin.author}` : '';
    const trust = origin.isTrusted === false ? ', who may not push' : '';
    return { text: `${origin.key ?? 'an item of the tracker'}${by}${trust}`, page: TRACKER, url: origin.url ?? null };
  }
  if (origin.kind === 'loop') {
    const proposal = await store.record('proposal', origin.id);
    const ref = proposal ? `proposal ${proposal.number}` : 'a proposal';
    const [item] = await store.records({ noun: 'tracker_item', projectId, parent: id });
    const as = item?.key ? `, ${item.key}` : '';
    const text = `${ref} of the loop${origin.category ? `, ${origin.category}` : ''}${as}`;
    return { text, page: '/loop', url: item?.url ?? null };
  }
  const subject = await subjectOf(store, { subjectId: origin.id });
  if (!subject) return null;
  const requirements = origin.requirements?.length ? ` (${origin.requirements.join(', ')})` : '';
  return { text: `${subject.ref} ${subject.title}${requirements}`, page: subject.page, url: null };
}
