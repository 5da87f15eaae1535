const vscode = require('vscode');

/** The editor runs the command that was registered last. */
exports.activate = (context) => {
  let broken;
  context.subscriptions.push(
    vscode.commands.registerCommand('tests.breakMergeEditor', () => {
      broken ??= vscode.commands.registerCommand('_open.mergeEditor', () => {
        throw new Error('The merge editor is broken.');
      });
    }),
    vscode.commands.registerCommand('tests.repairMergeEditor', () => {
      broken?.dispose();
      broken = undefined;
    }),
  );
};
