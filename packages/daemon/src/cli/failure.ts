import { AppError, type ErrorCode } from '@tidemill/contract';
import { CommanderError } from 'commander';
import type { Terminal } from './terminal.ts';

export const EXIT = { ok: 0, failure: 1, badInput: 2 } as const;

/** The request was wrong; all other codes are failures in handling it. */
const BAD_INPUT: ErrorCode[] = [
  'bad_input',
  'bad_config',
  'not_found',
  'no_project',
  'unknown_pipeline',
  'dependency_cycle',
  'wrong_stage',
  'not_a_repository',
  'no_commits',
  'too_large',
];

/** Prints the error and its hint; returns the exit code. */
export function reportFailure(error: unknown, terminal: Terminal, isJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
  const { code, message, hint } =
    error instanceof AppError
      ? error
      : {
          code: 'internal' as const,
          message: error instanceof Error ? (error.stack ?? error.message) : String(error),
          hint: '',
        };
  if (isJson) terminal.err.write(`${JSON.stringify({ error: { code, message, hint } })}\n`);
  else {
    terminal.err.write(`${terminal.paint('red', 'tidemill:')} ${message}\n`);
    if (hint) terminal.err.write(`  ${hint}\n`);
  }
  return BAD_INPUT.includes(code) ? EXIT.badInput : EXIT.failure;
}
