import type { Approval, ApprovalMatter, Declarations, HilConfig } from '@tidemill/contract';

const MATTERS: Record<ApprovalMatter, string> = {
  scopeChanges: 'Doing more, less or something else than the task asks for',
  architectureDecisions:
    'Decisions about the structure: new modules or services, interfaces that others rely on, data formats, storage',
  dependencyModifications: 'Adding, removing or exchanging a dependency, or moving it to another version',
};

const WORDS: Record<Approval, string> = {
  automated: 'yours to decide. Choose what serves the task best and go on.',
  notify_and_proceed:
    'yours to decide. Continue, and say in your summary what you decided and why. A person will read it.',
  requires_approval:
    'a person decides. Do not do it unless the task or its context already allows it. Find a way without it, or ask with `needs_info` and wait for the answer.',
};

export interface Autonomy {
  hilConfig: HilConfig;
  /** What a person has approved so far. */
  approved: Declarations;
  /** Whether the result of this mode says what was decided. */
  isDeclaring: boolean;
}

/** What the agent may decide itself, and what it has to declare, as text. */
export function autonomySection({ hilConfig, approved, isDeclaring }: Autonomy): string {
  const matters = Object.entries(MATTERS) as [ApprovalMatter, string][];
  const lines = matters.map(([matter, words]) => `- ${words}: **${WORDS[hilConfig[matter]].replace('.', '.**')}`);
  const parts = [
    `## What you may decide\n\n${lines.join('\n')}`,
    'Everything smaller is yours to decide.',
    ...(isDeclaring ? [DECLARE, ...approvedLines(approved)] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

const DECLARE = `In \`declares\` of your result, say what you decided or plan to decide in these matters, one sentence for each decision; leave a list empty when there is nothing. Tidemill also looks at the changed files itself.

\`"declares":{"scopeChanges":[],"architectureDecisions":["a new module src/cache for results"],"dependencyModifications":["left-pad 1.3"]}\``;

function approvedLines(approved: Declarations): string[] {
  const words = Object.values(approved)
    .flat()
    .filter((each) => each.trim() !== '');
  if (words.length === 0) return [];
  return [
    `A person has approved this. Declare it in the same words, or only what goes beyond it:\n\n${words.map((each) => `- ${each}`).join('\n')}`,
  ];
}
