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
  const { workerId, name, role, isOutside = false } = command;
  if (known && known.isOutside !== isOutside) {
    const whose = known.isOutside ? 'a worker outside the daemon' : "one of the daemon's own workers";
    return refuse('conflict', `${name} is ${whose}`, 'take another name');
  }
  if (known?.role === role) return accept();
  return accept({ type: 'worker.registered', workerId, name, role, ...(isOutside ? { isOutside } : {}) });
}

export function removeWorker(slice: Slice, command: CommandOf<'worker.remove'>): Decision {
  if (!slice.workers.get(command.workerId)) return accept();
  return accept({ type: 'worker.removed', workerId: command.workerId });
}
