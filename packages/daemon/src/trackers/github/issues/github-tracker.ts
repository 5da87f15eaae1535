import type { GithubTrackerConfig } from '@tidemill/contract';
import { itemBody, itemTitle, kindOfLabels, type OutsideStatus, OWN_LABEL, priorityOfItem } from '@tidemill/core';
import { z } from 'zod';
import type {
  Clock,
  ExternalItem,
  GoneItem,
  ItemComment,
  NewItem,
  OpenItem,
  OutsideComment,
  Tracker,
  TrackerChanges,
} from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import { GithubPeople } from '../client/people.ts';
import { blockersOf } from './blockers.ts';
import { Board } from './board.ts';
import { IssueComments } from './issue-comments.ts';
import { freshIn, type IssueCursor, readCursor, seenOf, writeCursor } from './issue-cursor.ts';
import { listIssues, newestChange, newestOpen } from './issue-list.ts';
import { OneComment } from './one-comment.ts';
import { fromRest, isPull, type RawIssue, RestIssue } from './raw-issue.ts';
import { inTrackerWords } from './trouble.ts';

interface Options {
  client: GithubClient;
  config: GithubTrackerConfig;
  clock: Clock;
  /** `owner/name`. */
  repository: string;
  /** The address of the repository for people. */
  url: string | null;
}

const OWN = /<!-- tidemill:item:(\S{1,300}) -->/g;
const Named = z.object({ id: z.number(), number: z.number().int(), title: z.string() });

/** The issues of a repository on GitHub, selected by labels, a milestone or a board. */
export class GithubTracker implements Tracker {
  readonly name: string;
  readonly url: string | null;
  readonly #client: GithubClient;
  readonly #config: GithubTrackerConfig;
  readonly #now: () => number;
  readonly #repository: string;
  readonly #people: GithubPeople;
  readonly #comment: OneComment;
  readonly #comments: IssueComments;
  readonly #board: Board | null;
  /** Issues whose card changed and that were returned with this cursor: until it comes back they may be lost. */
  #returned = { cursor: '', cards: new Set<number>() };
  #reads = 0;

  constructor({ client, config, clock, repository, url }: Options) {
    this.name = `github:${repository}`;
    this.url = url;
    this.#client = client;
    this.#config = config;
    this.#now = () => clock.now();
    this.#repository = repository;
    this.#people = new GithubPeople(client, clock);
    this.#comment = new OneComment(client, this.#people);
    this.#comments = new IssueComments(client, this.#people, (issue) => this.#key(issue));
    this.#board = config.project ? new Board(client, clock, config.project) : null;
  }

