/** What is needed to read the code of a language line by line. */
export interface Language {
  /** How a comment up to the end of the line begins. */
  comments: readonly string[];
  hasBlockComments: boolean;
  quotes: readonly string[];
  /** A statement that ends the function, or the program, with an error. Empty: none is known. */
  stop: string;
  /** The line that begins a function. The statement goes behind it, if it ends with a brace or a colon. */
  begins: RegExp;
  /** What a returned expression becomes. Null: the types would not allow it. */
  returns: ((expression: string) => string) | null;
  isShell?: boolean;
}

const BRACE_FUNCTION = /\)[^;=]*\{\s*$|=>\s*\{\s*$/;
const SLASHES = { comments: ['//'], hasBlockComments: true, quotes: ['"', "'"] } as const;
const HASH = { comments: ['#'], hasBlockComments: false, quotes: ['"', "'"] } as const;
const NOT_A_FUNCTION =
  '(?!\\s*(?:\\}\\s*)?(?:if|for|while|switch|else|catch|do|try|foreach|until|select|match|loop)\\b)';
const braces = new RegExp(`^${NOT_A_FUNCTION}.*(?:${BRACE_FUNCTION.source})`);

const JAVASCRIPT: Language = {
  ...{ ...SLASHES, quotes: ['"', "'", '`'], begins: braces },
  ...{ stop: "throw new Error('fault');", returns: () => 'null' },
};
const C: Language = { ...SLASHES, begins: braces, stop: '__builtin_trap();', returns: (it) => `!(${it})` };
const JVM: Language = {
  ...{ ...SLASHES, begins: braces, returns: null },
  stop: 'if (true) throw new RuntimeException("fault");',
};
const PYTHON: Language = {
  ...{ ...HASH, quotes: ['"""', "'''", '"', "'"], begins: /^\s*(?:async\s+)?def\s.*:\s*$/ },
  ...{ stop: 'raise RuntimeError("fault")', returns: () => 'None' },
};
const RUBY: Language = { ...HASH, begins: /^\s*def\s/, stop: 'raise "fault"', returns: () => 'nil' };
const SHELL: Language = {
  ...{ ...HASH, begins: /^\s*(?:function\s+)?[\w-]+\s*\(\)\s*\{\s*$/, stop: 'exit 1', returns: null, isShell: true },
};
const GO: Language = {
  ...{ ...SLASHES, quotes: ['"', '`', "'"], begins: /^func\b.*\{\s*$/, stop: 'panic("fault")', returns: null },
};
const RUST: Language = {
  ...{ ...SLASHES, quotes: ['"'], begins: /\bfn\b.*\{\s*$/, stop: 'panic!("fault");', returns: null },
};
const PHP: Language = {
  ...{ ...SLASHES, comments: ['//', '#'], begins: /\bfunction\b.*\{\s*$/ },
  ...{ stop: "throw new \\Exception('fault');", returns: () => 'null' },
};
const OTHER: Language = { ...SLASHES, begins: braces, stop: '', returns: null };
const DASHES: Language = { ...OTHER, comments: ['--'], hasBlockComments: false };

const LANGUAGES: [endings: string, language: Language][] = [
  ['js mjs cjs jsx ts mts cts tsx vue svelte', JAVASCRIPT],
  ['c cc cpp cxx h hpp m mm', C],
  ['java kt kts scala groovy', JVM],
  ['cs swift dart zig', OTHER],
  ['py pyx', PYTHON],
  ['rb cr', RUBY],
  ['sh bash zsh', SHELL],
  ['go', GO],
  ['rs', RUST],
  ['php', PHP],
  ['pl pm r jl nim ex', { ...HASH, begins: /(?!)/, stop: '', returns: null }],
  ['lua hs sql', DASHES],
];
const BY_ENDING = new Map(LANGUAGES.flatMap(([endings, language]) => endings.split(' ').map((e) => [e, language])));

/** Null: a file that cannot be mutated, because its ending is not one of a programming language. */
export const languageOf = (file: string): Language | null =>
  BY_ENDING.get(/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '') ?? null;
