import type { TaskDetail } from '@tidemill/contract';
import { elapsed, money, stageText } from '../words.ts';

const met = (value: boolean | null) => (value === null ? ' ' : value ? 'x' : '-');

/** A task in words, as Markdown. */
export function taskText({ task, origin, runs, evidence, questions, costUsd, worktree }: TaskDetail): string {
  const open = questions.filter(({ status }) => status === 'open');
  const parts: (string | null)[] = [
    `# #${task.number} ${task.title}`,
    [
      `- Stage: ${stageText(task.stage)}`,
      ...(task.blocked ? [`- Blocked: ${stageText(task.blocked.reason)}. ${task.blocked.text}`] : []),
      ...(task.waiting ? [`- Waits: ${task.waiting}`] : []),
      ...(task.after.length > 0 ? [`- After: ${task.after.map((number) => `#${number}`).join(', ')}`] : []),
      ...(origin ? [`- From: ${origin.text}`] : []),
      `- Branch: ${task.branch}`,
      ...(worktree ? [`- Worktree: ${worktree}`] : []),
      ...(task.landedCommit ? [`- Landed as ${task.landedCommit.slice(0, 12)}`] : []),
      `- Cost: ${money(costUsd)}`,
    ].join('\n'),
    task.body.trim() || 'No description.',
    section(
      'How you will know it is done',
      task.criteria.map((each) => `- [${met(each.met)}] ${each.text}`),
    ),
    section(
      'Questions',
      open.map(({ ref, text, context }) => `- ${ref}: ${text}${context ? `\n\n${indented(context)}` : ''}`),
    ),
    task.plan.trim() ? `## Plan\n\n${task.plan.trim()}` : null,
    section('Runs', runs.map(runLine)),
    section(
      'Evidence',
      evidence.map(({ gate, status, tree }) => `- ${gate}: ${status} on ${tree.slice(0, 12)}`),
    ),
  ];
  return `${parts.filter((part) => part !== null).join('\n\n')}\n`;
}

function runLine({ mode, startedAt, endedAt, outcome }: TaskDetail['runs'][number]): string {
  const took = endedAt === null ? 'running' : elapsed(endedAt - startedAt);
  return `- ${stageText(mode)}: ${outcome ? stageText(outcome) : 'no outcome yet'}, ${took}`;
}

const indented = (text: string) => text.trim().replaceAll(/^/gm, '  ');

function section(title: string, lines: string[]): string | null {
  return lines.length === 0 ? null : `## ${title}\n\n${lines.join('\n')}`;
}
