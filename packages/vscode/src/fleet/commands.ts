import type { WorkerOperation } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { FleetView } from './view.ts';

const MOST_WORKERS = 10;

export function registerFleet(context: vscode.ExtensionContext, link: Link): void {
  const steer = async (worker: string, operation: WorkerOperation) => {
    if (await isTrusted())
      await act(link, ({ api, project, by }) => api.steerWorkers({ project, worker, operation, by }));
  };
  const view = new FleetView(context.extensionUri, link, {
    worker: (name, operation) => void steer(name, operation as WorkerOperation),
    task: (number) => void vscode.commands.executeCommand('tidemill.showTask', number),
    maxWorkers: () => MOST_WORKERS,
  });
  context.subscriptions.push(vscode.window.registerWebviewViewProvider('tidemill.fleet', view));
}
