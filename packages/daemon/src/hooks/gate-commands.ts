import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rootKey } from '../guards/call-log.ts';

/** A gate that a person's session can run itself. */
export interface GateCommand {
  name: string;
  run: string;
}

const CONFIG_FILE = '.tidemill/config.yaml';

/**
 * The gates of the repository, cached in the data folder until the config changes: parsing it takes longer than a hook
 * may take. Empty without a config.
 */
export async function gateCommands(root: string, dataDir: string): Promise<GateCommand[]> {
  const found = statSync(join(root, CONFIG_FILE), { throwIfNoEntry: false });
  if (!found) return [];
  const stamp = `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`;
  const file = join(dataDir, 'hooks', `${rootKey(root)}.gates.json`);
  const kept = readKept(file);
  if (kept?.stamp === stamp) return kept.gates;
  const { loadSettings } = await import('../config/load.ts');
  const { config } = await loadSettings(root);
  const gates = config.gates.filter(({ run }) => run !== '').map(({ name, run }) => ({ name, run }));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify({ stamp, gates }), { mode: 0o600 });
  renameSync(temporary, file);
  return gates;
}

function readKept(file: string): { stamp: string; gates: GateCommand[] } | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { stamp: string; gates: GateCommand[] };
  } catch {
    return null; // missing or incomplete: it is created again
  }
}
