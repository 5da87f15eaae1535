import * as vscode from 'vscode';
import { noticeText } from './notice-text.ts';

// All notifications go through here. Dialogs (`modal: true`) show plain text anyway.

type Say = (text: string, ...actions: string[]) => Thenable<string | undefined>;

export const sayInfo: Say = (text, ...actions) => vscode.window.showInformationMessage(noticeText(text), ...actions);
export const sayWarning: Say = (text, ...actions) => vscode.window.showWarningMessage(noticeText(text), ...actions);
export const sayError: Say = (text, ...actions) => vscode.window.showErrorMessage(noticeText(text), ...actions);
