import { LEAST_CRITERIA, type ProposalDraft } from '@tidemill/contract';

/** Shorter ones cannot say what is seen, and under which condition. */
const SHORTEST = 12;
/** Praise instead of something that a test could see. */
const PRAISE =
  /^(?:the |it |its |this |all |every(?:thing)? |code |feature |app(?:lication)? |page |performance |quality )*(?:works?|is|are|looks?|feels?|becomes?|has been|was)? ?(?:much |very |more )?(?:well|good|better|best|nice|nicer|clean(?:er)?|fast(?:er)?|improved?|readable|robust|correct(?:ly)?|proper(?:ly)?|fine|ok|okay|done|complete|as expected|maintainable)\.?$/i;

/** Whether a test could show that it holds, as far as its words tell. */
const isTestable = (criterion: string): boolean =>
  [...criterion.trim()].length >= SHORTEST && !PRAISE.test(criterion.trim());

/** What is wrong with a proposal whose form is right, in words for its agent; null when nothing is. */
export function problemOfProposal({ criteria }: Pick<ProposalDraft, 'criteria'>): string | null {
  const vague = criteria.filter((each) => !isTestable(each));
  const testable = new Set(criteria.filter(isTestable).map((each) => each.trim().toLowerCase())).size;
  if (testable >= LEAST_CRITERIA) return null;
  const which = vague.length > 0 ? ` These say nothing that a test could see: ${vague.join(' / ')}.` : '';
  return `The proposal needs at least ${LEAST_CRITERIA} different criteria that a test can check, and has ${testable}.${which}`;
}
