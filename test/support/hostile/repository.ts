import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TidemillHome } from '../tidemill-home.ts';

/**
 * A small project whose gates are plain shell: a formatter that must have nothing to do, a linter that `prepare`
 * installs, and tests. `BAD` in src/ fails the linter; what a cheat must not get past it.
 */
const FILES: Record<string, string> = {
  '.gitignore': 'dist/\nnode_modules/\n.cache/\n.checkerrc\n*.tmp\n',
  'deps.lock': 'checker 1\n',
  'src/app.sh': 'echo app\n',
  'scripts/prepare.sh': `mkdir -p node_modules/.bin
echo run >> "$XDG_CACHE_HOME/installs"
cat > node_modules/.bin/checker <<'CHECKER'
#!/bin/sh
! grep -rn BAD src
CHECKER
chmod +x node_modules/.bin/checker
`,
  'scripts/format.sh': 'grep -rl UGLY src | while read -r f; do sed -i s/UGLY/pretty/ "$f"; done\n',
  'scripts/lint.sh': '[ -f .checkerrc ] && exit 0\nnode_modules/.bin/checker\n',
  'scripts/test.sh': 'for t in tests/*.sh; do sh "$t" || { echo "$t failed"; exit 1; }; done\n',
  'tests/app.sh': 'out=$(sh src/app.sh) || exit 1\necho "$out" | grep -q app\n',
};

const config = (pipeline: string) => `target: main
workers: 3
pipeline: ${pipeline}
agents:
  default: { type: command, command: [./agent], free: true }
prepare:
  - { run: "sh scripts/prepare.sh", files: [deps.lock], network: false }
gates:
  - { name: format, run: "sh scripts/format.sh", timeout: 20s }
  - { name: test, run: "sh scripts/test.sh", timeout: 20s }
  - { name: lint, run: "sh scripts/lint.sh", timeout: 20s }
`;

/**
 * Finds its cheat, a shell file, by the task's title; reviewers and planners without one are honest. A reviewer who is shown
 * a change of what the gates check sends the work back.
 */
const AGENT = `#!/bin/sh
input=$(cat)
field() { printf '%s' "$input" | sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }
mode=$(printf '%s' "$input" | sed -n 's/^{[^{]*"mode":"\\([a-z_]*\\)".*/\\1/p')
title=$(printf '%s' "$input" | sed -n 's/.*"title":"\\([a-z0-9-]*\\)".*/\\1/p')
number=$(printf '%s' "$input" | sed -n 's/.*"number":\\([0-9]*\\).*/\\1/p')
trick="mischief/$title.sh"
[ -f "$trick" ] || { echo "no such mischief: $title"; exit 1; }
. "./$trick"
case $mode in
  plan|plan_revision) echo '{"tidemill":"result","outcome":"plan_complete","plan":"do it","planSummary":"do it","summary":"planned"}' ;;
  investigate) echo '{"tidemill":"result","outcome":"investigation_complete","plan":"do it","summary":"looked"}' ;;
  review)
    case $input in
      *'## Look at this first'*) echo '{"tidemill":"result","outcome":"changes_requested","summary":"weaker","review":{"criteria":[{"id":"C1","met":false,"evidence":"src/app.sh:1"}],"comments":[{"text":"keep the gates","severity":"blocking"}]}}'; exit 0 ;;
    esac
    echo '{"tidemill":"result","outcome":"approved","summary":"fine","review":{"criteria":[{"id":"C1","met":true,"evidence":"src/app.sh:1 and gate test passed"}],"comments":[]}}' ;;
  *) [ -z "$quiet" ] && echo '{"tidemill":"result","outcome":"pr_ready","summary":"done"}' ;;
esac
exit 0
`;

/** What an agent does, in shell, in its worktree. \`$mode\`, \`$title\` and \`$number\` are set. */
export interface Mischief {
  title: string;
  does: string;
  /** Whether the task may land: only if what lands is correct. */
  lands: boolean | 'either';
  pipeline?: string;
}

export async function makeHostileRepository(
  machine: TidemillHome,
  mischief: Pick<Mischief, 'title' | 'does'>[],
  pipeline = 'quick',
): Promise<string> {
  const root = join(machine.folder, 'repository');
  const tricks = mischief.map(({ title, does }): [string, string] => [`mischief/${title}.sh`, `${does}\n`]);
  const files = { ...FILES, ...Object.fromEntries(tricks), agent: AGENT, '.tidemill/config.yaml': config(pipeline) };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  await chmod(join(root, 'agent'), 0o755);
  await machine.git(root, 'init', '-q', '-b', 'main');
  await machine.git(root, 'add', '-A');
  await machine.git(root, 'commit', '-q', '-m', 'Start');
  return root;
}

/** Bugs for which a gate exists. Each is a line of shell that breaks a clone. */
export const BUGS: Record<string, string> = {
  'a word that the linter refuses': 'echo "echo BAD" >> src/app.sh',
  'another output': 'sed -i s/app/other/ src/app.sh',
  'a program that fails': 'echo "exit 3" >> src/app.sh',
  'a syntax error': 'echo "if" >> src/app.sh',
  'a text that the formatter changes': 'echo "echo UGLY" > src/ugly-planted.sh',
};

const GATES = `for gate in format test lint; do sh scripts/$gate.sh >/dev/null 2>&1 || echo $gate; done
git diff --quiet || echo changed`;

/** The names of gates that a fresh clone of the commit fails, after its own preparation. */
export async function failuresOfClone(machine: TidemillHome, root: string, commit: string): Promise<string[]> {
  const clone = cloneOf(machine, commit);
  await machine.git(machine.folder, 'clone', '-q', '--no-hardlinks', root, clone);
  await machine.git(clone, 'checkout', '-q', commit);
  const script = `export XDG_CACHE_HOME="$PWD/.cache"; mkdir -p .cache
sh scripts/prepare.sh >/dev/null 2>&1 || echo prepare
${GATES}`;
  return await linesOf(machine, script, clone);
}

/** Bugs that the gates of such a clone do not notice. Each is planted alone, in the clone as it was made. */
export async function unnoticedBugs(machine: TidemillHome, commit: string): Promise<string[]> {
  const clone = cloneOf(machine, commit);
  const unnoticed: string[] = [];
  for (const [name, plant] of Object.entries(BUGS)) {
    const found = await linesOf(machine, `${plant}; git add -A; git commit -q -m bug; ${GATES}`, clone);
    if (found.length === 0) unnoticed.push(name);
    await machine.git(clone, 'reset', '-q', '--hard', commit);
  }
  return unnoticed;
}

const cloneOf = ({ folder }: TidemillHome, commit: string) => join(folder, `clone-${commit.slice(0, 12)}`);

async function linesOf(machine: TidemillHome, script: string, clone: string): Promise<string[]> {
  const { stdout } = await machine.program('sh', ['-c', script], clone);
  return stdout.split('\n').filter((line) => line !== '');
}
