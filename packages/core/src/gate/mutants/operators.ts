/** Code that is replaced by other code of the same type. Matched on code without comments and strings. */
interface Operator {
  pattern: RegExp;
  by(found: string): string;
  /** Not on a line that counts something. */
  isCounting?: true;
}

const swap = (pattern: RegExp, pairs: Record<string, string>, isCounting?: true): Operator => ({
  pattern,
  by: (found) => pairs[found] ?? found,
  ...(isCounting ? { isCounting } : {}),
});

/** Functions with an opposite that takes and gives the same types. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['toUpperCase', 'toLowerCase'],
  ['upper', 'lower'],
  ['to_uppercase', 'to_lowercase'],
  ['to_ascii_uppercase', 'to_ascii_lowercase'],
  ['toupper', 'tolower'],
  ['upcase', 'downcase'],
  ['startsWith', 'endsWith'],
  ['startswith', 'endswith'],
  ['starts_with', 'ends_with'],
  ['min', 'max'],
  ['floor', 'ceil'],
  ['any', 'all'],
  ['some', 'every'],
];
const OPPOSITE = Object.fromEntries(
  OPPOSITES.flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);

/** A space on both sides: `<` of a type and `-` of a name are left alone. */
const spaced = (operators: string) => new RegExp(`(?<=[\\w)\\]"'\`] )(?:${operators})(?= [\\w("'\`\\[!-])`, 'g');

export const OPERATORS: readonly Operator[] = [
  swap(spaced('\\+|-|\\*|/'), { '+': '-', '-': '+', '*': '+', '/': '*' }, true),
  swap(spaced('<=|>=|<|>'), { '<': '>=', '>': '<=', '<=': '>', '>=': '<' }, true),
  swap(spaced('===|!==|==|!='), { '===': '!==', '!==': '===', '==': '!=', '!=': '==' }),
  swap(/&&|\|\|/g, { '&&': '||', '||': '&&' }),
  swap(/\b(?:true|false|True|False)\b/g, { true: 'false', false: 'true', True: 'False', False: 'True' }),
  swap(/(?<=\s)(?:and|or)(?=\s)/g, { and: 'or', or: 'and' }),
  swap(new RegExp(`(?<![\\w$])(?:${Object.keys(OPPOSITE).join('|')})(?=\\()`, 'g'), OPPOSITE),
  // Without spaces: `a+b`.
  swap(/(?<=\w|\))[+](?=\w|\()/g, { '+': '-' }, true),
  { pattern: /(?<![\w.$#])\d+(?![\w.])/g, by: (found) => String(Number(found) + 1).slice(0, 20), isCounting: true },
];

export const SHELL_OPERATORS: readonly Operator[] = [
  swap(/(?<= )-(?:eq|ne|lt|gt|le|ge|z|n)(?= )/g, {
    ...{ '-eq': '-ne', '-ne': '-eq', '-lt': '-ge', '-ge': '-lt', '-gt': '-le', '-le': '-gt', '-z': '-n', '-n': '-z' },
  }),
  swap(/(?<=[\w"'}] )!?=(?= ["'$\w])/g, { '=': '!=', '!=': '=' }),
  swap(/(?<=[\w)$}] ?)[-+](?= ?[\w($])(?=.*\)\))/g, { '+': '-', '-': '+' }),
  swap(/(?<=\b(?:exit|return) )[01]\b/g, { '0': '1', '1': '0' }),
  swap(/(?<=^\s*|; |then |do )(?:true|false)\b/g, { true: 'false', false: 'true' }),
  { pattern: /(?<=\becho )[\w$]+\s*$/g, by: (found) => `${found.trimEnd()}~` },
  { pattern: /(?<==|\(\()\d+\b/g, by: (found) => String(Number(found) + 1).slice(0, 20) },
];
