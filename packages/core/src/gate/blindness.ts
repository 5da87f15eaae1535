import type { Task } from '@tidemill/contract';

const BLIND = 'blind ';

/** What an approval is called by which a person lets gates pass that notice nothing; see `approvedPulls` of a task. */
export const blindnessOf = (gates: readonly string[], content: string): string =>
  `${BLIND}${gates.join(',')} ${content}`;

export const isAboutBlindness = (about: string): boolean => about.startsWith(BLIND);

/** The gates for which a person approved exactly this content. */
export const approvedBlindness = ({ approvedPulls }: Pick<Task, 'approvedPulls'>, content: string): string[] =>
  approvedPulls.filter(isAboutBlindness).flatMap((about) => {
    const [, gates = '', approved] = about.split(' ');
    return approved === content ? gates.split(',') : [];
  });
