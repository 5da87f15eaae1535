import { answerHook, REFUSED } from './hook-answer.ts';

/** Longer than a check may take, shorter than Claude Code's own limit, after which it would run the tool. */
const PATIENCE_MS = 5_000;

/** `tidemill guard`: reads the hook's request from standard input, responds with exit code and text, and ends the process. */
export async function runGuardHook(): Promise<never> {
  const timer = setTimeout(() => {
    process.stderr.write('tidemill guard: refused, because no complete question came in time\n', () =>
      process.exit(REFUSED),
    );
  }, PATIENCE_MS);
  process.on('uncaughtException', () => process.exit(REFUSED));
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const { exitCode, stdout, stderr } = await answerHook(Buffer.concat(chunks).toString('utf8'), process.env);
  clearTimeout(timer);
  await Promise.all([
    new Promise((resolve) => process.stdout.write(stdout, resolve)),
    new Promise((resolve) => process.stderr.write(stderr, resolve)),
  ]);
  process.exit(exitCode);
}
