import type * as vscode from 'vscode';
import type { Link } from './link.ts';
import { sayInfo } from './say.ts';

/** Says once that the connection is back after a stop, a restart or an upgrade of the daemon. */
export function registerReconnection(context: vscode.ExtensionContext, link: Link): void {
  let known: { startedAt: number; version: string } | null = null;
  context.subscriptions.push(
    link.onChange((part) => {
      const { state, startedAt, version } = link.seen;
      if (part !== 'state' || state !== 'ready' || known?.startedAt === startedAt) return;
      if (known) {
        const now = known.version === version ? '' : `, now version ${version}`;
        void sayInfo(`Tidemill is running again${now}.`);
      }
      known = { startedAt, version };
    }),
  );
}
