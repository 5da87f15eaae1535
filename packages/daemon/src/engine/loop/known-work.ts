import type { LoggedEvent, Proposal, ProposalDraft, RelatedWork, Task } from '@tidemill/contract';
import { DUPLICATE, RELATED, SimilarWork } from '@tidemill/core';
import type { OpenItem, Store } from '../../ports.ts';
import { pathsIn } from '../learning/run-lessons.ts';

const PAGE = 1000;
/** More are not shown. */
const MOST_RELATED = 5;

interface Known {
  taskId: string | null;
  proposalId: string | null;
  /** An open item of the tracker that is no task. */
  item?: OpenItem;
}

/** All work that a proposal could repeat: tasks in every stage, proposals that wait or were refused, open items of the tracker. */
export class KnownWork {
  readonly #store: Store;
  readonly #projectId: string;
  #index: SimilarWork<Known> | null = null;

  constructor(store: Store, projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  /** Keeps up with tasks that were added or changed. Nothing is kept before the first question. */
  async follow(events: readonly LoggedEvent[]): Promise<void> {
    if (!this.#index) return;
    for (const { body } of events)
      if (body.type === 'task.created' || body.type === 'task.edited') {
        const task = await this.#store.task(body.taskId);
        if (task) this.#putTask(this.#index, task);
      }
  }

  /** Work that is like the proposal: a twin, or others that are related. The most alike first. */
  async like(
    proposal: Proposal,
    others: Iterable<Proposal>,
    items: readonly OpenItem[] = [],
  ): Promise<{ isTwin: boolean; related: RelatedWork[] }> {
    const index = await this.#loaded();
    const live = [...others].filter(
      ({ id, status }) => id !== proposal.id && (status === 'waiting' || status === 'refused'),
    );
    for (const other of live) index.put(other.id, { taskId: null, proposalId: other.id }, textOf(other.draft));
    for (const item of items)
      index.put(item.key, { taskId: null, proposalId: null, item }, { ...item, files: pathsIn(item.body) });
    const found = index.like(textOf(proposal.draft), RELATED).filter(({ key }) => key.proposalId !== proposal.id);
    for (const key of [...live.map(({ id }) => id), ...items.map((item) => item.key)]) index.remove(key);
    const related = await Promise.all(
      found.slice(0, MOST_RELATED).map(async ({ key, likeness }) => this.#named(key, likeness, live)),
    );
    return { isTwin: (found[0]?.likeness ?? 0) >= DUPLICATE, related };
  }

  async #named({ taskId, proposalId, item }: Known, likeness: number, proposals: Proposal[]): Promise<RelatedWork> {
    const rounded = Math.round(likeness * 100) / 100;
    if (item) return { ref: item.key, title: item.title, state: 'open in the tracker', likeness: rounded };
    const other = proposals.find(({ id }) => id === proposalId);
    if (other)
      return { ref: `proposal ${other.number}`, title: other.draft.title, state: other.status, likeness: rounded };
    const task = await this.#store.task(taskId ?? '');
    return { ref: `#${task?.number}`, title: task?.title ?? '', state: task?.stage ?? '', likeness: rounded };
  }

  async #loaded(): Promise<SimilarWork<Known>> {
    if (this.#index) return this.#index;
    const index = new SimilarWork<Known>();
    for (let afterNumber = 0; ; ) {
      const page = await this.#store.tasks({ projectId: this.#projectId, afterNumber, limit: PAGE });
      for (const task of page) this.#putTask(index, task);
      if (page.length < PAGE) break;
      afterNumber = page.at(-1)!.number;
    }
    this.#index = index;
    return index;
  }

  #putTask(index: SimilarWork<Known>, { id, title, body, files }: Task): void {
    index.put(id, { taskId: id, proposalId: null }, { title, body, files });
  }
}

/** As its task would describe it. */
const textOf = ({ title, description, approach, files, newFiles }: ProposalDraft) => ({
  title,
  body: `${description}\n${approach}`,
  files: [...files, ...newFiles],
});
