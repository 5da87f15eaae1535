import { Severity } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

const MINUTE = 60_000;
/** No second alert about the same matter within this time. One that became worse waits only the default time. */
const QUIET_MS: Record<string, number> = { stuck: 30 * MINUTE };
const QUIET_DEFAULT_MS = 5 * MINUTE;

export function raiseAlert(slice: Slice, command: CommandOf<'alert.raise'>, env: DecideEnv): Decision {
  const { taskId, kind, text, severity = 'warning', subject = '' } = command;
  const id = alertId(command.projectId, kind, subject);
  const last = slice.record('alert', id);
  // An alert with a time in the future was raised before the clock was set back. It must not silence later ones.
  const sinceMs = last ? env.now - last.at : -1;
  const isWorse = last !== undefined && rank(severity) > rank(last.severity);
  const quietMs = isWorse ? QUIET_DEFAULT_MS : (QUIET_MS[kind] ?? QUIET_DEFAULT_MS);
  if (last && sinceMs >= 0 && sinceMs < quietMs) {
    const isNews = last.resolvedAt !== null || last.text !== text || last.taskId !== taskId;
    return accept({ type: 'alert.repeated', alertId: id, ...(isNews ? { text, severity, taskId } : NO_NEWS) });
  }
  const count = (last?.count ?? 0) + 1;
  return accept({ type: 'alert.raised', taskId, kind, text, severity, subject, count });
}

const NO_NEWS = { text: null, severity: null };

/** The condition of an alert is over. Without an open alert nothing happens, so callers need not remember. */
export function resolveAlert(slice: Slice, { projectId, kind, subject = '' }: CommandOf<'alert.resolve'>): Decision {
  const alert = slice.record('alert', alertId(projectId, kind, subject));
  if (!alert || alert.resolvedAt !== null) return accept();
  return accept({ type: 'alert.resolved', alertId: alert.id, kind, subject });
}

const rank = (severity: Severity) => Severity.options.indexOf(severity);

export function acknowledgeAlert(slice: Slice, command: CommandOf<'alert.acknowledge'>): Decision {
  const alert = slice.record('alert', command.alertId);
  if (alert?.projectId !== command.projectId) return refuse('not_found', `there is no alert ${command.alertId}`);
  if (alert.acknowledgedAt !== null) return accept();
  return accept({ type: 'alert.acknowledged', alertId: alert.id, by: command.by });
}

export const alertId = (projectId: string, kind: string, subject: string) => `alert/${projectId}/${kind}/${subject}`;
