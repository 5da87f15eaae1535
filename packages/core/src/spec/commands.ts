import type { Actor, SpecComment, SpecDraft, SpecSource, SpecTaskLink } from '@tidemill/contract';
import { specVersionId } from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { approveSpec, editSpec, importSpec, rejectSpec, requestSpec, reviseSpec, settleSpec } from './draft.ts';
import { abortSpec, acceptSpec, beginSpec, checkSpec, extendSpec, resumeSpec } from './work.ts';

interface OfSpec {
  specId: string;
}

/** Those of a person name the version they saw. */
export interface SpecCommands {
  /** An agent writes it. */
  'spec.request': OfSpec & { title: string; source: SpecSource; by: Actor };
  /** A person wrote it. */
  'spec.import': OfSpec & { draft: SpecDraft; source: SpecSource; by: Actor };
  'spec.edit': OfSpec & { version: number; draft: SpecDraft; by: Actor };
  'spec.revise': OfSpec & { version: number; comments: Pick<SpecComment, 'line' | 'quote' | 'text'>[]; by: Actor };
  /** Together with the creation of `tasks`, in one transaction. */
  'spec.approve': OfSpec & { version: number; tasks: SpecTaskLink[]; override: boolean; by: Actor };
  'spec.reject': OfSpec & { why: string; by: Actor };
  /** From the engine: there is nothing to ask, or all is answered. */
  'spec.settle': OfSpec;
  'spec.begin': OfSpec;
  /** Together with the cancelling of the tasks in `held`. */
  'spec.abort': OfSpec & { why: string; held: string[]; by: Actor };
  'spec.resume': OfSpec & { by: Actor };
  /** All tasks have landed. `unbuilt`: requirements without a landed task. */
  'spec.check': OfSpec & { unbuilt: string[] };
  'spec.accept': OfSpec & { by: Actor };
  /** Together with the creation of `tasks`. */
  'spec.extend': OfSpec & { tasks: SpecTaskLink[]; by: Actor };
}

const alone = ({ specId }: OfSpec): Lookup[] => [look('record', specId)];
const withQuestions = ({ specId }: OfSpec): Lookup[] => [look('record', specId), look('openRecordsOf', specId)];
const withVersion = ({ specId, version }: OfSpec & { version: number }): Lookup[] => [
  ...withQuestions({ specId }),
  look('record', specVersionId(specId, version)),
];
/** The project's lock keeps two requests from getting the same number. */
const numbered = ({ projectId, specId }: OfSpec & { projectId: string }): Lookup[] => [
  look('lockedProject', projectId),
  look('record', specId),
  look('recordsOf', projectId, 'spec'),
];

export const specCommands: CommandParts<keyof SpecCommands> = {
  'spec.request': { scope: numbered, decide: requestSpec },
  'spec.import': { scope: numbered, decide: importSpec },
  'spec.edit': { scope: withQuestions, decide: editSpec },
  'spec.revise': { scope: withVersion, decide: reviseSpec },
  'spec.approve': { scope: withVersion, decide: approveSpec },
  'spec.reject': { scope: withQuestions, decide: rejectSpec },
  'spec.settle': { scope: withQuestions, decide: settleSpec },
  'spec.begin': { scope: alone, decide: beginSpec },
  'spec.abort': { scope: withQuestions, decide: abortSpec },
  'spec.resume': { scope: alone, decide: resumeSpec },
  'spec.check': { scope: alone, decide: checkSpec },
  'spec.accept': { scope: alone, decide: acceptSpec },
  'spec.extend': { scope: alone, decide: extendSpec },
};
