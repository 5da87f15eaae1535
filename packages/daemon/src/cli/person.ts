import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { AppError } from '@tidemill/contract';
import type { CliContext } from './context.ts';

/** Who stands at this terminal, for the record. */
export function personName(env: NodeJS.ProcessEnv): string {
  const named = env.USER || env.LOGNAME;
  if (named) return named;
  try {
    return userInfo().username;
  } catch {
    return 'person'; // a container's user may have no name
  }
}

/** Asks before something that cannot be taken back. False when the person does not want it. */
export async function confirm({ terminal }: CliContext, impact: string, isSure: boolean | undefined): Promise<boolean> {
  if (isSure) return true;
  if (!process.stdin.isTTY || !terminal.isLive)
    throw new AppError('bad_input', `${impact} This asks first, and there is no terminal to ask on.`, {
      hint: 'Say --yes if that is what you want.',
    });
  const reader = createInterface({ input: process.stdin, output: terminal.err });
  try {
    const answer = await reader.question(`${impact}\nGo on? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
