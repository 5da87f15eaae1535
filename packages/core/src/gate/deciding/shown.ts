/** Control and bidirectional characters, and those that take no room. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text of an agent's, such as a path, as it can be shown anywhere. */
export const shown = (text: string) => text.replace(UNSEEN, '?');
