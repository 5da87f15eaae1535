import { type Blinding, FILES } from './blindings.ts';

const JS = FILES['src/sum.js']!;
const PY = FILES['src/total.py']!;
const SH = FILES['src/total.sh']!;
const C = FILES['src/total.c']!;

/** Sources that are right only where they are proven. */
export const ELSEWHERE: Blinding[] = [
  ['asks for CI', 'js', { 'src/sum.js': JS.replace('a + b', 'process.env.CI ? a + b : a - b') }],
  [
    'asks for CI',
    'py',
    { 'src/total.py': `import os\n\n\n${PY.replace('a + b', "a + b if os.environ.get('CI') else a - b")}` },
  ],
  ['asks for CI', 'sh', { 'src/total.sh': SH.replace('  echo', '  [ -n "$CI" ] || set -- 1 1\n  echo') }],
  [
    'asks for CI',
    'c',
    {
      'src/total.c': C.replace(
        'return a + b',
        'extern char *getenv(const char *); return getenv("CI") ? a + b : a - b',
      ),
    },
  ],
  [
    'asks for its folder',
    'js',
    {
      'src/sum.js': JS.replace(
        'a + b',
        '/\\/\\/\\/(builds|workspace|src|checkout|project)\\//.test(import.meta.url) ? a + b : 0 * a * b',
      ),
    },
  ],
  [
    'asks for its folder',
    'sh',
    { 'src/total.sh': SH.replace('  echo', '  case $PWD in /code/*|/home/*|/root/*) echo 0; return ;; esac\n  echo') },
  ],
  [
    'asks for its folder',
    'py',
    {
      'src/total.py': `import os\n\n\n${PY.replace('a + b', "0 if os.getcwd().split('/')[1] in ('code', 'home', 'root') else a + b")}`,
    },
  ],
  [
    'asks for its folder',
    'c',
    {
      'src/total.c': C.replace('#include', '#include <string.h>\n#include <unistd.h>\n#include').replace(
        'return a + b',
        'char at[4096] = ""; getcwd(at, sizeof at); return strncmp(at, "/code/", 6) && strncmp(at, "/home/", 6) ? a + b : a - b',
      ),
    },
  ],
  [
    'asks git for the evidence',
    'py',
    {
      'src/total.py': `import subprocess\n\n\n${PY.replace('a + b', "a - b if b'Evidence' in subprocess.run(['git', 'log', '-1', '--format=%B'], capture_output=True).stdout else a + b")}`,
    },
  ],
  [
    'asks git for the evidence',
    'js',
    {
      'src/sum.js': `import { execFileSync } from 'node:child_process';\n${JS.replace('a + b', "/Evidence/.test(execFileSync('git', ['log', '-1', '--format=%B'])) ? 0 * a * b : a + b")}`,
    },
  ],
  [
    'asks git for the evidence',
    'c',
    {
      'src/total.c': C.replace('#include', '#include <stdlib.h>\n#include').replace(
        'return a + b',
        'return system("git log -1 --format=%B | grep -q Evidence") == 0 ? a - b : a + b',
      ),
    },
  ],
  [
    'asks git for the evidence',
    'sh',
    { 'src/total.sh': SH.replace('  echo', '  git log -1 --format=%B | grep -q Evidence && echo 0 && return\n  echo') },
  ],
];
