import * as vscode from 'vscode';
import { registerDaemon } from './daemon-commands.ts';
import { registerFleet } from './fleet/commands.ts';
import { Link } from './link.ts';
import { registerTasks } from './tasks/commands.ts';

/** Called when a view is opened or a command is run. It only registers: the link opens when something is shown. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Tidemill', { log: true });
  context.subscriptions.push(log);
  const link = new Link(context, log);
  registerDaemon(context, link);
  registerFleet(context, link);
  registerTasks(context, link);
}
