import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type MergeCase, mergeCases } from '../support/merge-cases.ts';
import { type Bed, makeBed, personEnv } from './workspace-bed.ts';

/** A stream for `git fast-import`: one commit of the target with all cases, and for each a task's branch with its merge. */
class History {
  readonly #blobs = new Map<string, number>();
  readonly #parts: string[] = [];

  constructor(cases: MergeCase[]) {
    const all = (side: 'base' | 'target') => Object.assign({}, ...cases.map((each) => each[side])) as MergeCase['base'];
    const [base, target] = [all('base'), all('target')];
    const executable = cases.flatMap((each) => each.executable?.target ?? []);
    this.#commit('main', 1, '', this.#tree(base));
    this.#commit('main', 2, 'from :1\n', `deleteall\n${this.#tree(target, executable)}`);
    cases.forEach((each, i) => {
      const isOwn = (path: string) => path.startsWith(`case-${i}/`);
      const others = Object.fromEntries(Object.entries(target).filter(([path]) => !isOwn(path)));
      const runs = [...executable.filter((path) => !isOwn(path)), ...(each.executable?.result ?? [])];
      this.#commit(`task/${i + 1}-case`, 10 + i, 'from :1\n', this.#tree(each.ours));
      const merged = this.#tree({ ...others, ...each.result }, runs);
      this.#commit(`task/${i + 1}-case`, 1010 + i, `from :${10 + i}\nmerge :2\n`, `deleteall\n${merged}`);
    });
  }

  #tree(files: MergeCase['base'], executable: string[] = []): string {
    const entries = Object.entries(files).map(([path, content]) => {
      const mark = this.#blobs.get(content) ?? 10_000 + this.#blobs.size;
      if (!this.#blobs.has(content))
        this.#parts.push(`blob\nmark :${mark}\ndata ${Buffer.byteLength(content)}\n${content}\n`);
      this.#blobs.set(content, mark);
      return `M ${executable.includes(path) ? '100755' : '100644'} :${mark} ${path}\n`;
    });
    return entries.join('');
  }

  #commit(branch: string, mark: number, parents: string, content: string): void {
    const who = 'committer Ada <ada@example.org> 1700000000 +0000\n';
    this.#parts.push(`commit refs/heads/${branch}\nmark :${mark}\n${who}data 1\nx\n${parents}${content}\n`);
  }

  toString = () => this.#parts.join('');
}

async function importHistory({ root }: Bed, cases: MergeCase[]): Promise<void> {
  const git = spawn('git', ['fast-import', '--quiet', '--force'], { cwd: root, env: personEnv });
  git.stdin.end(String(new History(cases)));
  const [said] = await Promise.all([text(git.stderr), once(git, 'close')]);
  expect(said).toBe('');
}

/** Every second one of so many conflicts is resolved badly. */
export function findsLosses(count: number): void {
  test(`of ${count} resolved conflicts every bad one is found, and no good one is vetoed`, {
    timeout: 300_000,
  }, async () => {
    const cases = mergeCases(count, 11);
    const bed = await makeBed();
    try {
      await importHistory(bed, cases);
      const vetoed: string[] = [];
      const missed: string[] = [];
      for (const [i, { name, isGood, result }] of cases.entries()) {
        const losses = await bed.workspace.mergeLosses({ number: i + 1, branch: `task/${i + 1}-case` });
        const isFound = losses.length > 0 && losses.every(({ path }) => path.startsWith(`case-${i}/`));
        const report = `${i} ${name}: ${JSON.stringify({ losses, result })}`;
        if (isGood && losses.length > 0) vetoed.push(report);
        if (!isGood && !isFound) missed.push(report);
      }
      expect({ vetoed, missed }).toEqual({ vetoed: [], missed: [] });
      expect(cases.filter(({ isGood }) => isGood)).toHaveLength(count / 2);
    } finally {
      await bed.remove();
    }
  });
}
