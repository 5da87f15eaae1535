/** What a reviewer was shown and can cite. */
export interface ShownChange {
  /** Paths of the changed files, including old names of renamed ones. */
  files: readonly string[];
  gates: readonly string[];
}

/** Control and format characters, and letters that are invisible. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A quotation; an apostrophe inside a word does not start one. */
const QUOTED = /"([^"]+)"|`([^`]+)`|“([^”]+)”|«([^»]+)»|(?:^|[\s(:])'([^']+)'(?=[\s).,;:]|$)/gu;
const LEAST_QUOTED = 3;

/**
 * Does the evidence name something that can be checked: a changed file, a gate, or a quoted text? Whether it is true is
 * unknown here, but "looks good" or a blank cannot be checked at all.
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

/** Matches whole words: "attested" does not name the gate `test`. */
function containsWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  }
  return false;
}

const isWordCharacter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** The rule for evidence, as a sentence for the reviewer. */
export const CITATION_RULE = 'Evidence names a changed file (with the line), a gate, or quotes what you saw.';
