import { GithubBed } from './github/github-bed.ts';
import { until } from './until.ts';

const config = (merge: string) => `pullRequest: { poll: 300ms, merge: ${merge} }\n`;

/** A daemon on a repository of GitHub that merges by itself. */
export class MergeQueueBed {
  readonly bed: GithubBed;
  private constructor(bed: GithubBed) {
    this.bed = bed;
  }

  static async withQueue(): Promise<MergeQueueBed> {
    const bed = await GithubBed.open({ config: config('tidemill') });
    bed.github.pulls.protections.set('main', { contexts: ['ci'], queue: true, asRules: true });
    await bed.up();
    return new MergeQueueBed(bed);
  }
  static async withAutoMerge(): Promise<MergeQueueBed> {
    const bed = await GithubBed.open({ config: config('auto') });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
    return new MergeQueueBed(bed);
  }

  sent = (mutation: string) => this.bed.github.writes('mill-bot').filter(({ body }) => body.includes(mutation)).length;
  merged = (number: number) => this.bed.github.as('ada').ask('GET', `/pulls/${number}`);

  /** Its checks pass, and it is in the queue. Returns what the queue built of it. */
  queued = async (pull: number, head: string): Promise<string> => {
    this.bed.github.checks.report(head, 'ci', 'success');
    await until(() => this.bed.github.pulls.queue.groupOf(pull) !== null);
    return this.bed.github.pulls.queue.groupOf(pull)!;
  };
  judge = async (group: string, conclusion: string, summary = '') => {
    this.bed.github.checks.report(group, 'ci', conclusion, summary);
    await this.bed.github.pulls.settle();
  };
}
