import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Config } from '@tidemill/contract';
import { sandboxStatus } from '../process/sandbox.ts';
import { SESSIONS_FOLDER } from '../sessions/folder.ts';

/**
 * Why a request in the folder may come from an agent, or null. In a sandbox the repository is read-only, so what is written
 * there comes from people and their programs.
 */
export async function requestDoubt(root: string, { sandbox, agents }: Config): Promise<string | null> {
  if (sandbox === 'off') return 'agents run without a sandbox (sandbox: off) and could write requests themselves';
  const { available, why } = await sandboxStatus();
  if (!available) return `${why}, and agents could write requests themselves`;
  const folder = await realpath(join(root, SESSIONS_FOLDER));
  for (const [name, agent] of Object.entries(agents)) {
    const places = 'writable' in agent ? agent.writable : [];
    for (const place of places) {
      const full = resolve(root, place);
      const real = await realpath(full).catch(() => full);
      if (isWithin(folder, real) || isWithin(real, folder))
        return `agents.${name} may write ${place}, and so requests in ${SESSIONS_FOLDER}`;
    }
  }
  return null;
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}
