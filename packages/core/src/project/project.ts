import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function saveProject(
  slice: Slice,
  command: CommandOf<'project.register'> | CommandOf<'project.configure'>,
): Decision {
  const known = slice.projects.get(command.projectId);
  if (command.type === 'project.register') {
    if (known) return refuse('conflict', `project ${known.name} is already registered`);
    return accept({ type: 'project.registered', name: command.name, root: command.root, rules: command.rules });
  }
  if (!known) return refuse('not_found', `there is no project ${command.projectId}`);
  return accept({ type: 'project.configured', rules: command.rules });
}

export function registerWorker(slice: Slice, command: CommandOf<'worker.register'>): Decision {
  const known = slice.workers.get(command.workerId);
  if (known?.role === command.role) return accept();
  const { workerId, name, role } = command;
  return accept({ type: 'worker.registered', workerId, name, role });
}

export function removeWorker(slice: Slice, command: CommandOf<'worker.remove'>): Decision {
  if (!slice.workers.get(command.workerId)) return accept();
  return accept({ type: 'worker.removed', workerId: command.workerId });
}
