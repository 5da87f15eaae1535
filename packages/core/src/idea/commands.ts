import type { Actor, IdeaArtifact, IdeaCorrection, SignalKind } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import {
  archiveIdea,
  correctIdea,
  createIdea,
  endResearch,
  forkIdea,
  pauseIdea,
  removeSignal,
  resumeIdea,
  sayToIdea,
} from './idea.ts';
import { beginReply } from './reply.ts';

interface OfIdea {
  ideaId: string;
  by: Actor;
}

export interface IdeaCommands {
  'idea.create': OfIdea & { text: string; title?: string };
  'idea.say': OfIdea & { text: string };
  /** The agent of the next reply is being briefed. */
  'idea.begin_reply': { ideaId: string; jobId: string };
  'idea.correct': OfIdea & { correction: IdeaCorrection };
  'idea.remove_signal': OfIdea & { kind: SignalKind; key: string };
  'idea.pause': OfIdea;
  'idea.resume': OfIdea;
  'idea.archive': OfIdea;
  'idea.fork': OfIdea & { forkId: string; title?: string };
  'idea.end_research': OfIdea & {
    status: 'done' | 'skipped' | 'failed' | 'off';
    why: string;
    artifact: Pick<IdeaArtifact, 'summary' | 'content' | 'confidence'> | null;
  };
}

const scope = ({ ideaId }: { ideaId: string }) => [look('record', ideaId)];

export const ideaCommands: CommandParts<keyof IdeaCommands> = {
  // The project counts its ideas.
  'idea.create': {
    scope: (command) => [look('lockedProject', command.projectId), ...scope(command)],
    decide: createIdea,
  },
  'idea.say': { scope, decide: sayToIdea },
  'idea.begin_reply': { scope, decide: beginReply },
  'idea.correct': { scope, decide: correctIdea },
  'idea.remove_signal': { scope, decide: removeSignal },
  'idea.pause': { scope, decide: pauseIdea },
  'idea.resume': { scope, decide: resumeIdea },
  'idea.archive': { scope: ({ ideaId }) => [...scope({ ideaId }), look('openRecordsOf', ideaId)], decide: archiveIdea },
  'idea.fork': {
    scope: ({ projectId, ideaId, forkId }) => [
      look('lockedProject', projectId),
      look('record', ideaId),
      look('record', forkId),
    ],
    decide: forkIdea,
  },
  'idea.end_research': { scope, decide: endResearch },
};
