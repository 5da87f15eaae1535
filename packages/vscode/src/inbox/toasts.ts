import type { InboxItem } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { Link } from '../link.ts';
import { sayError, sayInfo, sayWarning } from '../say.ts';
import { answer, settle } from './answer.ts';
import { ANSWER, type Loudness, type Toast, ToastPolicy } from './toast-policy.ts';

const MUTED = 'tidemill.muted';
/** The editor hides a notification without saying so; then the next one may come. */
const SHOWN_MS = 15_000;
const SHOW = 'Show inbox';
const MUTE = "Don't show again";

/** Tells what needs a person, one notification at a time. */
export function registerToasts(context: vscode.ExtensionContext, link: Link): void {
  const policy = new ToastPolicy(context.globalState.get<string[]>(MUTED, []));
  const loudness = () => vscode.workspace.getConfiguration('tidemill').get<Loudness>('notifications', 'all');
  const mute = async (item: InboxItem) => {
    policy.mute(item);
    await context.globalState.update(MUTED, policy.muted);
  };
  const advance = () => {
    const toast = policy.next();
    if (!toast) return;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      policy.close();
      advance();
    };
    const timer = setTimeout(over, SHOWN_MS);
    void tell(link, toast, mute).finally(over);
  };
  context.subscriptions.push(
    link.onChange((part) => {
      if (part !== 'inbox') return;
      policy.see(link.seen.inbox, loudness(), link.seen.project?.id);
      advance();
    }),
    vscode.commands.registerCommand('tidemill.showNotificationsAgain', async () => {
      policy.unmuteAll();
      await context.globalState.update(MUTED, []);
      void sayInfo('All notifications of Tidemill are shown again.');
    }),
  );
}

async function tell(link: Link, toast: Toast, mute: (item: InboxItem) => Promise<void>): Promise<void> {
  const { item, severity, text, buttons } = toast;
  const say = severity === 'info' ? sayInfo : severity === 'warning' ? sayWarning : sayError;
  const labels = [...buttons.map(({ label }) => label), SHOW, ...(item ? [MUTE] : [])];
  const chosen = await say(text, ...labels);
  if (chosen === SHOW) await vscode.commands.executeCommand('tidemill.inbox.focus');
  else if (chosen === MUTE && item) await mute(item);
  else if (chosen !== undefined && item) {
    const { action } = buttons.find(({ label }) => label === chosen)!;
    if (action === ANSWER) await answer(link, item);
    else await settle(link, item, { does: 'alert', action, label: chosen, detail: '' });
  }
}
