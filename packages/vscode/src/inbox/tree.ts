import type { InboxItem, Severity } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { Link } from '../link.ts';
import { LinkTree } from '../link-tree.ts';
import { sayInfo } from '../say.ts';
import { ago, agoHolds, pickText } from '../words.ts';
import { answer } from './answer.ts';

export interface InboxNode {
  item: InboxItem;
  task: InboxItem['task'];
}

const ICONS: Record<Severity, string> = { info: 'info', warning: 'warning', error: 'error', critical: 'flame' };

/** What waits for a person, the most urgent first. */
class InboxTree extends LinkTree<InboxNode> {
  async getChildren(node?: InboxNode): Promise<InboxNode[]> {
    if (node) return [];
    await this.link.open();
    return this.link.seen.inbox.map((item) => ({ item, task: item.task }));
  }

  getTreeItem({ item }: InboxNode): vscode.TreeItem {
    const { ref, kind, severity, isBlocking, title, text, task, at } = item;
    const about = task ? `#${task.number} ${task.title}` : '';
    // An alert's title is only its kind.
    const said = kind === 'alert' && text ? text : title;
    // A task that waits is known by its name; the title says why it waits.
    const [head, rest] = task && ref.startsWith('#') ? [about, said] : [said.replaceAll(/\s+/g, ' '), about];
    const shown = new vscode.TreeItem(head);
    shown.id = `inbox/${ref}`;
    shown.description = [rest, ago(Date.now() - at)].filter((part) => part !== '').join(' · ');
    shown.tooltip = [`${kind}${isBlocking ? ', blocks work' : ''}`, about, title, text].filter(Boolean).join('\n');
    shown.iconPath = new vscode.ThemeIcon(kind === 'alert' ? ICONS[severity] : isBlocking ? 'question' : 'comment');
    shown.contextValue = `inbox ${kind}${task ? ' task' : ''}`;
    shown.command = { command: 'tidemill.answer', title: 'Answer', arguments: [{ item, task }] };
    shown.accessibilityInformation = { label: `${kind}${isBlocking ? ', blocks work' : ''}: ${said}. ${about}` };
    return shown;
  }
}

/** Has the tree drawn again when a time in it is no longer right, and only while somebody can see it. */
class Ageing implements vscode.Disposable {
  readonly #view: vscode.TreeView<InboxNode>;
  readonly #tree: InboxTree;
  readonly #link: Link;
  readonly #watching: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;

  constructor(view: vscode.TreeView<InboxNode>, tree: InboxTree, link: Link) {
    this.#view = view;
    this.#tree = tree;
    this.#link = link;
    this.#watching = view.onDidChangeVisibility(() => {
      if (view.visible) tree.changed();
      this.start();
    });
  }

  start(): void {
    clearTimeout(this.#timer);
    const { inbox } = this.#link.seen;
    if (!this.#view.visible || inbox.length === 0) return;
    const now = Date.now();
    const due = Math.min(...inbox.map(({ at }) => agoHolds(now - at)));
    this.#timer = setTimeout(() => {
      this.#tree.changed();
      this.start();
    }, due);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#watching.dispose();
  }
}

export function registerInbox(context: vscode.ExtensionContext, link: Link): void {
  const tree = new InboxTree(link);
  const view = vscode.window.createTreeView('tidemill.inbox', { treeDataProvider: tree });
  const draw = () => {
    tree.changed();
    ageing.start();
    const { length } = link.seen.inbox;
    view.badge =
      length > 0
        ? { value: length, tooltip: length === 1 ? '1 thing needs you' : `${length} things need you` }
        : undefined;
  };
  const ageing = new Ageing(view, tree, link);
  context.subscriptions.push(
    view,
    ageing,
    link.onChange((part) => {
      if (part === 'inbox' || part === 'state') draw();
    }),
    vscode.commands.registerCommand('tidemill.answer', async (node?: InboxNode) => {
      const item = node?.item ?? (await pick(link));
      if (item) await answer(link, item);
    }),
  );
}

/** For the command palette, where nothing is selected. */
async function pick(link: Link): Promise<InboxItem | undefined> {
  await link.open();
  if (link.seen.inbox.length === 0) {
    void sayInfo("You're all caught up.");
    return undefined;
  }
  const picks = link.seen.inbox.map((item) => ({
    label: pickText(item.title),
    description: item.task ? `#${item.task.number}` : item.kind,
    item,
  }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: 'What do you want to answer?' }))?.item;
}
