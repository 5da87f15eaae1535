import { createInterface } from 'node:readline/promises';
import { AppError } from '@tidemill/contract';
import type { CliContext } from './context.ts';

/** The name of the person at this terminal, for the event log. */
export { userName as personName } from '../process/user-name.ts';

/** Asks before an action that cannot be undone. */
export async function confirm({ terminal }: CliContext, impact: string, isSure: boolean | undefined): Promise<boolean> {
  if (isSure) return true;
  if (!process.stdin.isTTY || !terminal.isLive)
    throw new AppError('bad_input', `${impact} This needs confirmation, and there is no terminal to ask on.`, {
      hint: 'Add --yes to confirm.',
    });
  const reader = createInterface({ input: process.stdin, output: terminal.err });
  try {
    const answer = await reader.question(`${impact}\nContinue? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
