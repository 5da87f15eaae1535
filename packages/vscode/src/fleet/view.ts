import { randomBytes } from 'node:crypto';
import type { WorkerOperation } from '@tidemill/contract';
import * as vscode from 'vscode';
import type { SeenPart } from '../connection/seen.ts';
import type { Link } from '../link.ts';
import { parseRequest, type ToPage } from './messages.ts';
import { overviewOf } from './overview.ts';
import { pageOf } from './page.ts';

const SHOWN: SeenPart[] = ['state', 'status', 'metrics'];
const METRICS_MS = 60_000;

export interface FleetActions {
  worker(name: string, operation: WorkerOperation | 'reassign'): void;
  task(number: number): void;
  maxWorkers(): number;
}

/** The cards. It reads only while it is visible. */
export class FleetView implements vscode.WebviewViewProvider {
  readonly #extension: vscode.Uri;
  readonly #link: Link;
  readonly #actions: FleetActions;
  #view: vscode.WebviewView | null = null;

  constructor(extension: vscode.Uri, link: Link, actions: FleetActions) {
    this.#extension = extension;
    this.#link = link;
    this.#actions = actions;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { webview } = view;
    const at = (...path: string[]) => vscode.Uri.joinPath(this.#extension, ...path);
    const uri = (...path: string[]) => webview.asWebviewUri(at(...path)).toString();
    webview.options = { enableScripts: true, localResourceRoots: [at('dist'), at('media')] };
    webview.html = pageOf({
      csp: webview.cspSource,
      nonce: randomBytes(18).toString('base64url'),
      script: uri('dist', 'fleet.js'),
      style: uri('media', 'fleet.css'),
    });
    webview.onDidReceiveMessage((message) => this.#hear(message));
    const changes = this.#link.onChange((part) => {
      if (SHOWN.includes(part)) this.draw();
    });
    let watching: vscode.Disposable | null = null;
    const watch = () => {
      if (view.visible && !watching) watching = this.#whileVisible();
      else if (!view.visible) {
        watching?.dispose();
        watching = null;
      }
    };
    view.onDidChangeVisibility(watch);
    view.onDidDispose(() => {
      changes.dispose();
      watching?.dispose();
      this.#view = null;
    });
    watch();
    void this.#link.open();
  }

  draw(): void {
    if (!this.#view?.visible) return;
    const overview = overviewOf(this.#link.seen, {
      maxWorkers: this.#actions.maxWorkers(),
      isTrusted: vscode.workspace.isTrusted,
    });
    const message: ToPage = { type: 'overview', overview };
    void this.#view.webview.postMessage(message);
  }

  #whileVisible(): vscode.Disposable {
    const want = this.#link.want('metrics');
    const timer = setInterval(() => this.#link.refresh(['metrics']), METRICS_MS);
    this.draw();
    return new vscode.Disposable(() => {
      clearInterval(timer);
      want.dispose();
    });
  }

  #hear(message: unknown): void {
    const request = parseRequest(message);
    if (!request) this.#link.log.warn('The fleet view sent something unknown.');
    else if (request.type === 'ready') this.draw();
    else if (request.type === 'command') void vscode.commands.executeCommand(request.command);
    else if (request.type === 'worker') this.#actions.worker(request.worker, request.operation);
    else if (request.type === 'task') this.#actions.task(request.number);
    else this.#link.log.error(`The fleet view could not be drawn: ${request.text}`);
  }
}
