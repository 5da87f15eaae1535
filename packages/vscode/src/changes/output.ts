import * as vscode from 'vscode';
import { problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { OUTPUT_SCHEME } from './address.ts';
import type { FirstRun, OutputSource } from './run-output.ts';

/** Longer output is shown from its end. */
const MOST_CHARS = 1_000_000;
/** The editor reads the whole document again at each change. */
const SHOW_MS = 250;

interface Shown {
  text: string;
  following: AbortController;
  timer: NodeJS.Timeout | null;
}

export function outputUri({ project, task, run }: FirstRun): vscode.Uri {
  return vscode.Uri.from({ scheme: OUTPUT_SCHEME, path: `/Output of #${task}`, query: `${project}&${task}&${run}` });
}

function firstRun({ query }: vscode.Uri): FirstRun {
  const [project = '', task = '', run = ''] = query.split('&');
  return { project, task: Number(task), run };
}

/** The output of runs, as documents that grow while the agent works. */
export class OutputDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #link: Link;
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly #shown = new Map<string, Shown>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChange = this.#changes.event;

  constructor(link: Link) {
    this.#link = link;
    this.#subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(OUTPUT_SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === OUTPUT_SCHEME) this.#drop(uri);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === OUTPUT_SCHEME) showEnd(document);
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const known = this.#shown.get(uri.toString());
    if (known) return known.text || 'No output yet.\n';
    const shown: Shown = { text: '', following: new AbortController(), timer: null };
    this.#shown.set(uri.toString(), shown);
    void this.#follow(uri, shown);
    return 'No output yet.\n';
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    for (const { following, timer } of this.#shown.values()) {
      following.abort();
      if (timer) clearTimeout(timer);
    }
    this.#changes.dispose();
  }

  async #follow(uri: vscode.Uri, shown: Shown): Promise<void> {
    const { signal } = shown.following;
    try {
      // Loaded here: the contract takes longer to load than the rest of the extension.
      const { plainText, outputFrom } = await import('../contract-part.ts');
      for await (const part of outputFrom(this.#source, firstRun(uri), signal))
        this.#add(uri, shown, 'text' in part ? plainText(part.text) : noteLine(shown.text, part.note));
    } catch (error) {
      if (signal.aborted) return;
      this.#add(uri, shown, noteLine(shown.text, `the output ends here: ${problemText(error)}`));
    }
  }

  readonly #source: OutputSource = {
    connected: (signal) => this.#link.whenReady(signal),
    onMoved: (number, listener) => {
      const find = () => this.#link.seen.tasks.find((task) => task.number === number);
      let known = find();
      return this.#link.onChange((part) => {
        // A task that the daemon pushed is another object, also if it looks the same.
        if (part === 'tasks' && find() === known) return;
        known = find();
        if (part === 'tasks' || part === 'state') listener();
      });
    },
  };

  #add(uri: vscode.Uri, shown: Shown, text: string): void {
    shown.text += text;
    if (shown.text.length > MOST_CHARS)
      shown.text = `… earlier output is left out\n${shown.text.slice(-MOST_CHARS / 2)}`;
    shown.timer ??= setTimeout(() => {
      shown.timer = null;
      this.#changes.fire(uri);
    }, SHOW_MS);
  }

  #drop(uri: vscode.Uri): void {
    const shown = this.#shown.get(uri.toString());
    if (!shown) return;
    shown.following.abort();
    if (shown.timer) clearTimeout(shown.timer);
    this.#shown.delete(uri.toString());
  }
}

/** On a line of its own. */
const noteLine = (before: string, note: string) => `${before === '' || before.endsWith('\n') ? '' : '\n'}— ${note} —\n`;

/** Who reads at the end stays at the end; who has scrolled up is left there. */
function showEnd(document: vscode.TextDocument): void {
  const NEAR = 40;
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document !== document) continue;
    const lastSeen = editor.visibleRanges.at(-1)?.end.line ?? 0;
    const last = document.lineCount - 1;
    if (last - lastSeen < NEAR) editor.revealRange(new vscode.Range(last, 0, last, 0));
  }
}
