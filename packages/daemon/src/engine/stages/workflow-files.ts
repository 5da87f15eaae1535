import { type Feedback, plainName } from '@tidemill/contract';
import { agreedContents, agreementTo, type WorkflowFile, workflowFiles } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

type Trees = { base: string; tree: string };

/** How the rule is called among the gates that send work back. */
export const WORKFLOW_FILES = 'workflow files';
/** The rest are only counted. */
const MOST_FILES = 50;

/**
 * The files of the change that GitHub would run with the repository's secrets, and that no person agreed to push. Only the
 * trees count. `agreed`: what people agreed to, if the change is that of several tasks.
 */
export async function openWorkflows(
  { workspace, workflows, hash }: EngineDeps,
  { ref, task }: LeasedTask,
  trees: Trees,
  agreed: string[] = agreedContents(task),
): Promise<WorkflowFile[]> {
  if (workflows === undefined || workflows === 'allow') return [];
  const { changed } = await workspace.changedFiles(ref, { trees, alsoBefore: [] });
  const files = workflowFiles(changed, hash);
  return workflows === 'refuse' ? files : files.filter(({ content }) => !agreed.includes(content));
}

/** Before anything is pushed: asks a person, or sends the work back. Returns true when the lease was released. */
export async function holdWorkflows(deps: EngineDeps, leased: LeasedTask, trees: Trees): Promise<boolean> {
  const files = await openWorkflows(deps, leased, trees);
  if (files.length === 0) return false;
  if (deps.workflows === 'refuse') {
    const message = `It changes files that GitHub runs. (${namesOf(files)})`;
    const feedback = [refusedFeedback(files)];
    await leased.must({ type: 'stage.finish', outcome: 'failed', failure: 'validation', message, feedback });
    return true;
  }
  const diff = `git diff ${deps.project.rules.target}...${leased.ref.branch}`;
  await leased.must({
    type: 'merge.ask',
    about: agreementTo(files),
    text: `the work changes files that GitHub runs with the repository's secrets (${namesOf(files)}). Nothing was pushed. Push it?`,
    context: listOf(files),
    approves: `Exactly this content is pushed. Read it first: \`${diff}\`.`,
  });
  return true;
}

export const refusedFeedback = (files: WorkflowFile[]): Feedback => ({
  kind: 'gate',
  text: `These files must not be changed, because GitHub runs them. Undo your changes to them:\n${listOf(files)}`,
  files: files.map(({ file }) => file),
});

export const heldText = (files: WorkflowFile[]): string =>
  `the change has files that GitHub runs (${namesOf(files)}), and no person has agreed to push them yet. Nothing was pushed.`;

const listOf = (files: WorkflowFile[]) =>
  [
    ...files.slice(0, MOST_FILES).map(({ file, change }) => `- ${plainName(file)} (${change})`),
    ...(files.length > MOST_FILES ? [`- and ${files.length - MOST_FILES} more`] : []),
  ].join('\n');

function namesOf(files: WorkflowFile[]): string {
  const names = files.slice(0, 3).map(({ file }) => plainName(file));
  return names.join(', ') + (files.length > names.length ? ` and ${files.length - names.length} more` : '');
}
