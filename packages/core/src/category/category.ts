import type { Category, EventBody } from '@tidemill/contract';
import type { SubjectPart } from '../subject/part.ts';
import { FAILED_REST_MS, NO_IDEA_REST_MS } from './choose.ts';

/** A category as the subject of the job that looks for an improvement in it. */
export const categoryPart: SubjectPart<'category'> = {
  jobEnded(_slice, category, job, end, env) {
    const rest = (ms: number, why: string): EventBody[] => [rested(category, env.now + ms, why)];
    if ('why' in end)
      return end.status === 'cancelled' ? [] : rest(FAILED_REST_MS, `no usable proposal: ${end.why.slice(0, 500)}`);
    if (end.status === 'asked') return rest(FAILED_REST_MS, 'its agent asked a question instead of proposing');
    const { outcome, proposal: draft, summary } = end.envelope;
    if (outcome !== 'proposed' || !draft) return rest(NO_IDEA_REST_MS, summary.slice(0, 500) || 'nothing to improve');
    const { id: categoryId, slug } = category;
    const proposalId = env.newId('proposal');
    return [{ type: 'proposal.made', proposalId, categoryId, category: slug, jobId: job.id, draft }];
  },
  // Its turn comes again by itself.
  resumed: () => [],
};

const rested = ({ id: categoryId, slug: category }: Category, until: number, why: string): EventBody => ({
  type: 'category.rested',
  categoryId,
  category,
  until,
  why,
});
