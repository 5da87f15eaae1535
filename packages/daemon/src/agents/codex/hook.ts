import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

// The program Codex runs as its hook: passes the hook's JSON to the daemon's socket and applies the response. Codex
// allows a tool use when its hook fails, so every error here is a denial. A stop request is always allowed, because the
// engine's gates check the work anyway.

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
  if (event === 'Stop') leave({ exitCode: 0, stdout: '', stderr: '' });
  leave({ exitCode: 2, stdout: '', stderr: `the guards cannot be asked (${why})` });
}

async function ask(): Promise<Answer> {
  const question = await text(process.stdin);
  const socket = connect({ path: socketFile, allowHalfOpen: true });
  socket.end(question);
  return JSON.parse(await text(socket)) as Answer;
}

process.on('uncaughtException', (error) => giveUp(error.message));
if (event !== 'Stop') setTimeout(() => giveUp('no answer in 30 s'), DENY_AFTER_MS);
await ask().then(leave, (error: Error) => giveUp(error.message));
