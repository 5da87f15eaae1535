import type { Api, InboxItem } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import { choicesOf, type InboxChoice, isQuestion, proposalOf } from './choices.ts';

interface About {
  api: Api;
  project: string;
  by: string;
}

/** Answers an item in place: a list of choices, or a text. */
export async function answer(link: Link, item: InboxItem): Promise<void> {
  if (!(await isTrusted())) return;
  const read = await act(link, async ({ api, project }) => {
    if (!isQuestion(item)) return { choices: choicesOf(item, null), context: '' };
    const { question } = await api.question({ project, question: item.ref });
    if (question.status !== 'open') return null;
    return { choices: choicesOf(item, question), context: question.context };
  });
  if (read === undefined) return;
  if (read === null) {
    void sayInfo(`${item.ref} is already answered.`);
    link.refresh(['inbox']);
    return;
  }
  const choice = await choose(item, read);
  if (choice) await settle(link, item, choice);
}

async function choose(
  item: InboxItem,
  { choices, context }: { choices: InboxChoice[]; context: string },
): Promise<InboxChoice | undefined> {
  const [only] = choices;
  // A question without options: straight to the text, unless there is something to read first, which the task shows.
  if (only?.does === 'write' && only.sends === 'answer' && !(context && item.task)) return only;
  const title = item.task ? `#${item.task.number} ${item.task.title}` : item.ref;
  const picks = choices.map((choice) => ({ label: choice.label, detail: choice.detail || undefined, choice }));
  const picked = await vscode.window.showQuickPick(picks, {
    title,
    placeHolder: oneLine(item.title),
    ignoreFocusOut: true,
  });
  return picked?.choice;
}

/** Does what was chosen, and says what it did. */
export async function settle(link: Link, item: InboxItem, choice: InboxChoice): Promise<void> {
  const { task } = item;
  if (choice.does === 'change') return void vscode.commands.executeCommand('tidemill.showChange', { task });
  if (choice.does === 'task') return void vscode.commands.executeCommand('tidemill.showTask', { task });
  if (choice.does === 'conflict')
    return void vscode.commands.executeCommand('tidemill.openMergeEditor', { conflict: task });
  // A notification's button comes here directly.
  if (!(await isTrusted())) return;
  const text = choice.does === 'write' ? await write(item, choice.prompt) : '';
  if (text === undefined) return;
  const said = await act(link, (about) => send(about, item, choice, text));
  if (said) void vscode.window.setStatusBarMessage(`Tidemill: ${said}`, 5000);
  link.refresh(['inbox']);
}

async function write(item: InboxItem, prompt: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title: oneLine(item.title),
    prompt,
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? 'Write something, or press Escape.' : undefined),
  });
  return text?.trim() || undefined;
}

async function send({ api, project, by }: About, item: InboxItem, choice: InboxChoice, text: string): Promise<string> {
  const question = { project, question: item.ref, by };
  const task = { project, task: item.task?.number ?? 0, by };
  const proposal = { project, proposal: proposalOf(item) ?? 0, by };
  switch (choice.does === 'write' ? choice.sends : choice.does) {
    case 'answer': {
      await api.answerQuestion({ ...question, ...(choice.does === 'answer' ? { option: choice.option } : { text }) });
      return `${item.ref} answered`;
    }
    case 'default':
      await api.answerQuestion({ ...question, useDefault: true });
      return `${item.ref} answered`;
    case 'approve':
      await api.approveTask(task);
      return `${item.ref} approved`;
    case 'reject':
      await api.rejectTask({ ...task, note: text });
      return `Requested changes to ${item.ref}`;
    case 'retry':
      await api.retryTask({ ...task, note: text || undefined });
      return `${item.ref} restarted`;
    case 'cancel':
      await api.cancelTask(task);
      return `${item.ref} cancelled`;
    case 'proposal':
      await api.approveProposal(proposal);
      return `Proposal ${proposal.proposal} approved`;
    case 'refuse':
      await api.refuseProposal({ ...proposal, why: text });
      return `Proposal ${proposal.proposal} refused`;
    case 'acknowledge':
      await api.acknowledge({ project, by, ref: item.ref });
      return 'Acknowledged';
    case 'alert':
      return (await api.actOnAlert({ project, by, ref: item.ref, action: (choice as { action: string }).action })).done;
    default:
      return '';
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 300);
