import { existsSync } from 'node:fs';
import type { Config, Finding, Project, ReactorView } from '@tidemill/contract';
import type { AbsenceOf } from '../../config/check.ts';
import { loadSettings } from '../../config/load.ts';
import { aliveRefs } from '../../engine/dispatch/recovery.ts';
import { examineLanded } from '../../engine/reactors/landed.ts';
import { readablePlaces } from '../../process/network-settings.ts';
import { UNHELD } from '../../process/sandbox.ts';
import { visiblePathsOf } from '../../process/visible-paths.ts';
import type { Services } from '../context.ts';
import { chainFaultsOf } from '../record/evidence.ts';
import { sayHowMuch } from './data-size.ts';
import { sayWhatGatesNotice } from './gate-sight.ts';
import { sayUnreadFigures } from './unread-figures.ts';

export type Say = (level: Finding['level'], check: string, text: string, hint?: string) => void;

/** Checks all invariants and reports problems. It changes nothing. */
export async function doctor(
  services: Services,
): Promise<{ ok: boolean; findings: Finding[]; reactors: ReactorView[] | null }> {
  const findings = await services.machine.examine();
  const say: Say = (level, check, text, hint = '') => {
    // Some findings apply to several projects.
    if (!findings.some((said) => said.check === check && said.text === text))
      findings.push({ level, check, text, hint });
  };
  const projects = await services.store.projects();
  for (const project of projects) await examineProject(services, project, say);
  await guarded(say, 'data', 'housekeeping', () => sayHowMuch(services, projects, say));
  const reactors = (await services.machine.reactors?.views()) ?? null;
  sayHowReactorsAre(reactors, say);
  return { ok: findings.every(({ level }) => level !== 'problem'), findings, reactors };
}

function sayHowReactorsAre(reactors: ReactorView[] | null, say: Say): void {
  if (!reactors) {
    say('ok', 'reactors', 'no daemon is running, so no reactors run');
    return;
  }
  const troubled = reactors.filter(({ state }) => state !== 'running');
  if (troubled.length === 0) say('ok', 'reactors', `${reactors.length} run`);
  for (const { name, state, behind, lastError } of troubled)
    say(
      'warning',
      'reactors',
      state === 'paused' ? `${name} is paused` : `${name} fails, ${behind} events behind: ${lastError?.message ?? ''}`,
      state === 'paused'
        ? 'It triggered itself too often and resumes after 10 minutes. Report this as a defect.'
        : 'It is retried automatically.',
    );
}

async function examineProject(services: Services, project: Project, say: Say): Promise<void> {
  const { name, root } = project;
  const faults = await chainFaultsOf(services, project);
  if (faults.length === 0) say('ok', 'evidence', `${name}: the chain of ${project.evidence.count} links is valid`);
  for (const fault of faults.slice(0, 5)) {
    say('problem', 'evidence', `${name}: ${fault}`, 'The store was changed from outside. Restore it from a backup.');
  }
  if (!existsSync(root)) {
    return say('warning', 'project', `${name}: ${root} is missing`, 'Its tasks are kept, but no work is done on them.');
  }
  await guarded(say, 'config', name, async () => {
    const { config, warnings } = await loadSettings(root);
    for (const warning of warnings) say('warning', 'config', `${name}: ${warning}`);
    sayWhatChecks(name, config, warnings.length > 0, say);
    await sayWhoIsMissing(services.machine.absenceOf, project, config, say);
    await sayWhatIsSeen(services, project, config, say);
    await sayWhatGatesNotice(services, project, config, say);
    await sayUnreadFigures(services, project, config, say);
    for (const { level, check, text, hint } of await services.machine.examineGithub(project, config))
      say(level, check, `${name}: ${text}`, hint);
  });
  await guarded(say, 'setup', name, async () => {
    const warnings = await services.machine.setupWarnings(project);
    for (const warning of warnings) say('warning', 'setup', `${name}: ${warning}`);
    if (warnings.length === 0) say('ok', 'setup', `${name}: git has its config, its templates are valid`);
  });
  await guarded(say, 'landed', name, async () => {
    const { store } = services;
    const found = await services.repositories.withWorkspace(project, (workspace) =>
      examineLanded({ store, project, workspace }),
    );
    if (found.length === 0)
      say('ok', 'landed', `${name}: the target contains all landed work, and the store its evidence`);
    for (const { kind, text } of found)
      say(kind === 'target_reset' ? 'problem' : 'warning', 'landed', `${name}: ${text}`);
  });
  await guarded(say, 'worktrees', name, async () => {
    const alive = await aliveRefs({ store: services.store, project });
    const leaks = await services.repositories.withWorkspace(project, (workspace) => workspace.leaks(alive));
    if (leaks.length === 0) say('ok', 'worktrees', `${name}: none left over`);
    else
      say(
        'problem',
        'worktrees',
        `${name}: ${leaks.length} left over: ${leaks.slice(0, 5).join(', ')}`,
        'The next `tidemill up` removes them. Work that has not landed is snapshotted first.',
      );
  });
}

/** Without gates everything that an agent makes would land. */
export function sayWhatChecks(name: string, { gates, untested }: Config, hasWarnings: boolean, say: Say): void {
  // A person may want that.
  const level = untested ? 'warning' : 'problem';
  if (gates.length === 0) say(level, 'gates', `${name}: it has no gates, so nothing checks a change`, NO_GATES);
  else if (!hasWarnings) say('ok', 'config', `${name}: ${gates.length} gates configured`);
}

const NO_GATES = 'Add one to `gates` in .tidemill/config.yaml: a command that fails when something is wrong.';

/** Without a fallback, `tidemill up` refuses to start. */
export async function sayWhoIsMissing(
  absenceOf: AbsenceOf,
  { name, root }: Pick<Project, 'name' | 'root'>,
  { agents }: Config,
  say: Say,
): Promise<void> {
  for (const [entry, agent] of Object.entries(agents)) {
    const missing = await absenceOf(agent, root);
    const hasFallback = 'fallback' in agent && agent.fallback.length > 0;
    if (missing !== null) say(hasFallback ? 'warning' : 'problem', 'agents', `${name}: agents.${entry}: ${missing}`);
  }
}

/** Reports what agents can see in the sandbox, or what is not protected without one. */
async function sayWhatIsSeen(services: Services, { name, root }: Project, config: Config, say: Say): Promise<void> {
  if (config.sandbox === 'off') return say('warning', 'sandbox', `${name}: sandbox: off in its config`, UNHELD);
  if (!(await services.machine.sandbox()).active) return; // already reported for the machine
  const readable = readablePlaces(config.readable, root);
  const sight = await visiblePathsOf({ root, dataDir: services.machine.folder.path, readable });
  say('ok', 'sandbox', sight.machine);
  say('ok', 'sandbox', `${name}: ${sight.project}`);
}

/** A failed check is reported as a problem and does not end the examination. */
async function guarded(say: Say, check: string, name: string, examine: () => Promise<void>): Promise<void> {
  try {
    await examine();
  } catch (error) {
    const hint = error instanceof Error && 'hint' in error ? String(error.hint) : '';
    say('problem', check, `${name}: ${error instanceof Error ? error.message : String(error)}`, hint);
  }
}
