import { unshared } from '../ignored.ts';
import { Folder, subfolders } from './folder.ts';
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

/** At most this many separate packages in subfolders; a person adds the rest. */
const MOST_PACKAGES = 10;

/** What a worktree of this repository needs and which gates prove a change, detected from the files of known tools. */
export async function detect(root: string, isInstalled: IsInstalled): Promise<Detected> {
  const below = await subfolders(root);
  const missing = await missingLocks(root, [new Folder(root), ...below]);
  const top = new Folder(root, '', missing);
  const found: Detected = { tools: [], notes: [], prepare: [], gates: [] };
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
  // A Makefile usually wraps the language's own command; it is proposed only where there is no such command.
  if (found.gates.length === 0) await detectMake(top, found);
  const versions = await versionsOf(top, isInstalled);
  return {
    ...versions.wrap(found),
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
async function detectIn(folder: Folder, tools: Tool[], found: Detected): Promise<void> {
  const done = new Set<string>();
  for (const tool of tools) {
    if (done.has(tool.language) || folder.present(...tool.shownBy).length === 0) continue;
    const proposal = await tool.propose(folder);
    if (!proposal || (proposal.gates.length === 0 && proposal.prepare.length === 0)) continue;
    done.add(tool.language);
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
  files: step.files.map(below(path)),
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

async function detectMake(folder: Folder, found: Detected): Promise<void> {
  const makefile = (await folder.text('Makefile')) || (await folder.text('makefile'));
  const gates = ['lint', 'test'].flatMap((target) =>
    new RegExp(`^${target}\\s*:(?!=)`, 'm').test(makefile) ? [gate(target, `make ${target}`, '5m')] : [],
  );
  if (gates.length === 0) return;
  found.tools.push('make');
  found.gates.push(...gates);
}
