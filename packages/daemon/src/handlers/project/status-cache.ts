import type { ProjectStatus } from '@tidemill/contract';
import { loadSettings } from '../../config/load.ts';
import { settingsMark } from '../../config/watch.ts';

/** So long the same look is returned again while nothing is written: many may look at once, and times may be this old. */
const FRESH_MS = 200;
/** What the store knows; the rest is known without a look, and changes without a write. */
export type StatusLook = Omit<ProjectStatus, 'daemon' | 'running' | 'warnings'>;

/** What was found for the last status of each project, for as long as it holds. */
export class StatusCache {
  readonly #looks = new Map<string, { lastSeq: number; at: number; made: Promise<StatusLook> }>();
  /** By root: what the settings said when their files looked like this. */
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
    const settings = await loadSettings(root).catch(() => null); // what is wrong with them, `doctor` and `up` say
    const isOff = settings?.config.sandbox === 'off';
    this.#sandboxes.set(root, { mark, isOff });
    return isOff;
  }
}
