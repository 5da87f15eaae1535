import type { TaskKind } from '@tidemill/contract';

/** A landed task as release notes show it. */
export interface ReleasedTask {
  number: number;
  title: string;
  kind: TaskKind;
}

const HEADINGS: [TaskKind, string][] = [
  ['feature', 'Added'],
  ['improvement', 'Improved'],
  ['bug', 'Fixed'],
  ['chore', 'Other'],
];

/** Release notes as Markdown: the tasks by kind, then commits without a task. */
export function releaseText(
  title: string,
  tasks: readonly ReleasedTask[],
  others: readonly { commit: string; subject: string }[],
): string {
  const parts = HEADINGS.flatMap(([kind, heading]) => {
    const own = tasks.filter((task) => task.kind === kind).sort((a, b) => a.number - b.number);
    return own.length > 0
      ? [`### ${heading}\n\n${own.map(({ number, title: name }) => `- ${escaped(name)} (#${number})`).join('\n')}`]
      : [];
  });
  if (others.length > 0) {
    const lines = others.map(({ commit, subject }) => `- ${escaped(subject)} (${commit.slice(0, 10)})`);
    parts.push(`### Without a task\n\n${lines.join('\n')}`);
  }
  return `## ${title}\n\n${parts.length > 0 ? parts.join('\n\n') : 'Nothing has landed.'}\n`;
}

/** A title is data: it must not become markup of the notes. */
const escaped = (text: string) => text.replace(/[\\`*_[\]<>#|]/g, '\\$&');
