import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FolderImage } from '../support/folder-image.ts';

/** Without maintenance: a commit would start another git that looks whether there is something to tidy. */
const IDENTITY = ['user.name=Ada Miller', 'user.email=ada@example.invalid', 'maintenance.auto=false'].flatMap(
  (each) => ['-c', each],
);

/** Repositories that were made before in this process. */
const images = new Map<string, FolderImage>();

/** A real repository in a temporary folder whose name has a space and an umlaut, with one commit on main. */
export class TemporaryRepository {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill répo ')));
  readonly root = join(this.folder, 'the mill');

  constructor(files: Record<string, string> = {}) {
    const key = JSON.stringify(files);
    const known = images.get(key);
    if (known) {
      known.writeTo(this.root);
      // The index knows other files with these names; some of git's commands would take them for changed.
      this.git('update-index', '-q', '--refresh');
      return;
    }
    mkdirSync(this.root);
    this.git('init', '-q', '-b', 'main');
    this.write(files);
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', 'Start');
    images.set(key, new FolderImage(this.root));
  }

  git(...args: string[]): string {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
    return execFileSync('git', [...IDENTITY, ...args], { cwd: this.root, env, encoding: 'utf8' }).trimEnd();
  }

  write(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), text);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A config under which nothing needs a real agent. */
export const QUIET_CONFIG = `target: main
pipeline: quick
agents:
  default: { type: command, command: ["true"] }
gates:
  - { name: test, run: "true" }
  - { name: secrets, kind: secrets }
`;
