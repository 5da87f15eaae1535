export { codeBlock } from '@tidemill/core';

/** A heading and its content; empty when there is no content. */
export function section(title: string, lines: string[], introduction = ''): string {
  if (lines.length === 0) return '';
  return `## ${title}\n\n${introduction === '' ? '' : `${introduction}\n\n`}${lines.join('\n')}\n`;
}
