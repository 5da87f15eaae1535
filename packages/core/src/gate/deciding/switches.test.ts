import { describe, expect, test } from 'vitest';
import { switchesIn } from './switches.ts';

type Case = [what: string, path: string, added: string];

/** A source in which a test sees something else than what people use, or uses another assertion than it says. */
const REPLACES: Case[] = [
  ['an own strcmp', 'src/compat.c', 'int strcmp(const char *a, const char *b) {\n  return *a != *b;\n}\n'],
  ['an own exit over two lines', 'src/compat.c', 'void\nexit(int code)\n{\n  _Exit(code & 0);\n}\n'],
  ['an own printf in C++', 'src/compat.cc', 'extern "C" int printf(const char *, ...) {\n  return 0;\n}\n'],
  ['a symbol with the name of another', 'src/compat.c', 'int same(void) __asm__("memcmp");\n'],
  ['an alias', 'src/compat.c', 'int abort_(void) __attribute__((alias("nothing")));\n'],
  ['an own assert_eq', 'src/lib.rs', 'macro_rules! assert_eq {\n    ($($rest:tt)*) => {};\n}\n'],
  ['an own panic', 'src/lib.rs', '#[macro_export]\nmacro_rules! panic {\n    () => {};\n}\n'],
  ['an own bracket', 'lib/a.sh', '[() {\n  command [ "$@" || true\n}\n'],
  ['an own test', 'lib/a.sh', 'function test { :; }\n'],
  ['an alias of exit', 'lib/a.sh', "alias exit='return'\n"],
];
const DIFFERS: Case[] = [
  ['asks cfg!(test)', 'src/lib.rs', 'let a = if cfg!(test) { 1 } else { 2 };\n'],
  ['asks for a debug build', 'src/lib.rs', 'if cfg!(debug_assertions) { right() } else { wrong() }\n'],
  ['has another function for use', 'src/lib.rs', '#[cfg(not(test))]\npub fn total() {}\n'],
];
const CALLERS: Case[] = [
  ['asks for the name of its thread', 'src/lib.rs', 'if std::thread::current().name().is_some() {\n'],
  ['looks for its caller', 'src/a.py', 'outer = inspect.stack()[1].function\n'],
  ['looks for the library of tests', 'src/a.py', "if 'unittest' in sys.modules:\n"],
];
const ASKS: Case[] = [
  ['for the first process', 'src/a.py', "first = open('/proc/1/comm').read()\n"],
  ['for the mounts', 'src/a.js', "readFileSync('/proc/self/mountinfo', 'utf8');\n"],
  ['for its parent', 'src/a.c', 'int outer = getppid();\n'],
  ['for its parent', 'lib/a.sh', '[ "$PPID" -gt 5 ] || exit 1\n'],
  ['for a folder outside', 'src/lib.rs', 'if std::path::Path::new("/home/me").exists() {\n'],
  ['for a file at home', 'lib/a.sh', 'if [ -f "$HOME/.gitconfig" ]; then\n'],
  ['for a file at home', 'src/a.js', "existsSync(homedir() + '/.gitconfig');\n"],
  ['for the user', 'src/a.py', 'name = getpass.getuser()\n'],
];
const HARMLESS: Case[] = [
  ['reads a file of its own', 'src/a.js', "existsSync('data/a.json') && process.pid;\n"],
  ['writes to nothing', 'lib/a.sh', '[ -e /dev/null ] && test -f ./a\n'],
  ['declares strcmp', 'src/a.h', 'int strcmp(const char *a, const char *b);\n'],
  ['calls exit', 'src/a.c', 'void stop(int code) {\n  if (code) exit(code);\n  printf("%d", code);\n}\n'],
  ['has a macro', 'src/lib.rs', 'macro_rules! assert_all {\n    () => {};\n}\n'],
  ['has inline tests', 'src/lib.rs', '#[cfg(test)]\nmod tests {}\n'],
  ['has a function', 'lib/a.sh', 'test_all() {\n  test -f x && [ -n "$1" ]\n}\n'],
];

describe('what a change adds to a source', () => {
  test.each(REPLACES)('replaces what tests use with %s (%s)', (_, path, added) => {
    expect(switchesIn(path, '', added)).toContain('replaces the assertions of tests');
  });

  test.each([...DIFFERS, ...CALLERS])('is something else in tests when it %s (%s)', (_, path, added) => {
    expect(switchesIn(path, '', added)).toEqual(['behaves differently in tests']);
  });

  test.each(ASKS)('asks where it runs when it asks %s (%s)', (_, path, added) => {
    expect(switchesIn(path, '', added)).toContain('asks where it runs');
  });

  test.each(HARMLESS)('is no switch when it only %s (%s)', (_, path, added) => {
    expect(switchesIn(path, '', added)).toEqual([]);
  });
});
