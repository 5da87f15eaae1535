import * as vscode from 'vscode';
import type { Link } from './link.ts';

/** Says once that the connection is back after a stop, a restart or an upgrade of the daemon. */
export function registerReconnection(context: vscode.ExtensionContext, link: Link): void {
  let lost: { version: string } | null = null;
  let version: string | null = null;
  context.subscriptions.push(
    link.onChange((part) => {
      if (part !== 'state') return;
      const { state, version: now } = link.seen;
      if (state === 'no_daemon' && version !== null) lost ??= { version };
      if (state !== 'ready') return;
      if (lost) {
        const text =
          lost.version === now ? 'Tidemill is running again.' : `Tidemill is running again, now version ${now}.`;
        void vscode.window.showInformationMessage(text);
      }
      lost = null;
      version = now;
    }),
  );
}
