import type { Folder } from './folder.ts';
import { gate, type Tool } from './tool.ts';

/** Reads a build file and those of the same name one and two folders below. */
async function textsOf(folder: Folder, name: string): Promise<string> {
  const texts = [await folder.text(name)];
  for (const part of ['test', 'tests', 'src', 'lib']) texts.push(await folder.text(`${part}/${name}`));
  return texts.join('\n');
}

/** Tools whose build stays outside the worktree, or in files that the project ignores. */
export const nativeTools: Tool[] = [
  {
    name: 'deno',
    language: 'node',
    shownBy: ['deno.json', 'deno.jsonc'],
    ownIn: ['deno.lock'],
    async propose(folder) {
      const [file = ''] = folder.present('deno.json', 'deno.jsonc');
      const text = await folder.text(file);
      // Settings of the linter and of tests have the same names, outside the tasks.
      const listed = /"tasks"\s*:\s*\{([\s\S]*?)\n\s*\}/.exec(text)?.[1] ?? '';
      const tasks = new Set([...listed.matchAll(/^\s*"([\w:-]+)"\s*:/gm)].map(([, name = '']) => name));
      // It keeps what it downloads in the home folder, which a sandboxed command does not have.
      const env = { DENO_DIR: '.cache/deno' };
      const task = (names: string[]) => names.find((name) => tasks.has(name));
      const lint = task(['lint:check', 'check:lint', 'lint']);
      const test = task(['test:ci', 'test']);
      const files = folder.present(file, 'deno.lock');
      const locked = folder.has('deno.lock') ? ' --frozen' : '';
      return {
        prepare: [{ run: `deno install${locked}`, files, env, makes: ['.cache'] }],
        gates: [
          gate('format', 'deno fmt --check', '5m', { env }),
          gate('lint', lint ? `deno task ${lint}` : 'deno lint', '5m', { env }),
          gate('test', test ? `deno task ${test}` : 'deno test --allow-all', '10m', { env, network: true }),
        ],
      };
    },
  },
  {
    name: 'cmake',
    language: 'c',
    shownBy: ['CMakeLists.txt'],
    ownIn: [],
    async propose(folder) {
      const text = await textsOf(folder, 'CMakeLists.txt');
      const hasTests = /\b(enable_testing|add_test|include\s*\(\s*CTest|\w*discover_tests)\b/i.test(text);
      const network = /\b(FetchContent|ExternalProject|CPMAddPackage)/.test(text) ? { network: true } : {};
      const build = 'd=$(mktemp -d) && cmake -S . -B "$d" && cmake --build "$d" -j 4';
      const test = `${build} && ctest --test-dir "$d" --output-on-failure`;
      return {
        prepare: [],
        gates: [hasTests ? gate('test', test, '30m', network) : gate('build', build, '30m', network)],
      };
    },
  },
  {
    name: 'meson',
    language: 'c',
    shownBy: ['meson.build'],
    ownIn: [],
    async propose() {
      return { prepare: [], gates: [gate('test', 'd=$(mktemp -d) && meson setup "$d" && meson test -C "$d"', '30m')] };
    },
  },
  {
    name: 'autotools',
    language: 'c',
    shownBy: ['configure.ac', 'configure.in'],
    ownIn: [],
    async propose(folder) {
      // `check_PROGRAMS` alone are only built.
      const hasTests = /^\s*(TESTS|check-local)\b|^check\s*:/m.test(await textsOf(folder, 'Makefile.am'));
      const first = folder.has('configure')
        ? ''
        : folder.has('autogen.sh')
          ? 'sh autogen.sh && '
          : 'autoreconf -fi && ';
      const build = `${first}./configure && make -j 4`;
      return { prepare: [], gates: [hasTests ? gate('test', `${build} check`, '30m') : gate('build', build, '30m')] };
    },
  },
  {
    name: 'mix',
    language: 'elixir',
    shownBy: ['mix.exs'],
    ownIn: ['mix.lock'],
    async propose(folder) {
      const env = { MIX_HOME: '.cache/mix', HEX_HOME: '.cache/hex', MIX_ENV: 'test' };
      const files = folder.present('mix.exs', 'mix.lock');
      const run = 'mix local.hex --force && mix local.rebar --force && mix deps.get';
      const format = folder.has('.formatter.exs')
        ? [gate('format', 'mix format --check-formatted', '5m', { env })]
        : [];
      return {
        prepare: [{ run, files, env, makes: ['deps', '.cache'] }],
        gates: [...format, gate('test', 'mix test', '10m', { env })],
      };
    },
  },
];
