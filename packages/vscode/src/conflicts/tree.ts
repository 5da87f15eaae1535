import type { ConflictSummary } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { Link } from '../link.ts';
import { whileVisible } from '../while-visible.ts';
import { plural } from '../words.ts';

/** A conflict, or one file of it. Its commands get the node. */
export interface ConflictNode {
  conflict: ConflictSummary;
  /** Undefined: the whole conflict. */
  path?: string;
}

class ConflictTree implements vscode.TreeDataProvider<ConflictNode> {
  readonly #link: Link;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changes.event;

  constructor(link: Link) {
    this.#link = link;
  }

  changed(): void {
    this.#changes.fire(undefined);
  }

  async getChildren(node?: ConflictNode): Promise<ConflictNode[]> {
    await this.#link.open();
    if (!node) return this.#link.seen.conflicts.map((conflict) => ({ conflict }));
    if (node.path !== undefined) return [];
    return node.conflict.files.map((path) => ({ conflict: node.conflict, path }));
  }

  getTreeItem(node: ConflictNode): vscode.TreeItem {
    return node.path === undefined ? conflictItem(node) : fileItem(node, node.path);
  }
}

function conflictItem({ conflict }: ConflictNode): vscode.TreeItem {
  const { number, title, target, files, status, why } = conflict;
  const item = new vscode.TreeItem(`#${number} ${title}`, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `conflict/${number}`;
  item.description = `${plural(files.length, 'file')} with ${target}${status === 'resolving' ? ', resolving' : ''}`;
  item.tooltip = why;
  item.iconPath = new vscode.ThemeIcon('git-merge');
  item.contextValue = `conflict ${status}`;
  return item;
}

function fileItem(node: ConflictNode, path: string): vscode.TreeItem {
  const item = new vscode.TreeItem(path);
  item.id = `conflict/${node.conflict.number}/${path}`;
  item.iconPath = vscode.ThemeIcon.File;
  item.resourceUri = vscode.Uri.from({ scheme: 'tidemill-conflict', path: `/${path}` });
  item.contextValue = 'conflictFile';
  item.command = { command: 'tidemill.openMergeEditor', title: 'Open in merge editor', arguments: [node] };
  return item;
}

export function registerConflictTree(context: vscode.ExtensionContext, link: Link): void {
  const tree = new ConflictTree(link);
  const view = vscode.window.createTreeView('tidemill.conflicts', { treeDataProvider: tree });
  context.subscriptions.push(
    view,
    whileVisible(view, link, 'conflicts'),
    link.onChange((part) => {
      if (part !== 'conflicts' && part !== 'state') return;
      tree.changed();
      const { length } = link.seen.conflicts;
      view.badge = length > 0 ? { value: length, tooltip: plural(length, 'conflict') } : undefined;
    }),
  );
}
