import { unshared } from '../ignored.ts';
import { ciCommands, isPlain } from './ci.ts';
import { Folder, subfolders } from './folder.ts';
import { type MainLanguage, mainLanguage } from './main-language.ts';
import type { ConfigProposal, ProposedGate, ProposedStep, Tool } from './tool.ts';
import { gate } from './tool.ts';
import { TOOLS } from './tools.ts';
import { type IsInstalled, versionsOf } from './versions.ts';

export interface Detected extends ConfigProposal {
  /** For the person: "npm", "pip", "cargo in backend" … */
  tools: string[];
  /** What a person should know about the proposal. */
  notes: string[];
}

interface Found extends Detected {
  /** The languages that a gate proves something about. */
  languages: Set<string>;
}

/** At most this many separate packages in subfolders; a person adds the rest. */
const MOST_PACKAGES = 10;

/** What a worktree of this repository needs and which gates prove a change, detected from the files of known tools. */
export async function detect(root: string, isInstalled: IsInstalled): Promise<Detected> {
  const below = await subfolders(root);
  const missing = await missingLocks(root, [new Folder(root), ...below]);
  const top = new Folder(root, '', missing);
  const found: Found = { tools: [], notes: [], prepare: [], gates: [], languages: new Set() };
  await detectIn(top, TOOLS, found);
  let packages = 0;
  for (const folder of below.map((one) => one.without(missing))) {
    const own = TOOLS.filter(({ ownIn }) => folder.present(...ownIn).length > 0);
    if (own.length === 0) continue;
    packages += 1;
    if (packages > MOST_PACKAGES) {
      found.notes.push(`more than ${MOST_PACKAGES} folders have a lock file of their own; add the others by hand`);
      break;
    }
    await detectIn(folder, own, found);
  }
  const main = await mainLanguage(root);
  const isCovered = () => main === null || found.languages.has(main.tool);
  // A Makefile usually wraps the language's own command; it is proposed only where there is no such command.
  if (found.gates.length === 0 || !isCovered()) await detectMake(top, found, main);
  if (!isCovered()) await detectCi(top, found, main);
  if (main && !isCovered()) leaveOutTheRest(found, main);
  const versions = await versionsOf(top, isInstalled);
  return {
    ...versions.wrap({ prepare: found.prepare, gates: found.gates }),
    tools: [...versions.tools, ...found.tools],
    notes: [...found.notes, ...versions.notes],
  };
}

/** A lock file that git ignores is only here: an install that needs it would fail in every worktree. */
async function missingLocks(root: string, folders: Folder[]): Promise<Set<string>> {
  const locks = TOOLS.flatMap(({ ownIn }) => ownIn);
  const present = folders.flatMap((folder) => folder.present(...locks).map((name) => folder.at(name)));
  return new Set(await unshared(root, [...new Set(present)]));
}

/** Takes the first tool of each language that has something to propose. */
async function detectIn(folder: Folder, tools: Tool[], found: Found): Promise<void> {
  const done = new Set<string>();
  for (const tool of tools) {
    if (done.has(tool.language) || folder.present(...tool.shownBy).length === 0) continue;
    const proposal = await tool.propose(folder);
    // An install that no gate needs costs time and proves nothing.
    if (!proposal || proposal.gates.length === 0) continue;
    done.add(tool.language);
    if (proposal.gates.some(({ name }) => provesCode(name))) found.languages.add(tool.language);
    const { path } = folder;
    found.tools.push(path === '' ? tool.name : `${tool.name} in ${path}`);
    found.prepare.push(...proposal.prepare.map((step) => stepIn(path, step)));
    for (const each of proposal.gates) found.gates.push(gateIn(path, each, tool.name, found.gates));
  }
}

const inFolder = (path: string, run: string) => (path === '' ? run : `cd ${quoted(path)} && ${run}`);
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
const below = (path: string) => (name: string) => (path === '' ? name : `${path}/${name}`);

const stepIn = (path: string, step: ProposedStep): ProposedStep => ({
  ...step,
  run: inFolder(path, step.run),
  files: [...new Set(step.files)].map(below(path)),
  makes: step.makes.map(below(path)),
});

function gateIn(path: string, proposed: ProposedGate, tool: string, taken: ProposedGate[]): ProposedGate {
  const place = path
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const plain = place === '' ? proposed.name : `${proposed.name}-${place}`;
  const isFree = (name: string) => !taken.some((other) => other.name === name);
  const name = [plain, `${plain}-${tool}`].find(isFree) ?? `${plain}-${taken.length}`;
  return { ...proposed, name, run: inFolder(path, proposed.run) };
}

/** A check of the format says nothing about what the code does. */
const provesCode = (gate: string) => !/^(format|lint)/.test(gate);

async function detectMake(folder: Folder, found: Found, main: MainLanguage | null): Promise<void> {
  const makefile =
    (await folder.text('Makefile')) || (await folder.text('makefile')) || (await folder.text('GNUmakefile'));
  const has = (target: string) => new RegExp(`^([\\w. -]+ )?${target}( [\\w. -]+)?\\s*:(?!=)`, 'm').test(makefile);
  const test = ['test', 'tests', 'check'].find(has);
  const isBuilt = test === undefined && main?.tool === 'c' && makefile !== '';
  const gates = [
    ...(has('lint') ? [gate('lint', 'make lint', '5m')] : []),
    ...(test ? [gate('test', `make ${test}`, '10m')] : []),
    ...(isBuilt ? [gate('build', 'make', '10m')] : []),
  ].filter((each) => !found.gates.some(({ name }) => name === each.name));
  if (gates.length === 0) return;
  found.tools.push('make');
  found.gates.push(...gates);
  if (main && gates.some(({ name }) => provesCode(name))) found.languages.add(main.tool);
}

/** Commands of test runners that have no tool of their own here. */
const RUNNERS =
  /^(swift test|dotnet test|zig build test|sbt( -\S+)* test|stack test|cabal test|dart test|flutter test|lein test|bazel test|tox|nox|make (test|check)|meson test|dune (test|runtest)|prove|busted|bats|mix test|\.\/(run[-_]?tests?|test)(\.sh)?|\.\/(ci|scripts?|tools?|tests?)\/[\w-]*test[\w-]*(\.sh)?)(\s|$)/;

async function detectCi(folder: Folder, found: Found, main: MainLanguage | null): Promise<void> {
  const run = (await ciCommands(folder)).find((command) => isPlain(command) && RUNNERS.test(command));
  if (run === undefined || !main) return;
  found.tools.push('CI');
  found.gates.push(gateIn('', gate('test', run, '20m', { network: true }), 'ci', found.gates));
  found.languages.add(main.tool);
}

/** A gate that says nothing about most of the code would let every change land. */
function leaveOutTheRest(found: Found, { name }: MainLanguage): void {
  const left = found.gates.filter((each) => !provesCode(each.name));
  found.gates = found.gates.filter((each) => !left.includes(each));
  if (found.gates.length === 0) found.prepare = [];
  const more =
    left.length > 0 ? ` (${left.map(({ run }) => run).join(', ')} was found, and proves nothing about it)` : '';
  found.notes.push(
    `most of the code is ${name}, and no command that tests it was found${more}. Add a gate with that command to .tidemill/config.yaml`,
  );
}
