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
