import path from 'node:path';
import { findProgram } from '../../process/program.ts';

const INSTALL =
  'install Codex with `npm install -g @openai/codex` (or in the repository, without -g), or name its executable in `program`';

/** The configured program; else the one on PATH; else the repository's own installation. */
export async function findCodex(
  program: string | undefined,
  root: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ file: string } | { missing: string }> {
  const search = { PATH: env.PATH ?? '' };
  if (program !== undefined) {
    const found = await findProgram(program, search, root);
    return 'file' in found ? found : { missing: `${found.missing}; ${INSTALL}` };
  }
  for (const name of ['codex', path.join(root, 'node_modules', '.bin', 'codex')]) {
    const found = await findProgram(name, search, root);
    if ('file' in found) return found;
  }
  return { missing: `there is no program codex on PATH or in node_modules/.bin of the repository; ${INSTALL}` };
}
