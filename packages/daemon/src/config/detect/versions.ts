import type { Folder } from './folder.ts';
import type { ConfigProposal } from './tool.ts';

/** Programs that install the other tools in the versions that a file names. */
interface VersionTool {
  name: string;
  shownBy: string[];
  env: Record<string, string>;
  install: string;
  makes: string[];
  /** The prefix of all its own commands. */
  first: string;
  /** The prefix of every other command, so that it finds the tools. */
  before: string;
}

const TABLE: VersionTool[] = [
  {
    name: 'mise',
    shownBy: ['mise.toml', '.mise.toml', '.tool-versions'],
    env: { MISE_YES: '1' },
    install: 'mise install',
    makes: ['.cache'],
    // Sandboxed commands have neither its own folder in the home nor its list of trusted files.
    first: 'export MISE_DATA_DIR="$PWD/.cache/mise" && mise trust --quiet --all && ',
    before: 'mise exec -- ',
  },
];

export interface Versions {
  tools: string[];
  notes: string[];
  /** The proposal with the tools installed first, and every command started through them. */
  wrap(proposal: ConfigProposal): ConfigProposal;
}

export type IsInstalled = (program: string) => Promise<boolean>;

export async function versionsOf(folder: Folder, isInstalled: IsInstalled): Promise<Versions> {
  const named = TABLE.find(({ shownBy }) => folder.present(...shownBy).length > 0);
  const nothing = { tools: [], wrap: (proposal: ConfigProposal) => proposal };
  if (!named) return { ...nothing, notes: [] };
  const files = folder.present(...named.shownBy, 'mise.lock');
  if (!(await isInstalled(named.name))) {
    const manager = files.includes('.tool-versions') ? 'mise or asdf' : named.name;
    const text = `${files[0]} is for ${manager}; gates and prepare take the tools as they are on PATH`;
    return { ...nothing, notes: [text] };
  }
  const { env, first, before, install, makes } = named;
  const through = <T extends { run: string; env?: Record<string, string> }>(each: T): T => ({
    ...each,
    run: `${first}${before}sh -c ${shellWord(each.run)}`,
    env: { ...env, ...each.env },
  });
  const tasks = await tasksOf(folder);
  return {
    tools: [named.name],
    notes: [],
    wrap: ({ prepare, gates }) => ({
      prepare: [{ run: `${first}${install}`, files, env, makes }, ...prepare.map(through)],
      gates: [
        ...gates.filter(({ name }) => !tasks.includes(name)).map(through),
        ...tasks.map((name) => ({ name, run: `${first}mise run ${name}`, timeout: '5m', env })),
      ],
    }),
  };
}

/** Tasks of the project whose names show that they check something. */
async function tasksOf(folder: Folder): Promise<string[]> {
  const text = (await folder.text('mise.toml')) + (await folder.text('.mise.toml'));
  return ['typecheck', 'lint', 'test'].filter((name) =>
    new RegExp(`^\\[tasks\\.(${name}|"${name}")\\]|^\\[tasks\\][^[]*^${name}\\s*=`, 'm').test(text),
  );
}

const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
