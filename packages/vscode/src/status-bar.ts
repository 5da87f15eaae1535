import * as vscode from 'vscode';
import type { Link } from './link.ts';
import { statusTextOf } from './status-text.ts';

/** One item on the left: what needs the person, or what goes on. */
export function registerStatusBar(context: vscode.ExtensionContext, link: Link): void {
  const item = vscode.window.createStatusBarItem('tidemill.status', vscode.StatusBarAlignment.Left, 0);
  item.name = 'Tidemill';
  const draw = () => {
    const { text, tooltip, command } = statusTextOf(link.seen);
    item.text = text;
    item.tooltip = tooltip;
    item.command = command;
    item.accessibilityInformation = { label: tooltip };
    item.show();
  };
  context.subscriptions.push(
    item,
    link.onChange((part) => {
      if (part === 'state' || part === 'status') draw();
    }),
  );
}
