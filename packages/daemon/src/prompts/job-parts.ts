import type { PromptPart } from './budget.ts';
import type { Template } from './template.ts';
import { codeBlock } from './text.ts';

/** The table of `parts.ts` for the sections of jobs. Sections that are not named are short and are never cut. */
const PRIORITY: Readonly<Record<string, number>> = {
  input: 1,
  givenSection: 1,
  factsSection: 1,
  requirementsSection: 1,
  draftSection: 1,
  answersSection: 0.95,
  correctionsSection: 0.95,
  revisionSection: 0.9,
  conversationSection: 0.9,
  conventionsSection: 0.85,
  signalsSection: 0.8,
  artifactsSection: 0.75,
  ideaSection: 0.75,
  knowledgeSection: 0.75,
  earlierProposalsSection: 0.75,
  openIssuesSection: 0.75,
  openTasksSection: 0.75,
  workSection: 0.75,
  readmeSection: 0.7,
  researchSection: 0.6,
  recentCommitsSection: 0.5,
  layoutSection: 0.5,
};

/** The sections of a job's prompt that may be cut, and those that are always there as they are. */
export function jobParts(
  values: Readonly<Record<string, string>>,
  uses: Template<string>['uses'],
): { parts: Record<string, PromptPart>; fixed: Record<string, string> } {
  const parts: Record<string, PromptPart> = {};
  const fixed: Record<string, string> = {};
  for (const [name, text] of Object.entries(values)) {
    const priority = PRIORITY[name];
    if (priority === undefined || text === '') fixed[name] = text;
    else parts[name] = partOf(name, text, priority, uses.get(name) ?? 0);
  }
  return { parts, fixed };
}

interface Block {
  text: string;
  /** Of a fenced block: its language. */
  language: string | null;
}

/** The heading stays; a block that is cut keeps the end of its fence, so that its text cannot look like ours. */
function partOf(name: string, text: string, priority: number, times: number): PromptPart {
  const [, heading = '', rest = ''] = /^(## .*\n\n)?([\s\S]*)$/.exec(text)!;
  const blocks = blocksOf(rest.trimEnd());
  const shape = (pieces: string[]) => {
    const shown = blocks.slice(blocks.length - pieces.length);
    const texts = pieces.map((piece, index) => {
      const { language } = shown[index]!;
      return language === null ? piece : codeBlock(piece, language);
    });
    return `${heading}${texts.join('\n')}${heading === '' ? '' : '\n'}`;
  };
  const title = heading === '' ? name : heading.slice(3).trim();
  return { name: title, priority, pieces: blocks.map((block) => block.text), shape, times };
}

const OPENING = /^(`{3,})([^`]*)$/;

/** Fenced blocks, and the lines between them: a list can lose its first lines, a fenced text only its end. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; ) {
    const [, fence, language = ''] = OPENING.exec(lines[at]!) ?? [];
    const end = fence === undefined ? -1 : lines.indexOf(fence, at + 1);
    if (end < 0) {
      blocks.push({ text: lines[at]!, language: null });
      at += 1;
    } else {
      blocks.push({ text: lines.slice(at + 1, end).join('\n'), language });
      at = end + 1;
    }
  }
  return blocks;
}
