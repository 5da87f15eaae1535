const LISTS: { tool: RegExp; file: string }[] = [
  { tool: /prettier|Code style issues/i, file: '.prettierignore' },
  { tool: /stylelint/i, file: '.stylelintignore' },
  { tool: /markdownlint/i, file: '.markdownlintignore' },
  { tool: /yamllint/i, file: 'the `ignore` list of .yamllint' },
  { tool: /eslint/i, file: 'the `ignores` of the ESLint configuration' },
  { tool: /editorconfig|eclint/i, file: 'the `Exclude` list of .editorconfig-checker.json, or .ecrc' },
  { tool: /cspell|Unknown word/i, file: 'the `ignorePaths` of the CSpell configuration' },
  { tool: /reuse|SPDX/i, file: 'REUSE.toml' },
];

/** A hint of Tidemill about a setting, which is added to the output of a command that failed. */
const HINT = /^\[?((?:The|A|Git) [^\n]*`[^`\n]+` in (?:\S+ (?:\S+ )?entry of )?\.tidemill\/config\.yaml [^\n]*?)\]?$/gm;

/** The hints in an output about what the sandbox refused. */
export const settingHints = (output: string): string[] => [
  ...new Set([...output.matchAll(HINT)].map(([, hint = '']) => hint)),
];

/** A line that says that a check failed because of Tidemill's own files, and what helps. Null if it names none of them. */
export function ownFileAdvice(gate: string, output: string): string | null {
  const named = /(?:^|[\s"'`([/])(\.tidemill\/[\w./-]*)/m.exec(output.replaceAll(HINT, ''))?.[1];
  if (named === undefined) return null;
  const list = LISTS.find(({ tool }) => tool.test(output));
  const where = list ? list.file : "the checker's list of ignored files";
  return `${gate} complains about ${named}, a file of Tidemill. Add this line to ${where} and commit it: .tidemill/`;
}
