import type { QuestionView } from '@tidemill/contract';
import { dateAndTime, oneLine, type Terminal } from './terminal.ts';

/** A question with all its details. */
export function questionLines(question: QuestionView, { paint }: Pick<Terminal, 'paint'>): string[] {
  const {
    ref,
    ownId,
    type,
    status,
    task,
    subject,
    agent,
    askedAt,
    answer,
    context,
    options,
    defaultAnswer,
    expiresAt,
  } = question;
  const about = task
    ? `, about #${task.number} ${oneLine(task.title)} (${task.stage})`
    : subject
      ? `, about ${subject.ref} ${oneLine(subject.title)}`
      : '';
  const lines = [
    paint('bold', `${ref} ${type}, ${status}`),
    `  asked by ${oneLine(agent)}${ownId === null ? '' : ` as "${oneLine(ownId)}"`} at ${dateAndTime(askedAt)}${about}`,
    '',
  ];
  lines.push(...question.text.split('\n').map((line) => `  ${oneLine(line)}`));
  if (context) lines.push('', ...context.split('\n').map((line) => paint('dim', `  ${oneLine(line)}`)));
  if (options.length > 0) lines.push('');
  for (const [index, { label, description, recommended, implications }] of options.entries()) {
    lines.push(`  ${index + 1}  ${oneLine(label)}${recommended ? ' (recommended)' : ''}`);
    for (const more of [description, implications]) if (more) lines.push(paint('dim', `     ${oneLine(more)}`));
  }
  lines.push('');
  if (answer) {
    const how = answer.source === 'user' ? '' : `, ${answer.source}`;
    lines.push(`  answered by ${oneLine(answer.by.name)}${how} at ${dateAndTime(answer.at)}: ${oneLine(answer.text)}`);
    return lines;
  }
  if (defaultAnswer !== null) {
    const learned = question.isDefaultLearned ? ', learned from earlier answers' : '';
    const when = expiresAt === null ? '' : `, taken at ${dateAndTime(expiresAt)}`;
    lines.push(`  default: ${oneLine(defaultAnswer)}${learned}${when}`);
  }
  if (status === 'open') lines.push(...waysToAnswer(question).map((way) => paint('dim', `  ${way}`)));
  return lines;
}

function waysToAnswer({ ref, effect, task, options, allowFreeText, defaultAnswer }: QuestionView): string[] {
  if (effect.kind === 'approval' && task)
    return [`tidemill task approve ${task.number}`, `tidemill task reject ${task.number} --note "…"`];
  return [
    ...(options.length > 0 ? [`tidemill answer ${ref} --option 1`] : []),
    ...(allowFreeText || options.length === 0 ? [`tidemill answer ${ref} "…"`] : []),
    ...(defaultAnswer === null ? [] : [`tidemill answer ${ref} --default`]),
  ];
}
