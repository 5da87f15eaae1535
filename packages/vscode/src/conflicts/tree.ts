import type { ConflictSummary } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { Link } from '../link.ts';
import { LinkTree } from '../link-tree.ts';
import { whileVisible } from '../while-visible.ts';
import { plural } from '../words.ts';
import type { MergeFiles } from './merge-files.ts';

/** A conflict, or one file of it. Its commands get the node. */
export interface ConflictNode {
  conflict: ConflictSummary;
  /** Undefined: the whole conflict. */
  path?: string;
}

/** Tasks whose change conflicts with the target and that wait for a person, with their files. */
class ConflictTree extends LinkTree<ConflictNode> {
  readonly #files: MergeFiles;

  constructor(link: Link, files: MergeFiles) {
    super(link);
    this.#files = files;
  }

  async getChildren(node?: ConflictNode): Promise<ConflictNode[]> {
    await this.link.open();
    if (!node) return this.link.seen.conflicts.map((conflict) => ({ conflict }));
    if (node.path !== undefined) return [];
    return node.conflict.files.map((path) => ({ conflict: node.conflict, path }));
  }

  async getTreeItem(node: ConflictNode): Promise<vscode.TreeItem> {
    if (node.path === undefined) return conflictItem(node);
    const known = this.#files.lastKnown(node.conflict.number);
    const isResolved = known?.files.find((file) => file.path === node.path)?.isResolved === true;
    const { plainName } = await import('../contract-part.ts');
    return fileItem(node, plainName(node.path), isResolved);
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
  item.accessibilityInformation = { label: `Conflict of task ${number}, ${title}, ${item.description}` };
  return item;
}

function fileItem(node: ConflictNode, name: string, isResolved: boolean): vscode.TreeItem {
  const item = new vscode.TreeItem(name);
  item.id = `conflict/${node.conflict.number}/${node.path}`;
  item.iconPath = isResolved ? new vscode.ThemeIcon('pass') : vscode.ThemeIcon.File;
  item.description = isResolved ? 'resolved' : '';
  item.contextValue = 'conflictFile';
  item.command = { command: 'tidemill.openMergeEditor', title: 'Open in merge editor', arguments: [node] };
  item.accessibilityInformation = { label: `${name}, ${isResolved ? 'resolved' : 'not resolved'}` };
  return item;
}

export function registerConflictTree(context: vscode.ExtensionContext, link: Link, files: MergeFiles): void {
  const tree = new ConflictTree(link, files);
  const view = vscode.window.createTreeView('tidemill.conflicts', { treeDataProvider: tree });
  context.subscriptions.push(
    view,
    whileVisible(view, link, 'conflicts'),
    link.onChange((part) => {
      if (part === 'conflicts' || part === 'state') tree.changed();
    }),
  );
}
