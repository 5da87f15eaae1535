import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { installedLauncher } from '../../scripts/installed-program.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty when no Postgres could be started; tests that need one are then skipped with a reason. */
    postgresUrl: string;
    /** The program's launcher, as it is installed. */
    launcher: string;
  }
}

/** One Postgres and one installed program for the whole run; each test creates its own schema in the database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // First: the program contains the page.
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'scripts', 'ensure-page.mjs')]);
  project.provide('launcher', await installedLauncher());
  try {
    const server = await startPostgres();
    project.provide('postgresUrl', server.url);
    return () => server.stop();
  } catch (error) {
    console.warn(`Postgres tests are skipped: ${error instanceof Error ? error.message : error}`);
    project.provide('postgresUrl', '');
    return async () => undefined;
  }
}
