import { reportFailure } from './cli/failure.ts';
import { createProgram } from './cli/program.ts';
import { openTerminal } from './cli/terminal.ts';

/** Replaced by the package's own version when it is built. */
const VERSION = '0.1.0';
/** What is still open a moment after the end of a command must not keep the person waiting. */
const LINGER_MS = 2000;

const terminal = openTerminal(process.env);
// The reader may leave early (`| head`): that is its right, not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = 0;
const program = createProgram(
  {
    env: process.env,
    cwd: process.cwd(),
    terminal,
    setExitCode: (code) => {
      process.exitCode = code;
    },
  },
  VERSION,
);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error, terminal, process.argv.includes('--json'));
}
setTimeout(() => process.exit(), LINGER_MS).unref();
