import { readdir } from 'node:fs/promises';
import path from 'node:path';

const SECRET_FILE =
  /^\.env(rc)?$|^\.env\.(?!(example|sample|template|dist|defaults)$)|^id_(rsa|dsa|ecdsa|ed25519)$|\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i;
const SKIPPED = new Set(['node_modules', '.git', 'target', 'vendor', '.venv', 'dist', 'build']);
const MOST_FOLDERS = 2_000;
const MOST_FILES = 200;
/** How long the list is reused, so that a large repository is not searched for every gate. */
const KEPT_MS = 20_000;

/**
 * Files in the person's checkout that look like secrets. A sandbox may read the checkout, but untracked files there are
 * not for the agent.
 */
export class CheckoutSecrets {
  readonly #known = new Map<string, { until: number; files: Promise<string[]> }>();

  in(root: string, dataDir: string): Promise<string[]> {
    const found = this.#known.get(root);
    if (found && found.until > performance.now()) return found.files;
    const files = walk(root, dataDir);
    this.#known.set(root, { until: performance.now() + KEPT_MS, files });
    return files;
  }
}

async function walk(root: string, dataDir: string): Promise<string[]> {
  const secrets: string[] = [];
  let level = [root];
  let seen = 0;
  while (level.length > 0 && seen < MOST_FOLDERS) {
    seen += level.length;
    const entries = (await Promise.all(level.map(entriesIn))).flat();
    const at = (entry: { parentPath: string; name: string }) => path.join(entry.parentPath, entry.name);
    secrets.push(...entries.filter((entry) => entry.isFile() && SECRET_FILE.test(entry.name)).map(at));
    level = entries
      .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name) && at(entry) !== dataDir)
      .map(at)
      .slice(0, MOST_FOLDERS);
  }
  return secrets.slice(0, MOST_FILES);
}

const entriesIn = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []);
