import * as vscode from 'vscode';
import type { ActivityLine } from '../connection/seen.ts';
import type { Link } from '../link.ts';
import { LinkTree } from '../link-tree.ts';
import { whileVisible } from '../while-visible.ts';
import { iconOf, timeOf } from './line.ts';

/** The newest events, newest first. */
class ActivityTree extends LinkTree<ActivityLine> {
  async getChildren(line?: ActivityLine): Promise<ActivityLine[]> {
    if (line) return [];
    await this.link.open();
    return this.link.seen.activity;
  }

  getTreeItem({ seq, at, who, text, type, task }: ActivityLine): vscode.TreeItem {
    const about = task ? `#${task.number} ` : '';
    const item = new vscode.TreeItem(`${about}${who} ${text}`);
    item.id = `event/${seq}`;
    item.description = timeOf(at, Date.now());
    item.tooltip = `${who} ${text}${task ? `\n#${task.number} ${task.title}` : ''}\n${new Date(at).toLocaleString('en-GB')}`;
    item.iconPath = new vscode.ThemeIcon(iconOf(type));
    if (task) {
      item.contextValue = 'event task';
      item.command = { command: 'tidemill.showTask', title: 'Show task', arguments: [{ task }] };
    }
    item.accessibilityInformation = { label: `${timeOf(at, Date.now())}: ${who} ${text} ${about}` };
    return item;
  }
}

export function registerActivity(context: vscode.ExtensionContext, link: Link): void {
  const tree = new ActivityTree(link);
  const view = vscode.window.createTreeView('tidemill.activity', { treeDataProvider: tree });
  context.subscriptions.push(
    view,
    whileVisible(view, link, 'activity'),
    link.onChange((part) => {
      if (part === 'activity' || part === 'state') tree.changed();
    }),
  );
}
