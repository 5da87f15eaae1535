import * as vscode from 'vscode';
import { registerActivity } from './activity/tree.ts';
import { registerChanges } from './changes/commands.ts';
import { registerConflicts } from './conflicts/commands.ts';
import { registerDaemon } from './daemon-commands.ts';
import { registerFleet } from './fleet/commands.ts';
import { registerToasts } from './inbox/toasts.ts';
import { registerInbox } from './inbox/tree.ts';
import { Link } from './link.ts';
import { registerMcp } from './mcp.ts';
import { registerReconnection } from './reconnection.ts';
import { EditorSettings } from './settings/settings.ts';
import { registerStatusBar } from './status-bar.ts';
import { registerTasks } from './tasks/commands.ts';

/** Called when a view is opened or a command is run. It only registers: the link opens when something is shown. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Tidemill', { log: true });
  context.subscriptions.push(log);
  const link = new Link(context, log);
  const settings = new EditorSettings(context, link);
  registerDaemon(context, link, settings);
  registerFleet(context, link, settings);
  registerTasks(context, link);
  registerInbox(context, link);
  registerToasts(context, link);
  registerActivity(context, link);
  registerChanges(context, link);
  registerConflicts(context, link);
  registerStatusBar(context, link);
  registerReconnection(context, link);
  registerMcp(context, link);
}
