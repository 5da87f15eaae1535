/** Control, bidirectional and zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** An agent's text, such as a path, made safe to show. */
export const shown = (text: string) => text.replace(UNSEEN, '?');
