import { plainLine, plainName, plainText } from '@tidemill/contract';
import type { SessionResponse } from '../ports.ts';

const MOST_SUMMARY = 20_000;
const MOST_FILES = 200;

/** The response as Markdown. What an agent wrote is quoted, so that it cannot look like a line of Tidemill. */
export function responseText(response: SessionResponse): string {
  const { agentId, task, outcome, failure, files, costUsd } = response;
  const about = task ? `#${task.number} ${plainLine(task.title)}` : response.mode;
  const facts: [string, string | null][] = [
    ['Status', response.isFailed ? 'FAILED' : 'COMPLETED'],
    ['Outcome', outcome],
    ['Failure', failure],
    ['Mode', response.mode],
    ['Task', task && String(task.number)],
    ['Branch', task && plainName(task.branch)],
    ['Commit', task?.commit ?? null],
    ['Run', response.runId],
    ['Cost', costUsd === null ? null : `${costUsd.toFixed(2)} USD`],
    ['Finished', response.finishedAt],
  ];
  const summary = plainText(response.summary).trim().slice(0, MOST_SUMMARY);
  const listed = files.slice(0, MOST_FILES).map((file) => `- \`${plainName(file).replaceAll('`', "'")}\``);
  const more = files.length > MOST_FILES ? [`- and ${files.length - MOST_FILES} more`] : [];
  return [
    `# ${agentId}: ${about}`,
    '',
    ...facts.flatMap(([name, value]) => (value === null || value === '' ? [] : [`**${name}:** ${value}  `])),
    '',
    '## Summary',
    '',
    ...(summary === '' ? ['None.'] : summary.split('\n').map((line) => `> ${line}`)),
    '',
    '## Files',
    '',
    ...(files.length === 0 ? ['None.'] : [...listed, ...more]),
    '',
  ].join('\n');
}
