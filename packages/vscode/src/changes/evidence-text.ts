import { type CutText, type Evidence, plainText, type TaskDetail } from '@tidemill/contract';
import { elapsed, money, plural, stageText } from '../words.ts';

/** What the gates and the reviewers found about a task, as one readable text. */
export function evidenceText(detail: TaskDetail, outputs: ReadonlyMap<string, CutText>): string {
  const { task, runs, evidence, costUsd } = detail;
  const parts = [
    `#${task.number} ${plainText(task.title)}`,
    `Stage: ${stageText(task.stage)}${task.landedCommit ? ` · landed as ${task.landedCommit}` : ''}`,
    `${plural(runs.length, 'run')} · ${money(costUsd)}`,
    '',
    'Acceptance criteria',
    ...(task.criteria.length === 0 ? ['  none'] : task.criteria.map(criterionLine)),
    '',
    `Receipts of gates: ${evidence.length}`,
    ...(evidence.length === 0 ? ['  No gate has run on this change yet.'] : evidence.map(receiptLine)),
  ];
  for (const receipt of evidence) {
    const output = outputs.get(receipt.id);
    if (!output) continue;
    parts.push('', heading(`Output of ${receipt.gate} (${receipt.status})`));
    parts.push(plainText(output.text).trimEnd() || '(it printed nothing)');
    if (output.isCut) parts.push('(cut: the whole output is on the page of the task)');
  }
  return `${parts.join('\n')}\n`;
}

const heading = (text: string) => `${plainText(text)}\n${'─'.repeat(Math.min(100, text.length))}`;

function criterionLine({ id, text, met, evidence }: TaskDetail['task']['criteria'][number]): string {
  const verdict = met === null ? 'not judged' : met ? 'met' : 'NOT met';
  const why = evidence === '' ? '' : `: ${plainText(evidence)}`;
  return `  ${id} ${verdict.padEnd(10)} ${plainText(text)}${why}`;
}

function receiptLine({ gate, status, durationMs, tree, counts, attempt, at }: Evidence): string {
  const tests = counts ? ` · ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped` : '';
  const again = attempt > 1 ? ' · second try' : '';
  const when = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
  return `  ${status.padEnd(10)} ${plainText(gate)} · ${elapsed(durationMs)}${tests}${again} · tree ${tree.slice(0, 12)} · ${when} UTC`;
}
