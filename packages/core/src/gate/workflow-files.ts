import type { Task } from '@tidemill/contract';
import type { ChangedFile } from './deciding/changed-file.ts';

/** A changed file that GitHub runs. */
export interface WorkflowFile {
  file: string;
  change: 'new' | 'changed' | 'removed';
  /** Identifies path and content: a person agrees to exactly this. */
  content: string;
}

/** What GitHub only shows to people. */
const SHOWN =
  /^\.github\/(([^/]+\.md)|(funding|codeowners)(\.yml)?|((issue|discussion|pull_request)_template\/[^/]+\.(md|ya?ml)))$/;
/** Everything else of `.github`, also the folder itself as a link or submodule, and actions of the repository. */
const RUN = /^\.github(\/|$)|(^|\/)action\.ya?ml$/;

const isRun = (path: string): boolean => {
  // In lower case: what differs only in case may be the same file somewhere.
  const lower = path.toLowerCase();
  return RUN.test(lower) && !SHOWN.test(lower);
};

/** The files among the changed ones that GitHub runs with the repository's secrets once they are pushed. */
export function workflowFiles(changed: readonly ChangedFile[], hash: (text: string) => string): WorkflowFile[] {
  return changed
    .filter(({ path }) => isRun(path))
    .map(({ path, before, after }) => ({
      file: path,
      change: after === null ? 'removed' : before === null ? 'new' : 'changed',
      content: hash(JSON.stringify([path, after?.mode ?? null, after?.oid ?? null])).slice(0, 32),
    }));
}

const AGREED = 'workflows ';

/** What an approval of these files is called; see `approvedPulls` of a task. */
export const agreementTo = (files: readonly WorkflowFile[]): string =>
  `${AGREED}${files.map(({ content }) => content).join(' ')}`;

export const isAboutWorkflows = (about: string): boolean => about.startsWith(AGREED);

/** The contents that a person agreed to push. */
export const agreedContents = ({ approvedPulls }: Pick<Task, 'approvedPulls'>): string[] =>
  approvedPulls.filter(isAboutWorkflows).flatMap((about) => about.slice(AGREED.length).split(' '));
