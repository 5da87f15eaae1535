import { parentPort, workerData } from 'node:worker_threads';
import { lintSource } from '@secretlint/core';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { ChangedText, FoundSecret } from './secrets.ts';

// A thread of its own, so that the daemon goes on, and an expression that takes too long can be ended. The texts are data: no
// file is opened, and no configuration of the repository is read.

/** With it, a comment in the change could hide a key. */
const COMMENTS = '@secretlint/secretlint-rule-filter-comments';
const AWS = '@secretlint/secretlint-rule-aws';

const config = {
  rules: rules
    .filter(({ meta }) => meta.id !== COMMENTS)
    .map((rule) => ({ id: rule.meta.id, rule, options: rule.meta.id === AWS ? { enableIDScanRule: true } : {} })),
};

/** The value itself never leaves this thread. */
async function scan({ file, text }: ChangedText): Promise<FoundSecret[]> {
  const source = { filePath: file, content: text, contentType: 'text' as const };
  const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
  return messages.map(({ messageId, loc }) => ({ id: messageId, first: loc.start.line, last: loc.end.line }));
}

const found: FoundSecret[][] = [];
for (const each of workerData as ChangedText[]) found.push(await scan(each));
parentPort?.postMessage(found);
