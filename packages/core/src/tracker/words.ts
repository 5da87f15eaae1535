import { itemBody } from './content.ts';

const MOST_TEXT = 7_500;
/** Praise asks for no work. */
const PRAISE = /^(lgtm|looks good( to me)?|thanks?( you)?|ship it|nice( work)?|👍|🎉|:\+1:|:tada:)[.!\s]*$/i;

export const asksForWork = (text: string): boolean => {
  const seen = itemBody(text);
  return seen !== '' && !PRAISE.test(seen);
};

/** What a person wrote outside, as an agent reads it. */
export function wordsOf(author: string, where: string, text: string): string {
  const words = `${author} on ${where}:\n${itemBody(text.slice(0, MOST_TEXT))}`;
  return text.length <= MOST_TEXT ? words : `${words}\n\n(The text is longer. The rest was left out.)`;
}
