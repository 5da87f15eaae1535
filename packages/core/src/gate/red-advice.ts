const NOT_INSTALLED = [
  /Cannot find (?:module|package) ['"]([^'"./][^'"]*)['"]/,
  /No module named ['"]?([\w.]+)/,
  /Failed to resolve import ['"]([^'"./][^'"]*)['"]/,
  /(?:^|[\s:])([\w.-]+): (?:command )?not found/m,
];
const NOT_THERE = [/ENOENT[^'\n]*'([^'\n]+)'/, /No such file or directory: ['"]?([^'"\n]+?)['"]?$/m];

const firstOf = (patterns: RegExp[], output: string) =>
  patterns
    .map((pattern) => pattern.exec(output)?.[1])
    .find((name) => name !== undefined)
    ?.slice(0, 100);

/** What most likely helps when a gate fails on a target that nobody changed. Null if its output does not show it. */
export function redAdvice(gate: string, output: string): string | null {
  const missing = firstOf(NOT_INSTALLED, output);
  if (missing !== undefined)
    return `${gate} needs ${missing}, which is not installed in a new checkout. Add the command that installs it to \`prepare\` in .tidemill/config.yaml.`;
  const file = firstOf(NOT_THERE, output)?.split(/[\\/]/).at(-1);
  if (!file) return null;
  return `${gate} needs ${file}, which git does not have. If your checkout has it, add it to \`include\` in .tidemill/config.yaml.`;
}
