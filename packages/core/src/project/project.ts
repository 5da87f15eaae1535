import type { CommandOf, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function saveProject(
  slice: Slice,
  command: CommandOf<'project.register' | 'project.move' | 'project.configure'>,
): Decision {
  const known = slice.projects.get(command.projectId);
  if (command.type === 'project.register') {
    if (known) return refuse('conflict', `project ${known.name} is already registered`);
    const { name, root, rules, firstCommit = null } = command;
    return accept({ type: 'project.registered', name, root, rules, firstCommit });
  }
  if (!known) return refuse('not_found', `there is no project ${command.projectId}`);
  if (command.type === 'project.move')
    return known.root === command.root ? accept() : accept({ type: 'project.moved', root: command.root });
  return accept({ type: 'project.configured', rules: command.rules });
}
