import type { Api, Project } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { Link } from './link.ts';
import { sayError, sayWarning } from './say.ts';

/** What went wrong and what to do about it, in the daemon's own words. */
export function problemText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : '';
  const message = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  return hint ? `${message.replace(/\.?$/, '.')} ${hint}` : message;
}

/** Does something on the daemon. A failure is shown, never swallowed. Returns undefined when it failed. */
export async function act<T>(
  link: Link,
  request: (about: { api: Api; project: string; by: string; rules: Project }) => Promise<T>,
): Promise<T | undefined> {
  try {
    const { api, project, by } = await link.ready();
    return await request({ api, project: project.id, by, rules: project });
  } catch (error) {
    link.log.error(problemText(error));
    void sayError(problemText(error));
    return undefined;
  }
}

/** Whether this workspace may start programs and change things. If not, says so. */
export async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = 'Manage workspace trust';
  const chosen = await sayWarning(
    'You have not trusted this workspace. Tidemill shows what happens here, but starts and changes nothing.',
    manage,
  );
  if (chosen === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}
