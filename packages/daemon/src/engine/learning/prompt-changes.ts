import { type Actor, AppError, type Project, type PromptChange, promptChangeRef, type Tally } from '@tidemill/contract';
import { unwrap } from '@tidemill/core';
import type { PromptFiles, Store } from '../../ports.ts';

interface Sources {
  store: Store;
  project: Pick<Project, 'id'>;
  files: PromptFiles;
}

const RUNS = 50;

/** How the builders' newest runs ended, since a time: at the first try, or not. */
export async function builtSince(
  { store, project }: Pick<Sources, 'store' | 'project'>,
  after: number,
): Promise<Tally> {
  const ended = await store.runsEnded({ projectId: project.id, after });
  const own = ended.filter(({ mode, outcome }) => mode === 'implement' && outcome !== 'interrupted').slice(-RUNS);
  const runs = await Promise.all(own.map(({ id }) => store.run(id)));
  const good = runs.filter((run) => run?.outcome === 'pr_ready' && run.validationRetries === 0).length;
  return { good, total: runs.length };
}

/**
 * Writes the text, then records it. After a crash in between, the same request succeeds. A file that was changed
 * meanwhile is not overwritten.
 */
export async function applyPrompt(sources: Sources, change: PromptChange, why: string, by: Actor): Promise<void> {
  const baseline = await builtSince(sources, 0);
  await swap(sources, change, change.before, change.text);
  await decide(sources, change, { status: 'applied', why, baseline, by });
}

export async function rollBackPrompt(sources: Sources, change: PromptChange, why: string, by: Actor): Promise<void> {
  await swap(sources, change, change.text, change.before);
  await decide(sources, change, { status: 'rolled_back', why, baseline: null, by });
}

async function swap({ files }: Sources, { file, number }: PromptChange, from: string, to: string): Promise<void> {
  const now = await files.read(file);
  if (now === to) return;
  if (now !== from)
    throw new AppError('conflict', `${file} was changed since ${promptChangeRef(number)} was proposed`, {
      hint: 'Compare the texts, and propose the new one again.',
    });
  await files.write(file, to);
}

async function decide(
  { store, project }: Sources,
  { id: promptChangeId }: PromptChange,
  decision: { status: 'applied' | 'rolled_back'; why: string; baseline: Tally | null; by: Actor },
): Promise<void> {
  unwrap(await store.execute({ type: 'prompt_change.decide', projectId: project.id, promptChangeId, ...decision }));
}
