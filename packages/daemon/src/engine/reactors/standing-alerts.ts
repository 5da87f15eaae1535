import type { AlertKind, Severity } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';

/** A condition that a person should know, as long as it lasts. */
export interface StandingCondition {
  kind: AlertKind;
  subject: string;
  severity: Severity;
  text: string;
  taskId?: string | null;
}

/** What an alert said. */
type Told = Pick<StandingCondition, 'severity' | 'text'>;

/**
 * Alerts about conditions that begin and end. Each is raised when it begins or becomes worse, and closed when it is not
 * found again. Nothing is written while nothing changes.
 */
export class StandingAlerts {
  readonly #deps: Pick<EngineDeps, 'store' | 'project'>;
  readonly #kinds: readonly AlertKind[];
  readonly #isNews: (condition: Told) => string;
  /** What was told about each condition. Null until the alerts of an earlier daemon are read. */
  #told: Map<string, string> | null = null;

  /** `isNews`: an alert is raised again when this changes; by default its severity. */
  constructor(
    deps: Pick<EngineDeps, 'store' | 'project'>,
    kinds: readonly AlertKind[],
    isNews: (condition: Told) => string = ({ severity }) => severity,
  ) {
    this.#deps = deps;
    this.#kinds = kinds;
    this.#isNews = isNews;
  }

  /** `found`: all conditions of these kinds that hold now. */
  async settle(found: readonly StandingCondition[]): Promise<void> {
    const { store, project } = this.#deps;
    const before = this.#told ?? (await this.#open());
    const now = new Map(found.map((condition) => [keyOf(condition), this.#isNews(condition)]));
    for (const condition of found) {
      if (before.get(keyOf(condition)) === this.#isNews(condition)) continue;
      const { kind, subject, severity, text, taskId = null } = condition;
      await store.execute({ type: 'alert.raise', projectId: project.id, kind, subject, severity, text, taskId });
    }
    for (const key of before.keys()) {
      const [kind = '', subject = ''] = key.split('\n');
      if (!now.has(key)) await store.execute({ type: 'alert.resolve', projectId: project.id, kind, subject });
    }
    this.#told = now;
  }

  /** True when none of them holds, as far as is known. */
  get isQuiet(): boolean {
    return this.#told?.size === 0;
  }

  /** Open alerts that an earlier daemon raised. */
  async #open(): Promise<Map<string, string>> {
    const { store, project } = this.#deps;
    const open = await store.records({ noun: 'alert', projectId: project.id, isOpen: true });
    const kinds: readonly string[] = this.#kinds;
    const own = open.filter(({ kind }) => kinds.includes(kind));
    return new Map(own.map((alert) => [keyOf(alert), this.#isNews(alert)]));
  }
}

const keyOf = ({ kind, subject }: { kind: string; subject: string }) => `${kind}\n${subject}`;
