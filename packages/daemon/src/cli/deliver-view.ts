import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { dateAndTime, oneLine, type Terminal } from './terminal.ts';

const spaced = (text: string) => text.replaceAll('_', ' ');
const short = (commit: string) => commit.slice(0, 10);
const tasks = (count: number) => `${count} task${count === 1 ? '' : 's'}`;

export const deliveryRow = (view: DeliveryView): string[] => [
  view.ref,
  view.environment,
  short(view.commit),
  spaced(view.status),
  tasks(view.taskCount),
  dateAndTime(view.requestedAt),
  oneLine(view.why),
];

export function environmentLines(found: readonly EnvironmentView[], { paint }: Terminal): string[] {
  return found.flatMap((each) => {
    const { live, current, waiting, next } = each;
    const state = each.state === 'unknown' ? paint('red', 'unknown') : each.state;
    const lines = [
      `${paint('bold', each.name)}  ${live ? `${short(live.commit)} since ${dateAndTime(live.since)}` : 'nothing'}  ${state}`,
    ];
    if (each.isGone) lines.push('  no longer in the settings');
    if (current)
      lines.push(
        `  ${current.ref} ${spaced(current.status)}: ${short(current.commit)}${current.why ? `, ${oneLine(current.why)}` : ''}`,
      );
    if (waiting) {
      const how =
        waiting.status === 'waiting'
          ? `waits for you: tidemill deliver approve ${waiting.ref}`
          : spaced(waiting.status);
      lines.push(`  ${waiting.ref} ${how} (${short(waiting.commit)}, ${tasks(waiting.taskCount)})`);
    }
    if (next && !waiting && !current)
      lines.push(`  ready: ${short(next.commit)}, ${tasks(next.taskCount)}: tidemill deliver ${each.name}`);
    return lines;
  });
}

export function deliveryLines(view: DeliveryView, { paint }: Terminal): string[] {
  const { approved, override } = view;
  return [
    `${paint('bold', view.ref)} to ${view.environment}: ${spaced(view.status)}`,
    ...(view.why ? [`  ${oneLine(view.why)}`] : []),
    `  commit ${view.commit}`,
    `  requested by ${view.by.name} at ${dateAndTime(view.requestedAt)} (${view.cause})`,
    ...(approved ? [`  approved by ${approved.by.name} at ${dateAndTime(approved.at)}`] : []),
    ...(override ? [`  overridden by ${override.by.name}: ${oneLine(override.why)}`] : []),
    ...(view.startedAt && view.endedAt ? [`  took ${Math.round((view.endedAt - view.startedAt) / 1000)} s`] : []),
    `  ${tasks(view.taskCount)}`,
    ...view.tasks.map(({ number, title }) => `    #${number} ${oneLine(title)}`),
    '  evidence',
    ...view.evidence.map(({ gate, hash }) => `    ${gate} ${hash.slice(0, 16)}`),
    ...view.unproven.map((gate) => `    ${gate} not passed`),
    '  steps',
    ...view.steps.map(
      ({ kind, name, result, note }) => `    ${spaced(kind)}: ${oneLine(name)}: ${spaced(result)}, ${oneLine(note)}`,
    ),
  ];
}