  changes(cursor: string | null): Promise<TrackerChanges> {
    return inTrackerWords(false, this.#now, () => {
      const from = cursor === null ? null : readCursor(cursor);
      return from === null || cursor === null ? this.#whole() : this.#since(from, cursor);
    });
  }

  items(keys: readonly string[]): Promise<(ExternalItem | GoneItem)[]> {
    return inTrackerWords(false, this.#now, async () => {
      const found: (RawIssue | GoneItem)[] = [];
      for (const key of keys) found.push(await this.#look(key));
      const issues = found.filter((each): each is RawIssue => 'number' in each);
      const gone = found.filter((each): each is GoneItem => 'gone' in each);
      // GitHub says "not found" too when the token may not see the repository any more.
      if (gone.length > 0) await this.#client.get('', z.object({ id: z.number() }));
      return [...(await this.#external(issues)), ...gone];
    });
  }

  openItems(): Promise<OpenItem[]> {
    return inTrackerWords(false, this.#now, async () => {
      const rows = await newestOpen(this.#client);
      return rows.map(fromRest).map(({ number, title, body }) => ({
        key: this.#key(number),
        title: itemTitle(title),
        body: itemBody(body),
      }));
    });
  }

  comments(key: string): Promise<ItemComment[]> {
    return inTrackerWords(false, this.#now, () => this.#comments.of(numberOf(key)));
  }

  comment(key: string, comment: OutsideComment): Promise<{ id: string } | { takenBy: string }> {
    return this.#write(() => this.#comment.write(numberOf(key), comment));
  }

  label(key: string, { add, remove }: { add: readonly string[]; remove: readonly string[] }): Promise<void> {
    return this.#write(async () => {
      const path = `/issues/${numberOf(key)}/labels`;
      if (add.length > 0) await this.#client.send('POST', path, { labels: add }, z.unknown());
      for (const label of remove)
        await this.#client
          .send('DELETE', `${path}/${encodeURIComponent(label)}`, undefined, z.unknown())
          .catch((error: unknown) => {
            if (!isGithubError(error, 'not_found')) throw error;
          });
    });
  }

  setStatus(key: string, status: OutsideStatus): Promise<void> {
    return this.#write(async () => this.#board?.setStatus(numberOf(key), status));
  }

  close(key: string): Promise<void> {
    return this.#patch(key, { state: 'closed', state_reason: 'completed' });
  }

  reopen(key: string): Promise<void> {
    return this.#patch(key, { state: 'open' });
  }

  /** The newest of our own are looked through first: a repetition comes soon. */
  create({ title, body, labels, marker }: NewItem): Promise<{ key: string; url: string }> {
    return this.#write(async () => {
      const query = { state: 'all', labels: OWN_LABEL, sort: 'created', direction: 'desc', per_page: 100 };
      const newest = (await this.#client.get('/issues', z.array(RestIssue), query)).map(fromRest);
      for (const issue of newest)
        if ((await this.#markerIn(issue)) === marker) return { key: this.#key(issue.number), url: issue.url };
      const text = `${body}\n\n<!-- tidemill:item:${marker} -->`;
      const { number, html_url: url } = await this.#client.send(
        'POST',
        '/issues',
        { title, body: text, labels },
        RestIssue,
      );
      return { key: this.#key(number), url };
    });
  }

  #write<T>(work: () => Promise<T>): Promise<T> {
    return inTrackerWords(true, this.#now, work);
  }

  #patch(key: string, change: object): Promise<void> {
    return this.#write(async () => {
      await this.#client.send('PATCH', `/issues/${numberOf(key)}`, change, RestIssue);
    });
  }

  async #whole(): Promise<TrackerChanges> {
    const since = await newestChange(this.#client);
    const issues = (this.#board ? await this.#board.whole() : await this.#list()).filter(
      (issue) => issue.state === 'open' && this.#isSelected(issue),
    );
    this.#returned = { cursor: '', cards: new Set() };
    const start = { since, seen: [] };
    const cursor = this.#cursor({ issues: start, comments: start });
    return { items: await this.#external(issues), comments: [], cursor, isWhole: true };
  }

  /** Issues with one of the labels, each once. */
  async #list(): Promise<RawIssue[]> {
    const { labels, milestone } = this.#config;
    const query = {
      state: 'open',
      ...(milestone === undefined ? {} : { milestone: await this.#milestone(milestone) }),
    };
    const lists: RestIssue[][] = [];
    for (const label of labels) lists.push(await listIssues(this.#client, { ...query, labels: label }, null));
    if (labels.length === 0) lists.push(await listIssues(this.#client, query, null));
    const issues = lists.flat().filter((row) => !isPull(row));
    const byNumber = new Map(issues.map((row) => [row.number, fromRest(row)]));
    return [...byNumber.values()].sort((a, b) => a.number - b.number);
  }

  async #milestone(title: string): Promise<string> {
    const { items } = await this.#client.list('/milestones', Named, { state: 'all' });
    // Without such a milestone nothing is selected, until somebody creates it.
    return String(items.find((each) => each.title.toLowerCase() === title.toLowerCase())?.number ?? 0);
  }

  /** A call that repeats an earlier cursor gets the same again: what it returned was not processed. */
  async #since(before: IssueCursor, cursor: string): Promise<TrackerChanges> {
    const rows = await listIssues(this.#client, { state: 'all' }, before.issues.since);
    const fresh = freshIn(before.issues, rows);
    const changed = new Map(fresh.filter((row) => !isPull(row)).map((row) => [row.number, fromRest(row)]));
    const cards = await this.#changedCards(cursor);
    for (const number of cards) {
      const issue = changed.has(number) ? null : await this.#look(this.#key(number));
      if (issue && 'number' in issue) changed.set(number, issue);
    }
    const items = await this.#external([...changed.values()]);
    const { comments, next: said } = await this.#comments.since(before.comments);
    // A pull request moves the cursor too, or the list would grow until an issue changes.
    const isQuiet = fresh.length === 0 && changed.size === 0 && said === before.comments;
    const next = isQuiet ? cursor : this.#cursor({ issues: seenOf(before.issues.since, rows), comments: said });
    this.#returned = { cursor: next, cards };
    return { items, comments, cursor: next, isWhole: false };
  }

  async #changedCards(cursor: string): Promise<Set<number>> {
    if (!this.#board) return new Set();
    const isProcessed = this.#returned.cursor === '' || this.#returned.cursor === cursor;
    const cards = new Set(isProcessed ? [] : this.#returned.cards);
    for (const number of await this.#board.changed()) cards.add(number);
    // Kept before anything else can fail.
    this.#returned = { cursor: isProcessed ? `before ${cursor}` : this.#returned.cursor, cards };
    return cards;
  }

  #cursor(at: IssueCursor): string {
    this.#reads += 1;
    return writeCursor(at, this.#reads);
  }

  #isSelected({ number, labels, milestone }: RawIssue): boolean {
    const wanted = this.#config;
    const has = (label: string) => labels.some((each) => each.toLowerCase() === label.toLowerCase());
    if (wanted.labels.length > 0 && !wanted.labels.some(has)) return false;
    if (wanted.milestone !== undefined && wanted.milestone.toLowerCase() !== milestone?.toLowerCase()) return false;
    return this.#board?.isSelected(number) ?? true;
  }

  async #look(key: string): Promise<RawIssue | GoneItem> {
    try {
      return fromRest(await this.#client.get(`/issues/${numberOf(key)}`, RestIssue));
    } catch (error) {
      if (!isGithubError(error, 'gone', 'not_found')) throw error;
      if (error.kind === 'not_found') return { key, gone: 'it was deleted, or converted to a discussion' };
      const isMoved = / 301 /.test(error.message);
      return { key, gone: isMoved ? 'it was transferred to another repository' : 'it was deleted' };
    }
  }

  async #external(issues: readonly RawIssue[]): Promise<ExternalItem[]> {
    const blockers = await blockersOf(this.#client, issues);
    const items: ExternalItem[] = [];
    for (const issue of issues) {
      const { number, author, association, labels, state, updatedAt, url } = issue;
      const isSelected = this.#isSelected(issue);
      items.push({
        key: this.#key(number),
        ...{ url, author, state, updatedAt, isSelected },
        mayPush: await this.#people.mayPush(author, association),
        isRejected: state === 'closed' && (issue.reason === 'not_planned' || issue.reason === 'duplicate'),
        marker: await this.#markerIn(issue),
        content: {
          title: itemTitle(issue.title),
          body: itemBody(issue.body),
          labels,
          kind: kindOfLabels(labels),
          priority: priorityOfItem(labels, this.#board?.cardOf(number)?.priority ?? null),
          blockedBy: (blockers.get(number) ?? []).map(({ name, isDone }) => ({ key: `github:${name}`, isDone })),
        },
      });
    }
    return items;
  }

  /** A stranger can copy a marker, but not write as us. */
  async #markerIn({ body, author }: RawIssue): Promise<string | null> {
    // Ours is the last one: what comes before it is the text of the item.
    const marker = [...body.matchAll(OWN)].at(-1)?.[1];
    return marker !== undefined && (await this.#people.isSelf(author)) ? marker : null;
  }

  #key(number: number): string {
    return `github:${this.#repository}#${number}`;
  }
}

const numberOf = (key: string) => Number(key.slice(key.lastIndexOf('#') + 1));
