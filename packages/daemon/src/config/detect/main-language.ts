import { projectFiles } from '../ignored.ts';

/** Files of a language, by ending, and the tools' name for it. */
const LANGUAGES: { name: string; tool: string; endings: string[] }[] = [
  {
    name: 'JavaScript or TypeScript',
    tool: 'node',
    endings: ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx', 'vue', 'svelte'],
  },
  { name: 'Python', tool: 'python', endings: ['py', 'pyx'] },
  { name: 'Rust', tool: 'rust', endings: ['rs'] },
  { name: 'Go', tool: 'go', endings: ['go'] },
  { name: 'Java or Kotlin', tool: 'jvm', endings: ['java', 'kt', 'scala', 'groovy'] },
  { name: 'Ruby', tool: 'ruby', endings: ['rb'] },
  { name: 'PHP', tool: 'php', endings: ['php'] },
  { name: 'C or C++', tool: 'c', endings: ['c', 'cc', 'cpp', 'cxx', 'm', 'mm'] },
  { name: 'Elixir', tool: 'elixir', endings: ['ex', 'exs'] },
  { name: 'Swift', tool: 'swift', endings: ['swift'] },
  { name: 'C#', tool: 'dotnet', endings: ['cs', 'fs'] },
  { name: 'Haskell', tool: 'haskell', endings: ['hs'] },
  { name: 'Zig', tool: 'zig', endings: ['zig'] },
  { name: 'Dart', tool: 'dart', endings: ['dart'] },
  { name: 'Lua', tool: 'lua', endings: ['lua'] },
  { name: 'OCaml', tool: 'ocaml', endings: ['ml'] },
  { name: 'Perl', tool: 'perl', endings: ['pl', 'pm'] },
  { name: 'shell scripts', tool: 'shell', endings: ['sh', 'bash', 'zsh'] },
];
const BESIDE =
  /(^|\/)(docs?|examples?|samples?|vendor|third[_-]party|fixtures?|testdata|website|site|benchmarks?|\.[^/]+)\//i;

export interface MainLanguage {
  name: string;
  tool: string;
}

/** The language of most source files. Null: there are too few files to tell. */
export async function mainLanguage(root: string): Promise<MainLanguage | null> {
  const counts = new Map<(typeof LANGUAGES)[number], number>();
  for (const path of await projectFiles(root)) {
    const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
    const language = BESIDE.test(path) ? undefined : LANGUAGES.find(({ endings }) => endings.includes(ending));
    if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first ? { name: first[0].name, tool: first[0].tool } : null;
}
