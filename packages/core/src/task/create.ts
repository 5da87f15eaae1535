import { findTask } from '../check-fence.ts';
import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { slugOf } from '../slug.ts';
import { criteriaOf } from './criteria.ts';

export function createTask(slice: Slice, command: CommandOf<'task.create'>): Decision {
  const project = slice.projects.get(command.projectId);
  if (!project) return refuse('not_found', `there is no project ${command.projectId}`);
  if (slice.tasks.get(command.taskId)) return refuse('conflict', 'that task was already created');
  const pipeline =
    command.pipeline ?? (command.kind === 'bug' && project.rules.pipelines.bug ? 'bug' : project.rules.defaultPipeline);
  if (!Object.hasOwn(project.rules.pipelines, pipeline)) {
    const known = Object.keys(project.rules.pipelines).join(', ');
    return refuse('unknown_pipeline', `there is no pipeline "${pipeline}"`, `choose one of ${known}`);
  }
  const unknown = command.repairs?.find((gate) => !project.rules.gates.includes(gate));
  if (unknown !== undefined) {
    const known = project.rules.gates.join(', ');
    return refuse('not_found', `there is no gate "${unknown}" to repair`, `choose one of ${known}`);
  }
  const dependsOn = [...new Set(command.dependsOn)];
  const missing = dependsOn.find((id) => slice.tasks.get(id)?.projectId !== project.id);
  if (missing) return refuse('not_found', `there is no task ${missing} to depend on`);
  const number = project.nextNumber;
  return accept({
    type: 'task.created',
    taskId: command.taskId,
    number,
    title: command.title,
    body: command.body,
    kind: command.kind,
    pipeline,
    criteria: criteriaOf(command.body, command.accept),
    files: command.files,
    dependsOn,
    unmet: unmetOf(slice, dependsOn),
    priority: command.priority,
    branch: `task/${number}-${slugOf(command.title)}`,
    hilConfig: command.hilConfig ?? null,
    repairs: command.repairs ?? [],
    validate: command.validate ?? '',
    estimateMinutes: command.estimateMinutes ?? null,
    origin: command.origin ?? null,
  });
}

export function setDependencies(slice: Slice, command: CommandOf<'task.set_dependencies'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  if (task.stage !== 'open')
    return refuse('wrong_stage', `#${task.number} has already started`, 'only an open task can get dependencies');
  const dependsOn = [...new Set(command.dependsOn)];
  const missing = dependsOn.find((id) => slice.tasks.get(id)?.projectId !== project.id);
  if (missing) return refuse('not_found', `there is no task ${missing} to depend on`);
  const through = dependsOn.find((id) => id === task.id || reaches(slice, id, task.id));
  if (through) {
    const other = slice.tasks.get(through)!;
    const message =
      other.id === task.id
        ? `#${task.number} cannot wait for itself`
        : `#${other.number} already waits for #${task.number}`;
    return refuse('dependency_cycle', message, 'remove one of the two dependencies');
  }
  return accept({ type: 'task.dependencies_set', taskId: task.id, dependsOn, unmet: unmetOf(slice, dependsOn) });
}

function unmetOf(slice: Slice, dependsOn: string[]): number {
  return dependsOn.filter((id) => slice.tasks.get(id)!.stage !== 'done').length;
}

function reaches(slice: Slice, from: string, to: string): boolean {
  const seen = new Set<string>();
  const pending = [from];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    pending.push(...slice.edges(id));
  }
  return false;
}
