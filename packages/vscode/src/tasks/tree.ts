import type { TaskSummary } from '@tidemill/contract';
import * as vscode from 'vscode';
import { LinkTree } from '../link-tree.ts';
import { plural } from '../words.ts';
import type { TaskGroup } from './groups.ts';

export type TaskNode = { kind: 'group'; group: TaskGroup } | { kind: 'task'; task: TaskSummary };

const ICONS: Record<string, string> = {
  needs_info: 'question',
  blocked: 'circle-slash',
  open: 'circle-outline',
  done: 'pass',
  cancelled: 'circle-slash',
  review: 'eye',
  merge: 'git-merge',
  verify: 'beaker',
  plan: 'list-ordered',
};

/** Tasks by stage. */
export class TaskTree extends LinkTree<TaskNode> {
  async getChildren(node?: TaskNode): Promise<TaskNode[]> {
    await this.link.open();
    if (node?.kind === 'task') return [];
    if (node) return node.group.tasks.map((task) => ({ kind: 'task', task }));
    const { state, project, tasks, status } = this.link.seen;
    if (state !== 'ready' || !project) return [];
    const { groupsOf } = await import('../contract-part.ts');
    return groupsOf(project, tasks, status?.tasks ?? {}).map((group) => ({ kind: 'group', group }));
  }

  async getTreeItem(node: TaskNode): Promise<vscode.TreeItem> {
    return node.kind === 'group' ? groupItem(node.group) : taskItem(node.task);
  }

  getParent(): undefined {
    return undefined;
  }
}

function groupItem({ stage, label, count, tasks }: TaskGroup): vscode.TreeItem {
  const isEnd = stage === 'done' || stage === 'cancelled';
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label, isEnd ? Collapsed : Expanded);
  item.id = `stage/${stage}`;
  item.description = count > tasks.length ? `${tasks.length} newest of ${count}` : String(count);
  item.contextValue = 'stage';
  item.accessibilityInformation = { label: `${label}, ${plural(count, 'task')}` };
  return item;
}

async function taskItem(task: TaskSummary): Promise<vscode.TreeItem> {
  const { noteOf, menuOf } = await import('../contract-part.ts');
  const item = new vscode.TreeItem(`#${task.number} ${task.title}`);
  const note = noteOf(task);
  item.id = `task/${task.number}`;
  item.description = note;
  item.tooltip = `#${task.number} ${task.title}${note ? `\n${note}` : ''}`;
  item.contextValue = menuOf(task);
  item.iconPath = new vscode.ThemeIcon(task.worker ? 'sync' : (ICONS[task.stage] ?? 'circle-outline'));
  item.command = { command: 'tidemill.showTask', title: 'Show', arguments: [{ kind: 'task', task }] };
  item.accessibilityInformation = { label: `Task ${task.number}, ${task.title}${note ? `, ${note}` : ''}` };
  return item;
}
