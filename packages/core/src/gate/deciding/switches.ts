import { withoutKept } from './kept-directives.ts';
import { isOfTests } from './names.ts';
import { withoutOwn } from './own-lines.ts';

/** Code that ends or disables a check when it is added. An exit code other than 0 makes a check fail, which is harmless. */
interface Switch {
  why: string;
  pattern: RegExp;
  /** Only in test files; otherwise in all code. */
  inTests?: true;
  /** File extensions it applies to; otherwise all. */
  of?: RegExp;
}

const NOT_A_FAILURE = String.raw`(?!\s?\(\s?[1-9]\d{0,9}\s?\))`;
const JS = /\.([cm]?[jt]sx?|vue|svelte|astro)$/;

const SWITCHES: Switch[] = [
  ...[
    new RegExp(String.raw`\bprocess\s?\??\.\s?(exit|reallyExit|abort|kill)\b${NOT_A_FAILURE}`, 'g'),
    /\bprocess\s?\??\.\s?exitCode\s?=(?!=)(?!\s?[1-9])/g,
    /\bprocess\s?(\?\.)?\s?\[/g,
    /\{[^}\n]{0,100}\b(exit|reallyExit|abort|kill|exitCode)\b[^}\n]{0,100}\}\s?(=\s?(globalThis\s?\.\s?)?process\b|from\s?['"](node:)?process['"]|=\s?require\s?\(\s?['"](node:)?process)/g,
    new RegExp(String.raw`\b(Deno|Bun)\s?\.\s?exit\b${NOT_A_FAILURE}`, 'g'),
  ].map((pattern) => ({ why: 'can end the program with success', pattern, of: JS })),
  ...(
    [
      [
        /\.pyi?$/,
        new RegExp(
          String.raw`\b(sys\s?\.\s?exit|os\s?\.\s?_exit|os\s?\.\s?abort|quit|exit)\b\s?(?=\()${NOT_A_FAILURE}`,
          'g',
        ),
      ],
      [/\.pyi?$/, /\bSystemExit\b|\bos\s?\.\s?kill\b|\bfrom\s(sys|os)\simport\b.{0,200}\b_?exit\b/g],
      [/\.go$/, new RegExp(String.raw`\b(os|syscall)\s?\.\s?Exit\b${NOT_A_FAILURE}`, 'g')],
      [/\.rs$/, new RegExp(String.raw`\bprocess\s?::\s?exit\b${NOT_A_FAILURE}`, 'g')],
      [/\.(java|kt|scala|groovy)$/, /\bSystem\s?\.\s?exit\b|\bexitProcess\b|\.halt\s?\(/g],
      [/\.rb$/, /\b(exit!?|abort)\b(?!\s?\(?\s?[1-9])/g],
      [/\.php$/, /\b(exit|die)\b\s?[;(]/g],
      [
        /\.(c|cc|cpp|cxx|h|hpp|m|swift|dart|cs)$/,
        /\b(_?exit|_Exit|quick_exit|Environment\s?\.\s?Exit)\s?\(\s?(0|EXIT_SUCCESS)?\s?\)/g,
      ],
      [/\.(sh|bash|zsh|fish|bats)$/, /\bexit\b(?!\s[1-9$"])|\|\|\s?(true|:)(\s|;|$)|\bset\s\+e\b/g],
    ] satisfies [RegExp, RegExp][]
  ).map(([of, pattern]) => ({ why: 'can end the program with success', pattern, of })),
  {
    why: 'behaves differently in tests',
    pattern:
      /\b(VITEST(_\w+)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|PYTEST_CURRENT_TEST|PYTEST_VERSION)\b|\bNODE_ENV\b[^\n]{0,20}['"]test['"]|\b(sys\s?\.\s?)?_getframe\b|\binspect\s?\.\s?(stack|currentframe)\b|\bextract_stack\b|\bthread\s?::\s?current\s?\(\s?\)\s?\.\s?name\b|\bsys\s?\.\s?modules\b[^\n]{0,20}(pytest|unittest)|\bunittest\b[^\n]{0,20}\bsys\s?\.\s?modules\b|\bpytest\b[^\n]{0,20}\bsys\s?\.\s?modules\b/g,
  },
  {
    why: 'replaces the assertions of tests',
    pattern:
      /\b(global|globalThis|window|builtins)\s?(\.\s?|\[\s?['"])(expect|assert|describe|it|test)\b['"\]\s]*=(?!=)|\bexpect\s?\.\s?extend\s?\(|\bassert\s?\.\s?\w+\s?=(?!=)/g,
  },
  {
    why: 'replaces the assertions of tests',
    of: /\.(c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|m|mm|def)$/,
    pattern:
      /^# ?(define|undef) (assert|static_assert|NDEBUG|main|abort|_?exit|(str|mem|wcs)(n|case|ncase)?cmp|(ASSERT|EXPECT|CHECK|REQUIRE|TEST)(_\w+)?)\b|\b__assert(_fail|_rtn|_perror_fail|_fail_base)?\s?\(/gm,
  },
  // The linker, the shell and the compiler take the name that is defined nearest.
  ...(
    [
      [
        /\.(c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|m|mm)$/,
        /^(?!(return|else|case|goto|typedef)\b)([\w:"]+[ \n*&{]+){1,6}(exit|_exit|_Exit|abort|raise|atexit|signal|assert|(v?[fs]?n?|fd)printf|f?puts|putchar|(str|mem|wcs)(n|case|ncase)?cmp|__wrap_\w+|__assert_\w+) ?\([^;{}]{0,200}\{/gm,
      ],
      [
        /\.(c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|m|mm)$/,
        /\b__?asm(__)? ?\( ?"_?\w+" ?\) ?;|\balias ?\( ?"|# ?pragma (redefine_extname|weak)\b/g,
      ],
      [
        /\.rs$/,
        /\bmacro_rules ?! ?((debug_)?assert(_eq|_ne|_matches)?|panic|unreachable|todo|matches|vec|format|test)\b/g,
      ],
      [
        /\.(sh|bash|zsh|bats)$|(^|\/)[^./]+$/,
        /^(function )?(\[\[?|test|exit|return|command|builtin|trap|set|eval|diff|cmp|grep|false|kill|assert\w*) ?\( ?\)|^function (\[\[?|test|exit|return|command|builtin|trap|set|eval|diff|cmp|grep|false|kill)\b|\balias (\[\[?|test|exit|return|command|trap|set|diff|cmp|grep|false|kill)=/gm,
      ],
    ] satisfies [RegExp, RegExp][]
  ).map(([of, pattern]) => ({ why: 'replaces the assertions of tests', pattern, of })),
  {
    why: 'makes things equal that are not',
    pattern:
      /\bdef (__eq__|==)[^\n]{0,100}\n ?(return )?[Tt]rue\b|\bfn eq ?\([^)]{0,100}\)[^{]{0,30}\{\s?(return )?true\b|\b[Ee]quals ?\([^)]{0,100}\)[^{=]{0,30}(\{\s?return|=) true\b|\boperator ?== ?\([^)]{0,100}\)[^{]{0,30}\{\s?return (true|1)\b|\b__eq__ ?= ?lambda[^\n]{0,80}: ?True\b/g,
  },
  {
    why: 'behaves differently in tests',
    of: /\.rs$/,
    pattern:
      /\bcfg ?! ?\( ?(not ?\( ?)?(test|debug_assertions)\b|# ?!? ?\[ ?cfg ?\( ?not ?\( ?(test|debug_assertions) ?\)/g,
  },
  {
    why: 'asks where it runs',
    pattern:
      /\/proc\/(self|thread-self|\d+|mounts|\$)|\bmountinfo\b|\.dockerenv\b|\bobjects\/info\b|\bgetppid\b|\$\{?PPID\b|\bprocess ?\. ?ppid\b|\bparent_id\b|\/etc\/(passwd|hostname|machine-id|mtab)\b|\b(getlogin|getpwuid|gethostname|getuser|userInfo) ?\(|\bos ?\. ?hostname ?\(|\b(exist\w*|access\w*|l?statS?y?n?c?|isdir|isfile|is_dir|is_file) ?\( ?(Path ?\( ?)?["'`](\/(?!dev\/)|~)|\bPath ?::\s?new ?\( ?"\/(?!dev\/)[^"\n]{0,200}" ?\) ?\. ?(exists|is_\w+|metadata)|\bPath ?\( ?["']\/(?!dev\/)[^"'\n]{0,200}["'] ?\) ?\. ?(exists|is_\w+|stat)|\[ (! )?-[defrswxhL] "?(\/(?!dev\/)|~|\$HOME|\$\{HOME)|\btest (! )?-[defrswxhL] "?(\/(?!dev\/)|~|\$HOME)|\bhomedir ?\( ?\) ?\+/g,
  },
  {
    why: 'turns a check off for some lines',
    pattern:
      /\b(eslint-disable|biome-ignore|oxlint-disable|prettier-ignore|stylelint-disable|tslint:disable|jshint ignore|istanbul ignore|c8 ignore|v8 ignore|pylint:\s?disable|rubocop:disable|phpcs:(ignore|disable)|shellcheck disable|noinspection|NOLINT\w*)|@ts-(ignore|nocheck|expect-error)|@phpstan-ignore|@psalm-suppress|@SuppressWarnings|#\s?(noqa|type:\s?ignore|nosec|pragma:\s?no\s?cover|pyright:|mypy:|ruff:)|\/\/\s?nolint|#!?\[allow\(/gi,
  },
  {
    why: 'skips tests, or runs only some of them',
    inTests: true,
    pattern: new RegExp(
      [
        String.raw`\.\s?(skip|only|todo|skipIf|runIf|fails|failing|concurrent\.skip)\b\s?[(.\`<]`,
        String.raw`\[\s?['"](skip|only|todo)['"]\s?\]`,
        String.raw`\b(xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|ftest|fcontext|pending)\s?[(\s'"]`,
        String.raw`\b(skip|only|todo)\s?:\s?(?!false\b)`,
        String.raw`\bpytest\s?\.\s?(skip|xfail|exit|importorskip|mark\s?\.\s?(skip|skipif|xfail))\b`,
        String.raw`\bfrom\s(pytest|unittest)\simport\b.{0,200}\b(skip|xfail|expectedFailure)`,
        String.raw`@(unittest\s?\.\s?)?(skip|skipIf|skipUnless|expectedFailure)\b|\bSkipTest\b|\bskipTest\s?\(|\bcollect_ignore|\b__test__\s?=`,
        String.raw`\b[tb]\s?\.\s?(Skip|SkipNow|Skipf)\s?\(|^//go:build|^// \+build`,
        String.raw`#\[(ignore|should_panic)`,
        String.raw`@(Disabled|Ignore|EnabledIf\w*|DisabledIf\w*|DisabledOn\w*)\b|\bassumeTrue\b|\bassumeFalse\b`,
        String.raw`\bmarkTest(Skipped|Incomplete)\b|@(group|requires)\b|->\s?(skip|todo|only)\s?\(`,
      ].join('|'),
      'gm',
    ),
  },
  {
    why: 'contains an assertion that cannot fail',
    inTests: true,
    pattern:
      /\bassert\s?\(?\s?(true|True|1)\s?\)?\s?(,|;|$)|\bexpect\s?\(\s?(true|1|['"]\w*['"])\s?\)\s?\.\s?(toBe|toEqual|toStrictEqual|to\.(be|equal))\w*\s?\(\s?(true|1|['"]\w*['"])?\s?\)|\bexpect\s?\(\s?true\s?\)\s?\.\s?toBeTruthy|\bassert\s?\.\s?(ok|isTrue)\s?\(\s?true\s?[,)]|\bassert\s?\.\s?(equal|strictEqual|deepEqual)\s?\(\s?(?<number>\d+)\s?,\s?\k<number>\s?[,)]|\bassertTrue\s?\(\s?(true|True)\s?\)|assert!\s?\(\s?true\s?[,)]/gm,
  },
];

/**
 * What a change adds to a file that ends, disables or skips a check. `onlyAdds`: the change adds whole test cases and nothing
 * else, so what concerns only their own lines disables no existing check.
 */
export function switchesIn(path: string, before: string, after: string, { onlyAdds = false } = {}): string[] {
  const lower = path.toLowerCase();
  const [old, kept] = withoutKept(collapsed(before), collapsed(after));
  const now = onlyAdds ? withoutOwn(collapsed(before), kept) : kept;
  const added = addedLines(old, now);
  const found = SWITCHES.filter(({ of, inTests, pattern }) => {
    if ((of && !of.test(lower)) || (inTests && !isOfTests(path))) return false;
    // The same line may have existed in a harmless place. One more of it is never harmless.
    return count(added, pattern) > 0 || count(now, pattern) > count(old, pattern);
  }).map(({ why }) => why);
  return [...new Set(found)];
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

/** With single spaces: the patterns then take linear time, and extra spaces cannot hide a match. */
const collapsed = (text: string) => text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n');

function addedLines(old: string, now: string): string {
  const left = new Map<string, number>();
  for (const line of old.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  return now
    .split('\n')
    .filter((line) => {
      const rest = left.get(line) ?? 0;
      left.set(line, rest - 1);
      return rest <= 0;
    })
    .join('\n');
}
