import * as vscode from 'vscode';
import { dataFolderEnv } from './connection/data-folder.ts';
import { canRun, findProgram } from './connection/program.ts';
import type { Link } from './link.ts';

/**
 * Offers Tidemill's tools to the editor's own agents, as `tidemill mcp`: the program finds the daemon and its token by itself,
 * so that the editor stores neither.
 */
export function registerMcp(context: vscode.ExtensionContext, link: Link): void {
  // Missing in some editors that are built from VS Code.
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== 'function') return;
  const changes = new vscode.EventEmitter<void>();
  context.subscriptions.push(
    changes,
    link.onChange((part) => {
      if (part === 'state') changes.fire();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changes.fire()),
    vscode.lm.registerMcpServerDefinitionProvider('tidemill', {
      onDidChangeMcpServerDefinitions: changes.event,
      provideMcpServerDefinitions: () => serversOf(link),
    }),
  );
}

function serversOf(link: Link): vscode.McpServerDefinition[] {
  const root = link.root ?? link.repositories()[0];
  if (!root || !vscode.workspace.isTrusted) return [];
  const settings = vscode.workspace.getConfiguration('tidemill');
  const setting = settings.get<string>('program', '');
  const program = findProgram({ setting, root, env: process.env, platform: process.platform, canRun });
  if (!program) return [];
  const env = dataFolderEnv(settings.get<string>('dataFolder', ''));
  const server = new vscode.McpStdioServerDefinition('Tidemill', program, ['mcp'], env);
  server.cwd = vscode.Uri.file(root);
  return [server];
}
