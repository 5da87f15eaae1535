import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

// The program Codex runs as its hook: passes the hook's JSON on to the daemon's socket and does as it is answered. Codex
// lets a tool use pass when its hook fails, so everything that goes wrong here is a denial. A wish to end is let pass:
// the engine's gates decide about the work in any case.

const DENY_AFTER_MS = 30_000;

interface Answer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

const [socketFile = '', event = ''] = process.argv.slice(2);

function leave(answer: Answer): never {
  process.stdout.write(answer.stdout);
  process.stderr.write(answer.stderr);
  process.exit(answer.exitCode);
}

function giveUp(why: string): never {
  const isToolUse = event !== 'Stop';
  leave({
    exitCode: isToolUse ? 2 : 0,
    stdout: '',
    stderr: isToolUse ? `denied: the guards cannot be asked (${why})` : '',
  });
}

async function ask(): Promise<Answer> {
  const socket = connect({ path: socketFile, allowHalfOpen: true });
  const failed = new Promise<never>((_, reject) => socket.once('error', reject));
  socket.end(await text(process.stdin));
  return JSON.parse(await Promise.race([text(socket), failed])) as Answer;
}

if (event !== 'Stop') setTimeout(() => giveUp('no answer in 30 s'), DENY_AFTER_MS);
await ask().then(leave, (error: Error) => giveUp(error.message));
