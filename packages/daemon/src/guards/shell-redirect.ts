import type { Redirection } from 'unbash';
import type { SimpleCommand } from './shell-command.ts';
import { expandText, expandWord, type Surroundings } from './shell-expansion.ts';
import { bodyParts, wordParts } from './shell-words.ts';

/** Adds the files that a redirection opens, or its input text. */
export function addRedirection(made: SimpleCommand, redirect: Redirection, around: Surroundings): void {
  if (redirect.type === 'HereDoc') {
    const { text, parts } = redirect.body;
    made.input = expandText(bodyParts(text, parts), around).join('\n');
    return;
  }
  const target = redirect.target ? wordParts(redirect.target) : [];
  const { operator } = redirect;
  if (operator === '<<<') {
    made.input = expandText(target, around).join('\n');
    return;
  }
  // `2>&1` and `>&-` name descriptors, not files.
  const files = expandWord(target, around).filter((file) => !(operator.endsWith('&') && /^(\d+-?|-)$/.test(file)));
  if (operator.startsWith('<')) made.reads.push(...files);
  if (operator !== '<' && operator !== '<&') made.writes.push(...files);
}
