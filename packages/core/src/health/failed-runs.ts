import { type FailureClass, plainLine, type Worker } from '@tidemill/contract';
import type { HealthFinding } from './finding.ts';

const DEGRADED_ERRORS = 3;
const CRITICAL_ERRORS = 10;
const MOST_CHARS = 300;
/** The agent works: its change is what fails. */
const ABOUT_THE_CHANGE: FailureClass[] = ['validation', 'unverified_gate', 'no_progress'];

/** A run that ended within the last hour. */
export interface LastRun {
  workerId: string;
  failure: FailureClass | null;
  endedAt: number;
}

/** The newest failed run: the number of its task, and its error. */
export interface LastError {
  number: number | null;
  text: string;
}

/** Runs that failed within the last hour. When all did, one cause is likely, and it is told once. */
export function failureFindings(workers: Worker[], ended: LastRun[], errors: Map<string, LastError>): HealthFinding[] {
  const broken = ended.filter(({ failure }) => failure !== null && !ABOUT_THE_CHANGE.includes(failure));
  const newest = broken.reduce<LastRun | null>((last, run) => (last && last.endedAt > run.endedAt ? last : run), null);
  if (newest && broken.length === ended.length && broken.length >= DEGRADED_ERRORS) {
    const text = `All agents fail: ${broken.length} runs ended within the last hour, and none succeeded.${lastError(errors.get(newest.workerId))} \`tidemill agents\` and \`tidemill doctor\` say what is missing; \`tidemill pause\` stops new runs.`;
    return [{ kind: 'all_failed', subject: '', severity: 'critical', text, taskId: null }];
  }
  return workers.flatMap((worker): HealthFinding[] => {
    const count = ended.filter(({ workerId, failure }) => workerId === worker.id && failure !== null).length;
    if (count < DEGRADED_ERRORS) return [];
    const severity = count > CRITICAL_ERRORS ? 'error' : 'warning';
    const text = `${worker.name} failed ${count} times within the last hour.${lastError(errors.get(worker.id))} Restart it with \`tidemill workers restart ${worker.name}\`.`;
    return [{ kind: 'error_rate', subject: worker.name, severity, text, taskId: null }];
  });
}

function lastError(error: LastError | undefined): string {
  if (!error) return '';
  const about = error.number === null ? '' : ` (#${error.number})`;
  return ` Last error${about}: ${quoted(error.text)}`;
}

/** Text of an agent or a program, on one line. */
export function quoted(text: string): string {
  const line = plainLine(text);
  return line === '' ? 'none was given.' : `"${line.length > MOST_CHARS ? `…${line.slice(-MOST_CHARS)}` : line}".`;
}
