import type { SpecDetail, SpecSummary, SpecTaskView } from '@tidemill/contract';
import { dateAndTime, oneLine, type Terminal } from './terminal.ts';

export function specLine({ number, status, version, title, why }: SpecSummary): string {
  const which = version === 0 ? '' : `, version ${version}`;
  return `S${number} ${status}${which}: ${oneLine(title)}${why ? ` (${oneLine(why)})` : ''}`;
}

/** A specification for a terminal. With `isWhole`, the document with its line numbers. */
export function specLines(detail: SpecDetail, { paint }: Pick<Terminal, 'paint'>, isWhole: boolean): string[] {
  const { spec, version, requirements, tasks, questions, comments } = detail;
  const lines = [paint('bold', `S${spec.number} ${oneLine(spec.title)}`), `  ${spec.status}${whyOf(spec.why)}`];
  if (version) {
    lines.push(
      `  version ${version.version} of ${spec.version}, by ${oneLine(version.by.name)} at ${dateAndTime(version.at)}`,
    );
    if (spec.approved) lines.push(`  approved by ${oneLine(spec.approved.by.name)} (version ${spec.approved.version})`);
  }
  for (const { ref, text, answer } of questions)
    lines.push(`  ${ref} ${oneLine(text)}${answer === null ? '' : ` → ${oneLine(answer)}`}`);
  lines.push(...criticLines(detail, paint));
  if (isWhole) return [...lines, '', ...numbered(detail.document), ...commentLines(comments)];
  if (requirements.length > 0) lines.push('', paint('bold', 'Requirements'));
  for (const each of requirements) {
    const progress = spec.tasks.length > 0 ? ` ${each.done}/${each.total} tasks` : '';
    const verdict = each.met === null ? '' : each.met ? ', met' : ', not met';
    lines.push(`  ${each.id} ${oneLine(each.text)}${paint('dim', `${progress}${verdict}`)}`);
    if (each.evidence) lines.push(paint('dim', `     ${oneLine(each.evidence)}`));
  }
  if (tasks.length > 0) lines.push('', paint('bold', 'Tasks, in the order of building'));
  for (const task of tasks) lines.push(...taskLines(task, paint));
  lines.push(...commentLines(comments));
  if (spec.status === 'draft')
    lines.push('', `tidemill spec approve ${spec.number}`, `tidemill spec revise ${spec.number} --comment "12:…"`);
  return lines;
}

function criticLines({ spec, critique }: SpecDetail, paint: Terminal['paint']): string[] {
  if (spec.criticJobId !== null) return ['  a critic reads it'];
  if (critique === null) return [];
  if (critique.why !== '') return [`  no critic has read it: ${oneLine(critique.why)}`];
  if (critique.findings.length === 0) return ['  a critic has read it and found nothing wrong'];
  const of = (task: string) => (task === '' ? '' : `${task}: `);
  return [
    '',
    paint('bold', 'What a critic found'),
    ...critique.findings.map(({ task, severity, text }) => {
      const line = `  ${of(oneLine(task))}${oneLine(text)}`;
      return severity === 'serious' ? paint('yellow', `${line} (serious)`) : line;
    }),
  ];
}

const whyOf = (why: string) => (why ? `: ${oneLine(why)}` : '');

function taskLines(task: SpecTaskView, paint: Terminal['paint']): string[] {
  const { id, title, phase, number, stage, readiness, dependsOn, gotchas, gates } = task;
  const made = number === null ? '' : ` #${number} ${stage}`;
  const after = dependsOn.length > 0 ? `, after ${dependsOn.join(', ')}` : '';
  const lines = [`  ${id} ${oneLine(title)}${paint('dim', ` ${phase}${after}, readiness ${readiness.score}${made}`)}`];
  if (!readiness.isReady)
    lines.push(paint('yellow', `     not ready: ${readiness.missing.map(({ advice }) => advice).join('; ')}`));
  for (const { text } of gotchas) lines.push(paint('dim', `     known problem: ${oneLine(text)}`));
  if (gates.length > 0) lines.push(paint('dim', `     gates passed: ${gates.join(', ')}`));
  return lines;
}

function numbered(document: string): string[] {
  const all = document.trimEnd().split('\n');
  const width = String(all.length).length;
  return all.map((line, index) => `${String(index + 1).padStart(width)}  ${line}`);
}

function commentLines(comments: SpecDetail['comments']): string[] {
  if (comments.length === 0) return [];
  return [
    '',
    ...comments.map(({ line, text, by }) => `  ${oneLine(by.name)}${line ? ` on line ${line}` : ''}: ${oneLine(text)}`),
  ];
}
