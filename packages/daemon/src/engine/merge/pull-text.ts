import { type Evidence, type Feedback, oldChecksText, type Task } from '@tidemill/contract';
import { judgedFor, newestByGate, quietText } from '@tidemill/core';
import type { CheckResult, GateResult } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { proofHash } from '../stages/prove.ts';

const MOST_SUMMARY = 4_000;
const MOST_TITLE = 250;
/** GitHub refuses a text of more than 65,536 characters. */
const MOST_CRITERIA = 20_000;

/** How a pull request is found again after a crash, and told from one of somebody else. */
export const markerOf = ({ id }: Pick<Task, 'id'>) => `<!-- tidemill:${id} -->`;

/**
 * Text of agents and issues, for a page of the forge. It notifies nobody, closes no issue, holds no key, and cannot
 * pretend to be the marker or a heading.
 */
function plainMarkdown(text: string): string {
  return quietText(text).replaceAll(/^(\s*)(#{1,6} |---|===)/gm, '$1\\$2');
}

/** `github:owner/name#12`: the issue that the task came from, if it is in the repository of the pull request. */
function issueOf({ origin }: Task, repository: string): number | null {
  const [, name, number] = /^github:(.+)#(\d+)$/.exec(origin?.key ?? '') ?? [];
  return name?.toLowerCase() === repository.toLowerCase() ? Number(number) : null;
}

export const pullTitle = ({ title }: Task) => plainMarkdown(title).slice(0, MOST_TITLE);

/** What a person needs to judge the pull request: criteria, evidence, cost, the reviewer's verdict. */
export async function pullBody(
  deps: EngineDeps,
  task: Task,
  { tree, repository, notes }: { tree: string; repository: string; notes: string[] },
): Promise<string> {
  const [links, runs, hash] = await Promise.all([
    deps.store.evidenceForTree(task.projectId, tree),
    deps.store.runs(task.id),
    proofHash(deps, tree),
  ]);
  const built = task.context.findLast(({ source, entryType }) => source === 'agent' && entryType !== 'plan_summary');
  const verdict = task.context.findLast(({ source }) => source === 'reviewer');
  const old = judgedFor(task, tree);
  const cost = runs.reduce((sum, { usage }) => sum + (usage?.costUsd ?? 0), 0);
  const issue = issueOf(task, repository);
  const newest = newestByGate(links, deps.project.rules.gateConfigs);
  const gates = deps.gates.names.map((gate) => gateLine(gate, newest.get(gate)));
  return [
    (built?.said ?? built?.summary ?? '') !== '' &&
      plainMarkdown((built!.said ?? built!.summary).slice(0, MOST_SUMMARY)),
    issue !== null && `Closes #${issue}`,
    task.criteria.length > 0 && ['### Acceptance criteria', ...criteriaLines(task)].join('\n'),
    [
      '### Evidence',
      '| gate | result | command |',
      '|---|---|---|',
      ...gates,
      '',
      `Tree \`${tree}\`, evidence \`${hash}\`.`,
    ].join('\n'),
    old && `### Changed checks\n${plainMarkdown(oldChecksText(old, deps.project.rules.target))}`,
    verdict && `### Review\n${plainMarkdown(verdict.summary.slice(0, MOST_SUMMARY))}`,
    `### Cost\n${runs.length === 1 ? '1 run' : `${runs.length} runs`}, ${cost.toFixed(2)} USD.`,
    ...notes.map((note) => `> ${note}`),
    `Task #${task.number} of Tidemill. Comments of people with push access go back to the agent.`,
    markerOf(task),
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join('\n\n');
}

function gateLine(gate: string, link: Evidence | undefined): string {
  const counts = link?.counts ? `, ${link.counts.passed} passed, ${link.counts.failed} failed` : '';
  const command = (link?.command ?? '').replaceAll('|', '\\|').replaceAll('`', "'").replaceAll('\n', ' ').slice(0, 200);
  return `| ${gate} | ${link?.status ?? 'missing'}${counts} | ${command === '' ? '' : `\`${command}\``} |`;
}

function criteriaLines({ criteria }: Task): string[] {
  const lines: string[] = [];
  let size = 0;
  for (const line of criteria.map(criterionLine)) {
    size += line.length + 1;
    if (size <= MOST_CRITERIA) lines.push(line);
  }
  const left = criteria.length - lines.length;
  return left === 0 ? lines : [...lines, `- and ${left} more, which Tidemill shows`];
}

function criterionLine({ text, met, evidence }: Task['criteria'][number]): string {
  const said = evidence === '' ? '' : `: ${evidence}`;
  return `- [${met === true ? 'x' : ' '}] ${plainMarkdown(`${text}${said}`).replaceAll('\n', ' ').slice(0, 1000)}`;
}

/** The newest receipt of each gate, as the forge shows it at the commit. */
export async function gateResults(deps: EngineDeps, tree: string): Promise<GateResult[]> {
  const { id, rules } = deps.project;
  const newest = newestByGate(await deps.store.evidenceForTree(id, tree), rules.gateConfigs);
  return deps.gates.names.map((gate) => {
    const link = newest.get(gate);
    if (!link) return { gate, state: 'pending', text: 'not run yet' };
    const took = `${(link.durationMs / 1000).toFixed(1)} s`;
    const counts = link.counts ? `, ${link.counts.passed} passed, ${link.counts.failed} failed` : '';
    const state = link.status === 'pass' ? 'passed' : 'failed';
    return { gate, state, text: `${link.status}${counts}, ${took}, evidence ${link.hash.slice(0, 12)}` };
  });
}

/** Output of a check is data of others: it is quoted, and cut. */
export function checkFeedback(results: CheckResult[]): Feedback[] {
  return results.map(({ name, summary, url }) => ({
    kind: 'gate' as const,
    text: `The check ${name} on GitHub failed.${url ? ` ${url}` : ''}${summary ? `\nIts output:\n${summary.slice(-MOST_SUMMARY)}` : ''}`,
    files: [],
  }));
}
