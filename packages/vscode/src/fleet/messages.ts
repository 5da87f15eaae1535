import type { WorkerOperation } from '@tidemill/contract';
import type { Overview } from './overview.ts';

/** From the extension to the webview. */
export type ToPage = { type: 'overview'; overview: Overview };

/** From the webview. It runs in its own frame: `parseRequest` checks what comes. */
export type FromPage =
  | { type: 'ready' }
  | { type: 'command'; command: string }
  | { type: 'worker'; worker: string; operation: WorkerOperation | 'reassign' }
  | { type: 'task'; number: number }
  | { type: 'broken'; text: string };

const OPERATIONS: Record<WorkerOperation | 'reassign', true> = {
  start: true,
  pause: true,
  freeze: true,
  resume: true,
  stop: true,
  restart: true,
  reset: true,
  reassign: true,
};
/** Commands that its buttons may run, and no others. */
const PAGE_COMMANDS = [
  'tidemill.start',
  'tidemill.addAgent',
  'tidemill.pauseAll',
  'tidemill.resumeAll',
  'tidemill.emergencyStop',
  'tidemill.inbox.focus',
  'vscode.openFolder',
  'workbench.trust.manage',
];

/** Null for anything else than a message of our page. */
export function parseRequest(value: unknown): FromPage | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null;
  const { type, command, worker, operation, number, text } = value as Record<string, unknown>;
  if (type === 'ready') return { type };
  if (type === 'command' && typeof command === 'string' && PAGE_COMMANDS.includes(command)) return { type, command };
  if (
    type === 'worker' &&
    typeof worker === 'string' &&
    typeof operation === 'string' &&
    Object.hasOwn(OPERATIONS, operation)
  )
    return { type, worker, operation: operation as WorkerOperation | 'reassign' };
  if (type === 'task' && typeof number === 'number' && Number.isInteger(number)) return { type, number };
  if (type === 'broken' && typeof text === 'string') return { type, text };
  return null;
}
