/** Lines in the form in which tools state an error: compilers, linters, test runners, package managers. */
const ERROR_FORMS = [
  /(?:^|[\s:/)\]])(?:fatal )?error(?:\[\w+\]| [A-Z]+\d+)?:/i,
  /^\s*(?:E\s+)?[\w.]*(?:Error|Exception)(?: \[\w+\])?:/,
  /^\s*\d+:\d+\s+error\s/,
  /^npm (?:ERR!|error)\s/,
  /^\s*(?:--- )?FAIL(?:ED)?\b[: ]/,
  /^\s*(?:[✗✘×✖]\s|not ok\b|panic: |fatal: )|\bpanicked at\b/,
];
const WARNING = /^\s*(?:npm )?warn(?:ing)?\b|\b(?:warning|\w+Warning):/i;

export const isErrorLine = (line: string): boolean =>
  ERROR_FORMS.some((form) => form.test(line)) && !WARNING.test(line);

/** What a notice quotes of an output: the first errors in the tool's own form; if there is none, the last lines. */
export function tellingLines(output: string, most = 6): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter(isErrorLine);
  return (errors.length > 0 ? errors.slice(0, most) : lines.slice(-most)).join('\n');
}
