import { withoutSecrets } from '@tidemill/contract';

/**
 * Text of agents must do nothing where it is shown: notify nobody, close no issue, hide nothing, contain no key. A word
 * joiner after @ and # keeps the text readable.
 */
export function quietText(text: string): string {
  return withoutClosingKeywords(withoutSecrets(text))
    .replace(/@(?=[\w-])/g, '@\u2060')
    .replace(/#(?=\d)/g, '#\u2060')
    .replaceAll('<', '&lt;')
    .replace(/!\[/g, '!\u2060[');
}

/** GitHub closes the issue that such a word names, also when it is in the message of a commit. */
export const withoutClosingKeywords = (text: string): string =>
  text.replace(
    /\b(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing))\b(?=\s*:?\s*(?:#|GH-|https?:|[\w.-]+\/))/gi,
    '$1\u2060',
  );
