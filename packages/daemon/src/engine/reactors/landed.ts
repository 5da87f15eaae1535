import type { Reactor, Workspace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { StandingAlerts } from './standing-alerts.ts';

interface Sources extends Pick<EngineDeps, 'project' | 'store'> {
  workspace: Pick<Workspace, 'isLanded' | 'provenCommits'>;
}

/** Number of newest landings to check. */
const NEWEST = 100;

export interface LandedFinding {
  kind: 'target_reset' | 'evidence_missing';
  /** The same finding has the same subject. */
  subject: string;
  text: string;
}

/**
 * Checks that the target still contains all landed work, and that the store has the evidence named in the target's
 * commits.
 */
export async function examineLanded(sources: Sources): Promise<LandedFinding[]> {
  return [...(await lostLandings(sources)), ...(await unknownEvidence(sources))];
}

/** Each landing contains the previous ones: if the newest is present, all are. */
async function lostLandings({ store, project, workspace }: Sources): Promise<LandedFinding[]> {
  const query = { projectId: project.id, types: ['merge.landed'], newestFirst: true, limit: NEWEST };
  const lost: { commit: string; taskId: string }[] = [];
  for (const { body } of await store.events(query)) {
    if (body.type !== 'merge.landed') continue;
    if (await workspace.isLanded(body.commit)) break;
    lost.push({ commit: body.commit, taskId: body.taskId });
  }
  const [newest] = lost;
  if (!newest) return [];
  const numbers = await store.taskNumbers(lost.map(({ taskId }) => taskId));
  const names = [...new Set(lost.map(({ taskId }) => `#${numbers.get(taskId)}`))];
  const { target } = project.rules;
  const text = `${target} was reset to a commit before landed work: ${list(names)} ${names.length === 1 ? 'is' : 'are'} done but no longer in it. Their newest commit is ${newest.commit}. Restore it with \`git merge ${newest.commit.slice(0, 12)}\`, or add the tasks again.`;
  return [{ kind: 'target_reset', subject: newest.commit, text }];
}

/** Commits Tidemill made since the project was added whose evidence is not in the store. */
async function unknownEvidence({ store, project, workspace }: Sources): Promise<LandedFinding[]> {
  const unknown: string[] = [];
  for (const { commit, evidence, at } of await workspace.provenCommits(NEWEST))
    if (at >= project.createdAt && !(await store.evidenceByHash(evidence))) unknown.push(commit);
  const [newest] = unknown;
  if (!newest) return [];
  const names = list(unknown.map((commit) => commit.slice(0, 12)));
  const text = `The store has no evidence for ${names} on ${project.rules.target}. Either its newest entries were lost (restore the data folder from a backup), or another data folder landed them.`;
  return [{ kind: 'evidence_missing', subject: newest, text }];
}

const list = (names: string[]) =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');

/** Checks at the start and every minute, because a person may have moved the target. One alert per finding, as long as it holds. */
export class LandedWatch implements Reactor {
  readonly name = 'landed';
  readonly projectId: string;
  readonly everyMs = 60_000;
  readonly #deps: EngineDeps;
  readonly #isOut: () => Promise<boolean>;
  readonly #alerts: StandingAlerts;

  /** `isOut`: the repository is unavailable now. */
  constructor(deps: EngineDeps, isOut: () => Promise<boolean>) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#isOut = isOut;
    this.#alerts = new StandingAlerts(deps, ['target_reset', 'evidence_missing']);
  }

  async handle(): Promise<void> {
    if (await this.#isOut()) return;
    const found = await examineLanded(this.#deps);
    await this.#alerts.settle(found.map((finding) => ({ ...finding, severity: 'error' })));
  }
}
