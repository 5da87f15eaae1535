import { namedDataFolder } from '../config/data-folder.ts';
import { RUN_MARK } from '../process/environment.ts';
import { ownRun } from '../process/leaks.ts';
import { PROGRAM_VERSION } from '../version.ts';
import { reportFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { openTerminal } from './terminal.ts';

/** Runs one command and exits the process. */
export async function run(argv: string[]): Promise<never> {
  const { stdout, stderr } = process;
  const env = knownEnvironment(process.env);
  const terminal = openTerminal(env);
  // A reader that closes the pipe early (`| head`) is not a failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  let exitCode = 0;
  const setExitCode = (code: number) => {
    exitCode = code;
  };
  try {
    const context = { env, cwd: process.cwd(), terminal, setExitCode };
    const program = await createProgram(context, PROGRAM_VERSION, argv[2]);
    await program.parseAsync(argv);
  } catch (error) {
    exitCode = reportFailure(error, terminal, argv.includes('--json'));
  }
  // Exit without waiting for leftover timers, but flush what was printed.
  await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
  process.exit(exitCode);
}

/** With the mark of the run that started this program, also where the agent removed it. */
function knownEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const run = env[RUN_MARK] || ownRun(namedDataFolder(env).id);
  return run ? { ...env, [RUN_MARK]: run } : env;
}
