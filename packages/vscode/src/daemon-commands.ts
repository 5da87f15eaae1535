import { basename } from 'node:path';
import * as vscode from 'vscode';
import { isTrusted, problemText } from './act.ts';
import { dataFolderEnv } from './connection/data-folder.ts';
import { canRun, findProgram } from './connection/program.ts';
import type { Link } from './link.ts';
import { sayError, sayWarning } from './say.ts';
import type { EditorSettings } from './settings/settings.ts';
import { otherVersionText } from './words.ts';

const INSTALL = 'npm install -g tidemill';

/** Starting Tidemill, and choosing what this window shows. */
export function registerDaemon(context: vscode.ExtensionContext, link: Link, settings: EditorSettings): void {
  const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`tidemill.${name}`, run);
  context.subscriptions.push(
    command('start', () => start(link, settings.now.workers)),
    command('init', () => runInTerminal(link, ['init'])),
    command('openPage', () => openPage(link)),
    command('chooseRepository', () => chooseRepository(link)),
    command('refresh', () => link.refresh(['tasks', 'inbox', 'conflicts', 'activity', 'metrics'])),
  );
}

/** With a running daemon, work starts in it. Otherwise a terminal starts one: the person sees it and can end it. */
async function start(link: Link, workers: number | null): Promise<void> {
  await link.open();
  if (!link.root) {
    void sayError('This workspace has no git repository. Open a folder with one.');
    return;
  }
  if (!(await isTrusted())) return;
  const api = await link.api();
  if (link.seen.state === 'other_version') {
    void sayError(otherVersionText(link.seen.version));
    return;
  }
  if (!api) {
    await runInTerminal(link, ['up', ...(workers === null ? [] : ['--workers', String(workers)])]);
    return;
  }
  try {
    const { warnings } = await api.attachProject({ root: link.root, workers: workers ?? undefined });
    for (const warning of warnings) void sayWarning(warning);
    link.look();
  } catch (error) {
    const setUp = 'Set up this repository';
    if ((await sayError(problemText(error), setUp)) === setUp) await runInTerminal(link, ['init']);
  }
}

export async function runInTerminal(link: Link, args: string[]): Promise<void> {
  await link.open();
  if (!link.root || !(await isTrusted())) return;
  const settings = vscode.workspace.getConfiguration('tidemill');
  const setting = settings.get<string>('program', '');
  const program = findProgram({ setting, root: link.root, env: process.env, platform: process.platform, canRun });
  if (!program) {
    await sayMissing(setting);
    return;
  }
  // Started without a shell, so that no character of a path has a meaning.
  const terminal = vscode.window.createTerminal({
    name: `Tidemill ${args[0]}`,
    shellPath: program,
    shellArgs: args,
    cwd: link.root,
    env: dataFolderEnv(settings.get<string>('dataFolder', '')),
    iconPath: new vscode.ThemeIcon('server-process'),
    isTransient: true,
  });
  terminal.show(true);
}

async function sayMissing(setting: string): Promise<void> {
  const [copy, settings] = ['Copy install command', 'Open settings'];
  const text = setting.trim()
    ? `The setting tidemill.program names ${setting}, which cannot be run.`
    : 'The program tidemill was found neither in node_modules/.bin nor on the PATH.';
  const chosen = await sayError(text, copy, settings);
  if (chosen === copy) await vscode.env.clipboard.writeText(INSTALL);
  if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'tidemill.program');
}

/** The address is made reachable from this window, which may be on another machine than the daemon. */
async function openPage(link: Link): Promise<void> {
  await link.open();
  const page = link.pageLink;
  if (!page) {
    void sayError('Tidemill is not running. Start it with "Tidemill: Start".');
    return;
  }
  await vscode.env.openExternal(await vscode.env.asExternalUri(vscode.Uri.parse(page)));
}

async function chooseRepository(link: Link): Promise<void> {
  const found = link.repositories();
  const picked = await vscode.window.showQuickPick(
    found.map((root) => ({ label: basename(root), description: root, root })),
    { title: 'Repository that Tidemill shows', placeHolder: 'Choose a repository' },
  );
  if (picked) await link.choose(picked.root);
}
