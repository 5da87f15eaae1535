import { type Idea, ideaRef } from '@tidemill/contract';
import { artifactTitle, listOf } from './brief.ts';

/** Where the files of an idea are, below the repository's root. */
export const ideaFolder = ({ slug }: Pick<Idea, 'slug'>) => `.tidemill/ideas/${slug}`;

/** The Markdown files of an idea: an overview, and one for each artifact. The same idea gives the same files. */
export function ideaFiles(idea: Idea): { name: string; text: string }[] {
  return [
    { name: 'README.md', text: overviewOf(idea) },
    ...idea.artifacts.map(({ type, summary, content }) => ({
      name: `${type}.md`,
      text: ending(content.startsWith('#') ? content : `# ${artifactTitle(type)}\n\n${content || summary}`),
    })),
  ];
}

function overviewOf(idea: Idea): string {
  const { title, number, status, phase, confidence, artifacts, decisions, risks, forkedFrom } = idea;
  const facts = [
    `Idea ${ideaRef(number)}, ${status}, phase ${phase.toLowerCase()}, confidence ${Math.round(confidence * 100)} %.`,
    ...(forkedFrom ? [`Continues ${ideaRef(forkedFrom.number)}.`] : []),
  ];
  const documents = artifacts.map(({ type, summary }) => {
    const about = summary.replaceAll('\n', ' ');
    return `[${artifactTitle(type)}](${type}.md)${about ? `: ${about}` : ''}`;
  });
  const parts = [
    `# ${title}`,
    facts.join(' '),
    listOf('Documents', documents),
    listOf(
      'Decisions',
      decisions.map(({ type, text }) => `${text} (${type})`),
    ),
    listOf(
      'Risks',
      risks.map(({ text, severity }) => `${text} (${severity})`),
    ),
  ];
  return ending(parts.filter((part) => part !== '').join('\n\n'));
}

const ending = (text: string) => `${text.trimEnd()}\n`;
