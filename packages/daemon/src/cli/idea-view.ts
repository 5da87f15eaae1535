import { type IdeaDetail, type IdeaSummary, ideaRef } from '@tidemill/contract';
import { questionLines } from './question-view.ts';
import { dateAndTime, oneLine, type Terminal, table } from './terminal.ts';

const SHOWN_MESSAGES = 6;
const percent = (share: number) => `${Math.round(share * 100)} %`;

export function ideaListLines(ideas: IdeaSummary[], { width }: Pick<Terminal, 'width'>): string[] {
  const rows = ideas.map(({ number, status, phase, confidence, isReplying, questions, title }) => [
    ideaRef(number),
    status,
    phase.toLowerCase(),
    percent(confidence),
    isReplying ? 'replying' : questions > 0 ? `asks ${questions}` : '',
    oneLine(title),
  ]);
  return table([['IDEA', 'STATUS', 'PHASE', 'SURE', '', 'TITLE'], ...rows], width);
}

/** An idea with what is settled and its last messages. */
export function ideaLines({ idea, messages, questions }: IdeaDetail, terminal: Pick<Terminal, 'paint'>): string[] {
  const { paint } = terminal;
  const lines = [
    paint('bold', `${ideaRef(idea.number)} ${oneLine(idea.title)}`),
    `  ${idea.status}, phase ${idea.phase.toLowerCase()}, confidence ${percent(idea.confidence)}${idea.jobId ? ', replying' : ''}`,
    ...(idea.forkedFrom ? [`  continues ${ideaRef(idea.forkedFrom.number)}`] : []),
    ...(idea.failure
      ? [`  no reply: ${oneLine(idea.failure)}`, `  try again: tidemill idea resume ${idea.number}`]
      : []),
  ];
  const part = (title: string, entries: string[]) => {
    if (entries.length > 0) lines.push('', paint('bold', title), ...entries.map((entry) => `  ${entry}`));
  };
  part(
    'Artifacts',
    idea.artifacts.map(
      ({ type, summary, content, confidence, correctedBy }) =>
        `${type} (${percent(confidence)}${correctedBy ? `, corrected by ${oneLine(correctedBy.name)}` : ''}): ${oneLine(summary || content)}`,
    ),
  );
  part(
    'Decisions',
    idea.decisions.map(({ id, type, text }) => `${id} ${type}: ${oneLine(text)}`),
  );
  part(
    'Risks',
    idea.risks.map(({ id, severity, text }) => `${id} ${severity}: ${oneLine(text)}`),
  );
  if (idea.artifacts.length + idea.decisions.length + idea.risks.length > 0)
    lines.push('', paint('dim', `Remove one by its first word: tidemill idea remove ${idea.number} …`));
  for (const { by, at, text } of messages.slice(-SHOWN_MESSAGES))
    part(`${oneLine(by.name)}, ${dateAndTime(at)}`, text.split('\n').map(oneLine));
  for (const question of questions) lines.push('', ...questionLines(question, terminal));
  return lines;
}
