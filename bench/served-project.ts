import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { addressOf, makeProject, startDaemon } from './daemon-process.ts';
import { inTemporaryFolder } from './temporary.ts';

/** A project that its daemon knows but does not work on: what is added stays where it is. */
export interface ServedProject {
  /** For whatever else is needed. */
  folder: string;
  pid: number;
  url: string;
  token: string;
  api: Api;
  project: string;
}

export async function withServedProject<T>(work: (served: ServedProject) => Promise<T>): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const [worked, known, home] = [join(folder, 'worked'), join(folder, 'known'), join(folder, 'home')];
    await makeProject(worked);
    await makeProject(known);
    const daemon = await startDaemon(worked, home);
    try {
      const { url, token } = await addressOf(home);
      const api = createClient({ url, token });
      const { id: project } = await api.registerProject({ root: known });
      return await work({ folder, pid: daemon.pid, url, token, api, project });
    } finally {
      await daemon.stop();
    }
  });
}
