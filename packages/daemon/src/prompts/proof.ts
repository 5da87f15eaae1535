import { took } from '@tidemill/contract';
import type { ProvingCommand } from '../ports.ts';
import { codeBlock, section } from './text.ts';

/** Longer commands are cut; the agent can read them in the config. */
const LONGEST = 500;

/** What decides about a builder's work, so that it can run the same before it finishes. */
export function proofSection(proofs: ProvingCommand[]): string {
  const lines = proofs.map(({ name, run, timeout }) => {
    const command = run.length > LONGEST ? `${run.slice(0, LONGEST)}…` : run;
    return `- ${name}, at most ${took(timeout)}:\n\n${codeBlock(command, 'sh')}\n`;
  });
  return section(
    'What proves your work',
    lines,
    'Tidemill runs these commands on a clean checkout of your change, with `CI=1`. It lands only when each of them exits with 0.',
  );
}
