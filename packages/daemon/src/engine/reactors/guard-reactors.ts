import type { RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { GuardLearner } from './guard-learner.ts';
import { GuardWatch } from './guard-watch.ts';

/** The reactors about proposed guards, where guards can be proposed. */
export function guardReactors(deps: EngineDeps): RoutedReactor[] {
  const { learnedGuards: guards, calls, ownSessions: sessions, store, clock, project } = deps;
  if (!guards || !calls || !sessions) return [];
  const tools = { store, clock, project, guards, calls, sessions, hash: (text: string) => deps.hash(text) };
  return [new GuardWatch(deps, tools), new GuardLearner(tools)];
}
