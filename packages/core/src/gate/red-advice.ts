/** Programs that belong to the machine: a project's `prepare` does not install them. */
const OF_MACHINE = new Set(
  (
    'git node npm npx pnpm yarn bun deno corepack python python3 pip pip3 uv poetry pdm hatch go cargo rustc java javac mvn gradle ' +
    'sbt ruby gem bundle php composer elixir mix erl rebar3 dotnet cmake ctest make ninja meson swift zig stack cabal ghc dart flutter docker'
  ).split(' '),
);
const NO_PROGRAM = /(?:^|[\s:])([\w.-]+): (?:command )?not found/m;

const NOT_INSTALLED = [
  /Cannot find (?:module|package) ['"]([^'"./][^'"]*)['"]/,
  /No module named ['"]?([\w.]+)/,
  /Failed to resolve import ['"]([^'"./][^'"]*)['"]/,
  NO_PROGRAM,
];
const NOT_THERE = [/ENOENT[^'\n]*'([^'\n]+)'/, /No such file or directory: ['"]?([^'"\n]+?)['"]?$/m];

const firstOf = (patterns: RegExp[], output: string) =>
  patterns
    .map((pattern) => pattern.exec(output)?.[1])
    .find((name) => name !== undefined)
    ?.slice(0, 100);

/** What helps when a prepare step or a gate needs a program that this machine does not have. Null if its output does not show it. */
export function missingProgram(output: string): string | null {
  const name = NO_PROGRAM.exec(output)?.[1];
  if (name === undefined || !OF_MACHINE.has(name)) return null;
  return `${name} is not on the PATH of Tidemill. Install it on this machine, or start Tidemill from a shell that finds it.`;
}

/** What most likely helps when a gate fails on a target that nobody changed. Null if its output does not show it. */
export function redAdvice(gate: string, output: string): string | null {
  const program = missingProgram(output);
  if (program !== null) return program;
  const missing = firstOf(NOT_INSTALLED, output);
  if (missing !== undefined)
    return `${gate} needs ${missing}, which is not installed in a new checkout. Add the command that installs it to \`prepare\` in .tidemill/config.yaml.`;
  const file = firstOf(NOT_THERE, output)?.split(/[\\/]/).at(-1);
  if (!file) return null;
  return `${gate} needs ${file}, which git does not have. If your checkout has it, add it to \`include\` in .tidemill/config.yaml.`;
}
