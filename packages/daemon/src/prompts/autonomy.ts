import type { Approval, ApprovalMatter, HilConfig } from '@tidemill/contract';

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

/** What the agent may decide itself, as text. */
export function autonomySection(hilConfig: HilConfig): string {
  const matters = Object.entries(MATTERS) as [ApprovalMatter, string][];
  const lines = matters.map(([matter, words]) => `- ${words}: **${WORDS[hilConfig[matter]].replace('.', '.**')}`);
  return `## What you may decide\n\n${lines.join('\n')}\n\nEverything smaller is yours to decide.\n`;
}
