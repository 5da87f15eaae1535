import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Config } from '@tidemill/contract';
import { sandboxStatus } from '../process/sandbox.ts';
import { SESSIONS_FOLDER } from '../sessions/folder.ts';

/**
 * Why a request in the folder may come from an agent, or null. In a sandbox the repository is read-only, so what is written
 * there comes from people and their programs.
 */
export async function requestDoubt(root: string, { sandbox, agents, delivery }: Config): Promise<string | null> {
  if (sandbox === 'off') return 'agents run without a sandbox (sandbox: off) and could write requests themselves';
  const folder = await realpath(join(root, SESSIONS_FOLDER));
  const writers = [
    ...Object.entries(agents).map(([name, agent]) => ({
      who: `agents.${name}`,
      places: 'writable' in agent ? agent.writable : [],
    })),
    // A delivery runs code that agents wrote.
    ...delivery.environments.map(({ name, writable }) => ({
      who: `the delivery to ${name}`,
      places: writable,
    })),
  ];
  for (const { who, places } of writers)
    for (const place of places) {
      const full = resolve(root, place);
      const real = await realpath(full).catch(() => full);
      if (isWithin(folder, real) || isWithin(real, folder))
        return `${who} may write ${place}, and so requests in ${SESSIONS_FOLDER}`;
    }
  const { available, why } = await sandboxStatus();
  return available ? null : `${why}, and agents could write requests themselves`;
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}
