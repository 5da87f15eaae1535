import type { GuardProposalView, ShownCall } from '@tidemill/contract';
import { fit, oneLine, type Terminal } from './terminal.ts';

export function guardRows(guards: readonly GuardProposalView[], { width, paint }: Terminal): string[] {
  if (guards.length === 0) return ['No guards are proposed.'];
  return guards.flatMap((guard) => {
    const { name, status, why, refusedCount, allowedCount, observedCount, bypasses } = guard;
    const figures = [
      status,
      `refuses ${refusedCount} of ${refusedCount + allowedCount} recorded calls`,
      ...(status === 'observing' ? [`${observedCount} seen while observing`] : []),
      ...(bypasses > 0 ? [`bypassed ${bypasses}×`] : []),
    ];
    return [fit(name, width), paint('dim', fit(`   ${figures.join(', ')}`, width)), fit(`   ${oneLine(why)}`, width)];
  });
}

export function guardLines(guard: GuardProposalView, { width, paint }: Terminal): string[] {
  const { name, status, why, yaml, file, fileState, proposedBy, decidedBy, decidedWhy } = guard;
  const { refused, allowed, observed, refusedCount, allowedCount, observedCount, bypasses, traceIds } = guard;
  const list = (title: string, count: number, calls: readonly ShownCall[]) =>
    count === 0
      ? []
      : ['', `${title} (${count}):`, ...calls.map(({ tool, what }) => fit(`  ${tool}  ${oneLine(what)}`, width))];
  const state = fileState === 'same' ? '' : ` (${fileState})`;
  return [
    `${name}: ${status}`,
    `  proposed by ${oneLine(proposedBy.name)}: ${oneLine(why)}`,
    ...(traceIds.length > 0 ? [`  from ${traceIds.length} traces: ${traceIds.join(', ')}`] : []),
    ...(decidedBy ? [`  decided by ${oneLine(decidedBy.name)}${decidedWhy ? `: ${oneLine(decidedWhy)}` : ''}`] : []),
    ...(bypasses > 0 ? [`  bypassed ${bypasses}×`] : []),
    `  ${file}${state}`,
    '',
    ...yaml
      .trimEnd()
      .split('\n')
      .map((line) => paint('dim', line)),
    ...list('Would have refused', refusedCount, refused),
    ...list('Would have allowed', allowedCount, allowed),
    ...list('Would have refused while it observed', observedCount, observed),
    ...(status === 'observing'
      ? ['', `tidemill guards approve ${name}`, `tidemill guards refuse ${name} --why "…"`]
      : []),
  ];
}
