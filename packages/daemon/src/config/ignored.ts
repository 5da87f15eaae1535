import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nulList } from '../git/output.ts';
import { gitWith } from '../git/program.ts';
import { CONFIG_FILE } from './check.ts';
import type { ProposedStep } from './detect/tool.ts';

/** Ignored files that tests usually need. Not `.env`, which may contain secrets. */
const FOR_TESTS = ['.env.test', '.env.test.local', '.env.testing', '.env.ci', '.env.example'];

/** Folders that are only for us, or whose tool keeps a file of others in them. */
const SELF_IGNORING = /(^|\/)(\.cache|\.venv|vendor\/bundle)\/$/;

/** Those of the paths that git ignores, also tracked ones. A folder ends with a slash. Empty outside a repository. */
const ignoredOf = (root: string, paths: string[]) => checkIgnore(root, paths, ['--no-index']);

/** Those of the paths that a worktree lacks: git ignores them, and they are not tracked. */
export const unshared = (root: string, paths: string[]) => checkIgnore(root, paths, []);

async function checkIgnore(root: string, paths: string[], how: string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const input = paths.map((path) => `${path}\0`).join('');
  const git = gitWith({ cwd: root });
  // 1: none of them; 128: no repository.
  return nulList((await git(['check-ignore', '-z', '--stdin', ...how], { input, answers: [1, 128] })).stdout);
}

/** The files that git tracks or would add. Empty outside a repository. */
export async function projectFiles(root: string): Promise<string[]> {
  const git = gitWith({ cwd: root });
  return nulList((await git(['ls-files', '-z', '-c', '-o', '--exclude-standard'], { answers: [128] })).stdout);
}

export async function includable(root: string, isThere: (name: string) => boolean): Promise<string[]> {
  // A tracked file is in every worktree already.
  return unshared(root, FOR_TESTS.filter(isThere));
}

/** The steps, so that git ignores what they create, and warnings about lines missing in `.gitignore`. */
export async function withIgnored(
  root: string,
  steps: ProposedStep[],
): Promise<{ prepare: ProposedStep[]; warnings: string[] }> {
  if (!existsSync(join(root, '.git'))) return { prepare: steps, warnings: [] };
  const made = [...new Set(steps.flatMap(({ makes }) => makes))].map((folder) => `${folder}/`);
  // Also test a name below each folder, for patterns that match only its content.
  const isIgnored = new Set(await ignoredOf(root, [...made, ...made.map((folder) => `${folder}x`)]));
  const loose = made.filter((folder) => !isIgnored.has(folder) && !isIgnored.has(`${folder}x`));
  // These folders can ignore themselves; a package manager would remove the file from its own.
  const own = loose.filter((folder) => SELF_IGNORING.test(folder));
  const prepare = steps.map((step) => {
    const made = own.filter((folder) => step.makes.includes(folder.slice(0, -1)));
    const first = made.map((folder) => `mkdir -p ${folder} && echo '*' > ${folder}.gitignore && `);
    return { ...step, run: `${first.join('')}${step.run}` };
  });
  const warnings = loose
    .filter((folder) => !own.includes(folder))
    .map(
      (folder) =>
        `git does not ignore ${folder}, which prepare creates. It would be treated as part of the change. Add this line to .gitignore: /${folder}`,
    );
  return { prepare, warnings };
}

/** A warning when git ignores the config, as it does where all dot files are ignored. A tracked file is not ignored. */
export async function ignoredConfig(root: string): Promise<string[]> {
  const git = gitWith({ cwd: root });
  const input = `${CONFIG_FILE}\0`;
  const { code, stdout } = await git(['check-ignore', '-v', '-z', '--stdin'], { input, answers: [1, 128] });
  const [source = '', line = '', pattern = ''] = stdout.split('\0');
  // A negating pattern is listed as well.
  if (code !== 0 || pattern.startsWith('!')) return [];
  return [
    `git ignores ${CONFIG_FILE} (${source}:${line}: ${pattern}), so it would never be committed, and others would not have it. Add these two lines to the end of .gitignore: !/.tidemill/ and !/.tidemill/**, or commit it with \`git add -f .tidemill\`.`,
  ];
}
