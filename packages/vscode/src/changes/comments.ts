import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { sayError } from '../say.ts';
import { CHANGE_SCHEME, changeAddress } from './address.ts';
import { commentText, type LineComment, whyNotSent } from './comment-text.ts';

/** Comments on the lines of a change become notes for the agent. */
export function registerComments(context: vscode.ExtensionContext, link: Link): void {
  const controller = vscode.comments.createCommentController('tidemill', 'Tidemill');
  controller.options = { prompt: 'Tell the agent what to change', placeHolder: 'What should be different here?' };
  controller.commentingRangeProvider = {
    provideCommentingRanges: ({ uri, lineCount }) =>
      uri.scheme === CHANGE_SCHEME && changeAddress(uri) ? [new vscode.Range(0, 0, Math.max(0, lineCount - 1), 0)] : [],
  };
  context.subscriptions.push(
    controller,
    vscode.commands.registerCommand('tidemill.sendComment', (reply: vscode.CommentReply) => send(link, reply)),
    vscode.commands.registerCommand('tidemill.discardComment', ({ thread }: vscode.CommentReply) => {
      if (thread.comments.length === 0) thread.dispose();
    }),
  );
}

/** Throws when the comment was not sent: otherwise the editor empties the box, and what the person wrote would be lost. */
async function send(link: Link, { thread, text }: vscode.CommentReply): Promise<void> {
  const address = changeAddress(thread.uri);
  if (!address || !(await isTrusted())) throw new Error('The comment was not sent.');
  const document = await vscode.workspace.openTextDocument(thread.uri);
  // The file may have become shorter since.
  const { start, end } = document.validateRange(thread.range ?? new vscode.Range(0, 0, 0, 0));
  const lines = new vscode.Range(start.line, 0, end.line, document.lineAt(end.line).text.length);
  const code = document.getText(lines);
  const comment: LineComment = { ...address, from: start.line + 1, to: end.line + 1, code, text };
  const problem = whyNotSent(comment);
  if (problem) {
    void sayError(problem);
    throw new Error(problem);
  }
  const sent = await act(link, ({ api, by }) => deliver({ api, by }, comment, address.project));
  if (!sent) throw new Error('The comment was not sent.');
  const said: vscode.Comment = {
    author: { name: link.by },
    body: text.trim(),
    mode: vscode.CommentMode.Preview,
    label: sent,
  };
  thread.comments = [...thread.comments, said];
  thread.label = `Task #${comment.task}`;
  thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
}

type Delivery = Pick<Awaited<ReturnType<Link['ready']>>, 'api' | 'by'>;

/** No run reads a note on a finished task: what is said about landed work is feedback, which becomes a new task. */
async function deliver({ api, by }: Delivery, comment: LineComment, project: string): Promise<string> {
  const { task } = await api.task({ project, task: comment.task });
  const text = commentText(comment);
  if (task.stage !== 'done') {
    await api.noteTask({ project, task: comment.task, by, text });
    return task.stage === 'cancelled'
      ? 'kept for a retry: the task is cancelled'
      : 'sent to the agent, for its next run';
  }
  const { number } = await api.giveFeedback({
    project,
    by,
    text: `About #${task.number} ${task.title}, which has landed.\n${text}`,
  });
  return `recorded as feedback F${number}`;
}
