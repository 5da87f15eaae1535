import { EventEmitter } from 'node:events';
import { createRequire, Module } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@tidemill/contract/client';
import type { Overview } from '../packages/vscode/src/fleet/overview.ts';
import { addressOf } from './daemon-process.ts';
import { median } from './sample.ts';

// `node editor-host.ts BUNDLE ROOT HOME IDLE_SECONDS ROUNDS`: loads the packed extension as the editor does, with a stand-in for
// the editor's API, opens the fleet view, idles, and says on one line what it has measured.

const [bundle = '', root = '', home = '', idleSeconds = '5', rounds = '5'] = process.argv.slice(2);

/** Takes every call and every property: what the extension registers is not used here. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : anything),
  set: () => true,
  apply: () => anything,
  construct: () => anything as object,
});
const withRest = <T extends object>(known: T): T =>
  new Proxy(known, { get: (target, key) => (key in target ? target[key as keyof T] : anything) });

class Emitter {
  readonly #events = new EventEmitter();
  readonly event = (listener: (value: unknown) => void) => {
    this.#events.on('fire', listener);
    return { dispose: () => this.#events.off('fire', listener) };
  };
  fire(value: unknown) {
    this.#events.emit('fire', value);
  }
  dispose() {
    this.#events.removeAllListeners();
  }
}
class Disposable {
  readonly dispose: () => void;
  constructor(dispose: () => void = () => undefined) {
    this.dispose = dispose;
  }
  static from(...all: { dispose(): void }[]) {
    return new Disposable(() => {
      for (const each of all) each.dispose();
    });
  }
}

interface View {
  resolveWebviewView(view: unknown): void;
}
let fleet: View | null = null;
const hidden = withRest({ visible: false, onDidChangeVisibility: () => new Disposable(), dispose: () => undefined });
/** The bundle copies the properties of the module, so each has to be named. */
const OTHERS = [
  ...['CodeAction', 'CodeActionKind', 'commands', 'CommentMode', 'comments', 'CommentThreadCollapsibleState', 'env'],
  ...['FileChangeType', 'FilePermission', 'FileSystemError', 'FileType', 'languages', 'Range', 'StatusBarAlignment'],
  ...['TabInputTextMerge', 'ThemeIcon', 'TreeItem', 'TreeItemCollapsibleState', 'Uri'],
];
const api = {
  ...Object.fromEntries(OTHERS.map((name) => [name, anything])),
  EventEmitter: Emitter,
  Disposable,
  workspace: withRest({
    isTrusted: true,
    workspaceFolders: [{ uri: { fsPath: root } }],
    getConfiguration: () => ({ get: (_: string, usual: unknown) => usual }),
    onDidChangeConfiguration: () => new Disposable(),
    textDocuments: [],
  }),
  window: withRest({
    createTreeView: () => hidden,
    registerWebviewViewProvider: (_: string, view: View) => {
      fleet = view;
      return new Disposable();
    },
  }),
  lm: {},
};
const loader = Module as unknown as { _load(name: string, ...more: unknown[]): unknown };
const load = loader._load;
loader._load = (name, ...more) => (name === 'vscode' ? api : load(name, ...more));

const startedAt = performance.now();
const { activate } = createRequire(import.meta.url)(bundle) as { activate(context: unknown): void };
const loadedAt = performance.now();
const state = { get: (_: string, usual: unknown) => usual, update: async () => undefined };
activate(withRest({ subscriptions: [], extensionUri: {}, workspaceState: state, globalState: state }));
const activatedAt = performance.now();

const drawn = new EventEmitter();
let shown: Overview | null = null;
const webview = withRest({
  postMessage: async ({ overview }: { overview: Overview }) => {
    shown = overview;
    drawn.emit('drawn');
  },
});
async function until(isSo: (overview: Overview) => boolean): Promise<void> {
  while (!shown || !isSo(shown)) await new Promise((resolve) => drawn.once('drawn', resolve));
}
(fleet as View | null)?.resolveWebviewView(withRest({ visible: true, webview }));
await until(({ state, cards, total }) => state === 'ready' && cards.length > 0 && total.length > 0);
const shownAt = performance.now();

// What starting left to do is not idling; V8 tidies its heap once, about eight seconds after.
await delay(Math.min(12_000, Number(idleSeconds) * 1000));
const before = process.cpuUsage();
const idleFrom = performance.now();
await delay(Number(idleSeconds) * 1000);
const { user, system } = process.cpuUsage(before);
const idlePercent = ((user + system) / 1000 / (performance.now() - idleFrom)) * 100;

const daemon = createClient(await addressOf(home));
const [project] = await daemon.projects({ root });
const changes: number[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  for (const [operation, label] of [
    ['pause', 'Resume'],
    ['resume', 'Pause'],
  ] as const) {
    const askedAt = performance.now();
    await daemon.steerWorkers({ project: project!.id, worker: 'agent-1', operation, by: 'bench' });
    await until(({ cards }) => cards.find(({ name }) => name === 'agent-1')?.buttons[0]?.label === label);
    changes.push(performance.now() - askedAt);
  }
}
console.log(
  JSON.stringify({
    activationMs: activatedAt - startedAt,
    loadMs: loadedAt - startedAt,
    shownMs: shownAt - activatedAt,
    idlePercent,
    changeMs: median(changes),
    slowestChangeMs: Math.max(...changes),
  }),
);
