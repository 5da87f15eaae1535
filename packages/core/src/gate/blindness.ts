import type { Task } from '@tidemill/contract';

const BLIND = 'blind ';

/** What an approval is called by which a person says that a gate is right to pass; see `approvedPulls` of a task. */
export const blindnessOf = (gate: string, content: string): string => `${BLIND}${gate} ${content}`;

export const isAboutBlindness = (about: string): boolean => about.startsWith(BLIND);

/** The gates for which a person approved exactly this content. */
export const approvedBlindness = ({ approvedPulls }: Pick<Task, 'approvedPulls'>, content: string): string[] =>
  approvedPulls.filter(isAboutBlindness).flatMap((about) => {
    const [, gate = '', approved] = about.split(' ');
    return approved === content ? [gate] : [];
  });
