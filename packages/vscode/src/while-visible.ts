import * as vscode from 'vscode';
import type { SeenPart } from './connection/seen.ts';
import type { Link } from './link.ts';

/** Keeps a part up to date only while its view can be seen. */
export function whileVisible(
  view: Pick<vscode.TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  link: Link,
  part: SeenPart,
): vscode.Disposable {
  let want: vscode.Disposable | null = null;
  const watch = () => {
    if (view.visible) want ??= link.want(part);
    else {
      want?.dispose();
      want = null;
    }
  };
  watch();
  return vscode.Disposable.from(view.onDidChangeVisibility(watch), { dispose: () => want?.dispose() });
}
