import type { ProjectStatus } from '@tidemill/contract';
import { loadSettings } from '../../config/load.ts';
import { settingsMark } from '../../config/watch.ts';

/** How long a status is reused while nothing is written. Times in it may be this old. */
const FRESH_MS = 200;
/** The part of the status that comes from the store. The rest is always current. */
export type StatusLook = Omit<ProjectStatus, 'daemon' | 'running' | 'holds' | 'preparing' | 'warnings'>;

/** Caches the last status of each project. */
export class StatusCache {
  readonly #looks = new Map<string, { lastSeq: number; at: number; made: Promise<StatusLook> }>();
  /** By root: the settings for a certain state of their files. */
  readonly #sandboxes = new Map<string, { mark: string; isOff: boolean }>();

  look(projectId: string, lastSeq: number, now: number, make: () => Promise<StatusLook>): Promise<StatusLook> {
    const last = this.#looks.get(projectId);
    if (last?.lastSeq === lastSeq && Math.abs(now - last.at) < FRESH_MS) return last.made;
    const made = make();
    this.#looks.set(projectId, { lastSeq, at: now, made });
    return made;
  }

  /** Whether the project's own config turns the sandbox off. */
  async isSandboxOff(root: string): Promise<boolean> {
    const mark = settingsMark(root);
    const known = this.#sandboxes.get(root);
    if (known?.mark === mark) return known.isOff;
    const settings = await loadSettings(root).catch(() => null); // `doctor` and `up` report invalid settings
    const isOff = settings?.config.sandbox === 'off';
    this.#sandboxes.set(root, { mark, isOff });
    return isOff;
  }
}
