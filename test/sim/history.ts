import { type Files, merge } from './files.ts';

export interface Commit {
  id: string;
  files: Files;
  parents: string[];
  message: string;
}

/** All commits of a story, wherever they are: here, at the remote, in nobody's branch. */
export class History {
  readonly commits = new Map<string, Commit>();
  #serial = 0;

  add(files: Files, parents: string[], message: string): Commit {
    this.#serial += 1;
    const commit = { id: `c${this.#serial}`, files, parents, message };
    this.commits.set(commit.id, commit);
    return commit;
  }
  files(commit: string): Files {
    return this.commits.get(commit)!.files;
  }
  /** A commit is younger than its parents, so nothing older than the one that is looked for needs a look. */
  isAncestor(commit: string, of: string): boolean {
    const seen = new Set<string>();
    const left = [of];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (id === commit) return true;
      if (seen.has(id) || age(id) < age(commit)) continue;
      seen.add(id);
      left.push(...this.commits.get(id)!.parents);
    }
    return false;
  }
  /** All commits that a commit contains, itself included, oldest first. */
  of(commit: string): Set<string> {
    const found = new Set<string>();
    const left = [commit];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      left.push(...this.commits.get(id)!.parents);
    }
    return new Set([...found].sort((a, b) => age(a) - age(b)));
  }
  /** What `to` has and `from` has not, oldest first. */
  between(from: string | null, to: string): Commit[] {
    const old = from === null ? new Set<string>() : this.of(from);
    return [...this.of(to)].filter((id) => !old.has(id)).map((id) => this.commits.get(id)!);
  }
  /** The newest commit that both have. */
  shared(one: string, other: string): string {
    const own = this.of(one);
    return [...this.of(other)].findLast((id) => own.has(id))!;
  }
  /** The files of both, as git merges them. */
  merged(onto: string, other: string): { files: Files; conflicts: string[] } {
    return merge(this.files(this.shared(onto, other)), this.files(onto), this.files(other));
  }
}

const age = (id: string) => Number(id.slice(1));
