import * as vscode from 'vscode';
import type { Link } from './link.ts';

/** A tree of what the daemon shows. `changed` has the editor read it again. */
export abstract class LinkTree<Node> implements vscode.TreeDataProvider<Node> {
  protected readonly link: Link;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changes.event;

  constructor(link: Link) {
    this.link = link;
  }

  changed(): void {
    this.#changes.fire(undefined);
  }

  abstract getChildren(node?: Node): Promise<Node[]>;
  abstract getTreeItem(node: Node): vscode.TreeItem | Promise<vscode.TreeItem>;
}
