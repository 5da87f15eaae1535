import type { SpecContext } from '../ports.ts';
import type { PromptPart } from './budget.ts';
import { codeBlock, section } from './text.ts';

/** The parts of the specification that all its tasks share. Each is fenced after it was cut, so a fence keeps its end. */
export function specPart(spec: SpecContext | null): Pick<PromptPart, 'pieces' | 'shape'> {
  if (!spec) return { pieces: [], shape: () => '' };
  const { number, title, summary, architecture, scope, idea } = spec;
  const listed = (lines: string[]) => lines.map((line) => `- ${line}`).join('\n');
  const parts = [
    { name: 'The idea behind it, in short', text: idea },
    { name: 'Summary', text: summary },
    { name: 'In scope', text: listed(scope.in) },
    { name: 'Architecture', text: architecture },
    { name: 'Out of scope: do not build this', text: listed(scope.out) },
  ].filter(({ text }) => text.trim() !== '');
  const about = `This task is a part of S${number} ${JSON.stringify(title)}, which a person approved. Other tasks build the rest of it. Keep to its architecture and leave out what it leaves out:`;
  return {
    pieces: parts.map(({ text }) => text.trim()),
    shape: (pieces) =>
      section(
        'The specification',
        pieces.map((text, index) => `### ${parts[index]!.name}\n\n${codeBlock(text, 'markdown')}\n`),
        about,
      ),
  };
}
