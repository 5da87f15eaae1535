import { type AccessRole, MODES, type Mode } from '@tidemill/contract';

/**
 * Who uses the tools. A token has its access role. The agent of a run has a role by its mode: a builder works on a task, a
 * reviewer judges, an analyst thinks about other subjects. Agents read, and store what they learned.
 */
export type McpRole = AccessRole | AgentRole;
type AgentRole = 'builder' | 'reviewer' | 'analyst';

export const AGENTS: readonly McpRole[] = ['builder', 'reviewer', 'analyst'];
export const READERS: readonly McpRole[] = ['viewer', 'operator', 'admin', 'worker', 'agent'];
/** They add tasks, comments, lessons and proposals. */
export const ADDERS: readonly McpRole[] = ['operator', 'admin', 'agent'];
export const WORKERS: readonly McpRole[] = ['worker', 'admin'];

export function roleOfMode(mode: Mode): AgentRole {
  const { role, subject } = MODES[mode];
  if (role === 'reviewer') return 'reviewer';
  return subject === 'task' ? 'builder' : 'analyst';
}
