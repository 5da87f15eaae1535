/** Words that say nothing about what a piece of work is about. */
const EMPTY = new Set(
  (
    'a an the and or but nor so of to in on at by for from with without into onto over under as is are was were be been ' +
    'being it its this that these those there here we our you your they their he she his her i me my not no yes do does ' +
    'did done has have had can could may might must shall should will would when where which who whom whose what why how ' +
    'if then else than too very more most less least each every all any some such only own same other another both either ' +
    'neither also just about after before between during while until again once out up down off'
  ).split(' '),
);
const ENDINGS: [ending: string, put: string][] = [
  ['ization', 'iz'],
  ['isation', 'iz'],
  ['izing', 'iz'],
  ['ising', 'iz'],
  ['ize', 'iz'],
  ['ise', 'iz'],
  ['ations', 'at'],
  ['ation', 'at'],
  ['ments', ''],
  ['ment', ''],
  ['ings', ''],
  ['ing', ''],
  ['ies', 'y'],
  ['sses', 'ss'],
  ['ss', 'ss'],
  ['ers', ''],
  ['ed', ''],
  ['er', ''],
  ['es', ''],
  ['ly', ''],
  ['e', ''],
  ['s', ''],
];

/** Different words for the same act, as titles of improvements use them. */
const SAME = new Map(
  [
    ['add', 'create', 'introduce', 'implement', 'provide', 'write'],
    ['repair', 'fix', 'correct'],
    ['remove', 'delete', 'drop', 'eliminate'],
    ['rewrite', 'refactor', 'restructure'],
    ['fast', 'speed', 'faster', 'optimize', 'accelerate'],
    ['document', 'doc', 'documentation', 'readme'],
    ['test', 'spec', 'unit'],
    ['error', 'bug', 'failure', 'exception'],
  ].flatMap(([first = '', ...others]) => others.map((word) => [stem(word), stem(first)] as const)),
);
const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces between words: pairs of characters take the place of words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The words of a text in a common form: lower case, names in camel case parted, common endings removed. */
export function wordsOf(text: string): string[] {
  const parted = text.normalize('NFKC').replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
  const words: string[] = [];
  for (const [found] of parted.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(found)) words.push(...pairsOf(found));
    else if (!EMPTY.has(found)) words.push(meant(found));
  }
  return words;
}

function meant(word: string): string {
  const short = stem(word);
  return SAME.get(short) ?? short;
}

function pairsOf(text: string): string[] {
  const characters = [...text];
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** A light one, for English: enough that "tests", "tested" and "testing" are the same word. */
export function stem(word: string): string {
  if (word.length < 5) return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
  for (const [ending, put] of ENDINGS)
    if (word.endsWith(ending) && word.length - ending.length >= 3)
      return undoubled(word.slice(0, -ending.length) + put, ending);
  return word;
}

/** "stopping" becomes "stop", and a final e never distinguishes two words. */
function undoubled(word: string, ending: string): string {
  const isDoubled = /^(ing|ings|ed|er|ers)$/.test(ending) && /([^aeiouls])\1$/.test(word);
  return isDoubled ? word.slice(0, -1) : word;
}
