import { AppError, isBuilding, nearest, type PromptView, type RouteRequest, TaskMode } from '@tidemill/contract';
import { loadSettings } from '../../config/load.ts';
import { lessonsFor } from '../../engine/learning/run-lessons.ts';
import { briefingFor } from '../../engine/stages/briefing.ts';
import type { Workspace, WorktreeRef } from '../../ports.ts';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';

/** The prompt that an agent would get now. Creates no worktree and no run. */
export async function showPrompt(services: Services, input: RouteRequest<'prompt'>): Promise<PromptView> {
  const mode = modeNamed(input.mode);
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const diff = (ref: WorktreeRef, maxBytes: number) =>
    services.repositories.withWorkspace(project, (workspace) => workspace.diff(ref, maxBytes)).catch(explain);
  const changedFiles: Workspace['changedFiles'] = (ref, asked) =>
    services.repositories.withWorkspace(project, (workspace) => workspace.changedFiles(ref, asked)).catch(explain);
  const filesIn: Workspace['filesIn'] = (commit, against) =>
    services.repositories.withWorkspace(project, (workspace) => workspace.filesIn(commit, against));
  const mergeLosses: Workspace['mergeLosses'] = (ref) =>
    services.repositories.withWorkspace(project, (workspace) => workspace.mergeLosses(ref));
  // A reviewer gets the files that control what gates check, a builder their commands.
  const needsGates = mode === 'review' || isBuilding(mode);
  const checks = needsGates ? (await loadSettings(project.root)).config.gates.filter(({ run }) => run !== '') : [];
  const sources = {
    project,
    store: services.store,
    prompts: services.repositories.promptsOf(project),
    workspace: { diff, changedFiles, filesIn, mergeLosses },
    gates: { checks },
  };
  const knowledge = services.repositories.knowledgeOf(project);
  const onNote = (text: string, error?: unknown) => {
    throw new AppError('bad_config', text, { cause: error });
  };
  const lessons = await lessonsFor({ project, store: services.store, knowledge, onNote }, task, mode);
  const { shown: _shown, traces: _traces, ...briefing } = await briefingFor(sources, task, mode, lessons);
  return { number: task.number, mode, ...briefing };
}

function modeNamed(text: string): TaskMode {
  const mode = TaskMode.safeParse(text);
  if (mode.success) return mode.data;
  const guess = nearest(text, TaskMode.options);
  const modes = `The modes are ${TaskMode.options.join(', ')}.`;
  throw new AppError('bad_input', `there is no mode "${text}"`, {
    hint: guess ? `Did you mean ${guess}? ${modes}` : modes,
  });
}

function explain(error: unknown): never {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  throw new AppError('not_found', `${error.message}: there is no change to review`, {
    hint: 'The branch is removed when its task lands or is cancelled. `git show COMMIT` shows a landed change.',
    cause: error,
  });
}
