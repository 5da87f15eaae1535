/** What a reviewer was shown and can point at. */
export interface ShownChange {
  /** Paths of the changed files, old names of renamed ones included. */
  files: readonly string[];
  gates: readonly string[];
}

/** Control and format characters, and letters that are drawn as nothing. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A quotation; an apostrophe inside a word opens none. */
const QUOTED = /"([^"]+)"|`([^`]+)`|“([^”]+)”|«([^»]+)»|(?:^|[\s(:])'([^']+)'(?=[\s).,;:]|$)/gu;
const LEAST_QUOTED = 3;

/**
 * Does the evidence name something that can be looked up: a changed file, a gate, or a quoted text? It cannot be known
 * here whether it is true. But "looks good" and a blank say nothing that anybody could check.
 */
export function citesSomething(evidence: string, { files, gates }: ShownChange): boolean {
  const text = evidence.replace(/[\r\n\t]/g, ' ').replace(INVISIBLE, '');
  const names = [...files.flatMap((file) => [file, file.slice(file.lastIndexOf('/') + 1)]), ...gates];
  return names.some((name) => containsWord(text, name)) || quotesText(text);
}

const quotesText = (text: string) =>
  [...text.matchAll(QUOTED)].some((match) => {
    const quoted = match.slice(1).find((part) => part !== undefined) ?? '';
    return (quoted.match(/[\p{L}\p{N}]/gu) ?? []).length >= LEAST_QUOTED;
  });

/** As a word of its own: the gate `test` is not named by "attested". */
function containsWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  }
  return false;
}

const isWordCharacter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** What evidence has to hold, in a sentence for the reviewer. */
export const CITATION_RULE = 'Evidence names a changed file (with the line), a gate, or quotes what you saw.';
