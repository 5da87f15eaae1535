import type { Mode, Task } from '@tidemill/contract';
import type { Briefing, Gates, Workspace } from '../ports.ts';
import { decidingIn } from './deciding.ts';
import type { EngineDeps } from './deps.ts';

const DIFF_LIMIT = 200_000;

export interface BriefingSources extends Pick<EngineDeps, 'project' | 'store' | 'prompts'> {
  workspace: Pick<Workspace, 'diff' | 'changedFiles'>;
  gates: Pick<Gates, 'checks'>;
}

/** What an agent is told about a task: the same for the one that is about to start and for a person who wants to know. */
export async function briefingFor(sources: BriefingSources, task: Task, mode: Mode): Promise<Briefing> {
  const { workspace, store, project, prompts } = sources;
  const head = mode === 'review' ? task.head : null;
  const diff = head ? await workspace.diff({ number: task.number, branch: task.branch }, DIFF_LIMIT) : '';
  const deciding = head ? await decidingIn(sources, task) : [];
  const links = head ? await store.evidenceForTree(project.id, head.tree) : [];
  const gates = links.map((link) => `${link.gate}: ${link.status} (${link.command})`).join('\n');
  const { target } = project.rules;
  const hilConfig = task.hilConfig ?? project.rules.hilConfig;
  return prompts.render({ task, mode, target, diff, deciding, gates, hilConfig });
}
