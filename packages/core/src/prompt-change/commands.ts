import type { Actor, PromptChange, PromptTrial, Tally } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { decidePrompt, judgePrompt, proposePrompt } from './prompt-change.ts';

export interface PromptChangeCommands {
  'prompt_change.propose': {
    promptChangeId: string;
    change: Pick<PromptChange, 'file' | 'before' | 'text' | 'why' | 'replayId'>;
    by: Actor;
  };
  'prompt_change.judge': { promptChangeId: string; trial: PromptTrial };
  /** The file is already written. */
  'prompt_change.decide': {
    promptChangeId: string;
    status: 'applied' | 'refused' | 'rolled_back';
    why: string;
    baseline: Tally | null;
    by: Actor;
  };
}

const alone = ({ promptChangeId }: { promptChangeId: string }) => [look('record', promptChangeId)];

export const promptChangeCommands: CommandParts<keyof PromptChangeCommands> = {
  'prompt_change.propose': {
    // The project's lock keeps two of them from getting the same number.
    scope: ({ projectId, promptChangeId }) => [
      look('lockedProject', projectId),
      look('record', promptChangeId),
      look('recordsOf', projectId, 'prompt_change'),
    ],
    decide: proposePrompt,
  },
  'prompt_change.judge': { scope: alone, decide: judgePrompt },
  'prompt_change.decide': { scope: alone, decide: decidePrompt },
};
