import type { AgentEnd } from '../../ports.ts';
import type { ChildEnd } from '../../process/child.ts';
import { classify } from './failure.ts';

interface Circumstances {
  program: string;
  /** Message for a missing program. */
  install: string | null;
  timeoutMs: number;
  /** The error of the connection. */
  fault: string | null;
  isStopped: boolean;
  /** The end of its error output. */
  words: string;
}

type Failed = Extract<AgentEnd, { kind: 'failed' }>;

/** How a run ended, from the result of the conversation and the exit of the process. */
export function judge(said: AgentEnd | { error: unknown }, ended: ChildEnd, about: Circumstances): AgentEnd {
  if ('kind' in said && said.kind === 'result' && !about.isStopped) return said;
  const exitCode = ended.kind === 'exited' ? ended.exitCode : null;
  const failed = (failure: Failed['failure'], message: string): Failed => ({
    kind: 'failed',
    failure,
    message,
    exitCode,
  });
  if (about.isStopped) return { ...failed('crash', 'stopped'), exitCode: null };
  if (about.fault !== null) return failed('crash', about.fault);
  if (ended.kind === 'unstartable') return failed('spawn', ended.message + (about.install ?? ''));
  if (ended.kind === 'timeout')
    return failed('timeout', `${about.program} was not done within ${about.timeoutMs / 1000} s`);
  if (ended.kind === 'over_limit') return failed('crash', `${about.program} ${ended.message}`);
  if ('kind' in said) return said;
  const error = said.error as Error & { code?: unknown; data?: unknown };
  if (typeof error.code === 'number') {
    const kind = classify(error, Date.now()) ?? { failure: 'crash' as const };
    const details = error.data === undefined ? '' : ` ${JSON.stringify(error.data).slice(0, 500)}`;
    return { ...failed(kind.failure, `${about.program} answered with an error: ${error.message}${details}`), ...kind };
  }
  return failed(...gone(ended, about));
}

/** The process ended during the conversation. Some print the reason before, for example a missing login. */
function gone(ended: ChildEnd, { program, words }: Circumstances): [Failed['failure'], string] {
  const sign = classify({ message: words }, Date.now())?.failure;
  const failure = sign === 'auth' || sign === 'network' ? sign : 'crash';
  const code = ended.kind === 'exited' ? ended.exitCode : null;
  const how = ended.kind === 'exited' && ended.signal ? `was killed by ${ended.signal}` : `exited with code ${code}`;
  const lastWords = words === '' ? '' : `; last output:\n${words}`;
  return [failure, `${program} ${how} during the session${lastWords}`];
}
