import type { Idea, IdeaArtifact } from '@tidemill/contract';
import { isResearch } from './signals.ts';

const TITLES: Record<string, string> = {
  'target-user': 'Target user',
  problem: 'Problem',
  'solution-concept': 'Solution',
  'mvp-features': 'First version',
  differentiator: 'What is different',
};
const FIRST = Object.keys(TITLES);

/** The heading of an artifact's type. */
export const artifactTitle = (type: string): string =>
  TITLES[type] ?? type.charAt(0).toUpperCase() + type.slice(1).replaceAll('-', ' ');

const order = (type: string) => (FIRST.includes(type) ? FIRST.indexOf(type) : FIRST.length);

/** The brief of an idea whose agent wrote none: its signals as one document. */
export function briefOf(idea: Idea, at: number): IdeaArtifact {
  const parts = idea.artifacts
    .filter(({ type }) => type !== 'brief' && !isResearch(type))
    .sort((a, b) => order(a.type) - order(b.type))
    .map(({ type, summary, content }) => `## ${artifactTitle(type)}\n\n${content || summary}`);
  const lists = [
    listOf(
      'Decisions',
      idea.decisions.map(({ type, text }) => (type === 'decision' ? text : `${text} (${type})`)),
    ),
    listOf(
      'Risks',
      idea.risks.map(({ text, severity }) => `${text} (${severity})`),
    ),
  ];
  return {
    type: 'brief',
    summary: `The brief of ${idea.title}, from what was settled in the conversation.`,
    content: [`# ${idea.title}`, ...parts, ...lists]
      .filter((part) => part !== '')
      .join('\n\n')
      .slice(0, 50_000),
    confidence: idea.confidence,
    correctedBy: null,
    at,
  };
}

export const listOf = (title: string, lines: string[]) =>
  lines.length === 0 ? '' : `## ${title}\n\n${lines.map((line) => `- ${line.replaceAll('\n', ' ')}`).join('\n')}`;
