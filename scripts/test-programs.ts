import { existsSync } from 'node:fs';
import { sandboxStatus } from '../packages/daemon/src/process/sandbox.ts';
import { hasBrowser, NO_BROWSER } from '../test/support/browser.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { CODE_SERVER } from './ensure-code-server.mjs';

interface MissingProgram {
  name: string;
  why: string;
}

/** Programs that tests need beside Node and git. Elsewhere their tests are skipped; in CI a missing one is a failure. */
export async function missingPrograms(): Promise<MissingProgram[]> {
  const sandbox = await sandboxStatus();
  const problems: [name: string, why: string | null][] = [
    ['bubblewrap', sandbox.available ? null : sandbox.why],
    ['Chromium', hasBrowser ? null : NO_BROWSER],
    ['code-server', existsSync(CODE_SERVER) ? null : 'its installation failed (see the lines above)'],
    ['Postgres', await postgresProblem()],
  ];
  return problems.flatMap(([name, why]) => (why === null ? [] : [{ name, why }]));
}

async function postgresProblem(): Promise<string | null> {
  try {
    await (await startPostgres()).stop();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
