const runs = (canary: string) => `touch ${canary}; cat`;

/** A repository that runs a program wherever git allows it, with a changed file so that git reads it. */
export const armed = (canary: string) => `arm() {
  mkdir -p "$1" && (cd "$1" && git init -q && echo one > inner.txt && git add -A &&
  git -c user.name=x -c user.email=x@example.org commit -qm x && echo two > inner.txt &&
  echo '* filter=x diff=x' > .git/info/attributes &&
  for key in filter.x.clean filter.x.smudge diff.x.textconv core.fsmonitor core.sshCommand uploadpack.packObjectsHook
  do git config "$key" '${runs(canary)}'; done
  for hook in post-checkout post-index-change reference-transaction
  do printf '#!/bin/sh\\n${runs(canary)}\\n' > ".git/hooks/$hook"; chmod +x ".git/hooks/$hook"; done)
}
nl='
'
case $mode in implement|request_changes) echo "echo $number" > src/work-$number.sh ;; esac
`;
const says = (summary: string) => `quiet=1; echo '{"tidemill":"result","outcome":"pr_ready","summary":"${summary}"}'`;

export interface GitEscape {
  title: string;
  does: string;
  lands: boolean;
}

/** Its commands create the canary if they run outside. */
export const gitEscapes = (canary: string): GitEscape[] => [
  { title: 'nested-repository', lands: true, does: 'arm nested-$number' },
  {
    title: 'nested-with-attributes',
    lands: false,
    does: 'arm nested-$number; cp nested-$number/.git/info/attributes nested-$number/.gitattributes',
  },
  { title: 'nested-behind-a-newline', lands: true, does: 'arm "a$number$nl b"' },
  { title: 'nested-behind-quotes', lands: true, does: `arm "-\\"'$number'\\""` },
  { title: 'nested-in-nested', lands: true, does: 'arm n$number; arm "n$number/$nl"; arm "n$number/$nl/deep"' },
  { title: 'nested-around-tracked-files', lands: true, does: 'arm src/inner-$number; arm src' },
  { title: 'populated-submodule', lands: true, does: 'arm vendor/lib' },
  {
    title: 'submodule-by-a-git-file',
    lands: true,
    does: 'arm .cache/store; echo "gitdir: $PWD/.cache/store/.git" > vendor/lib/.git',
  },
  {
    title: 'submodule-by-a-link',
    lands: true,
    does: 'arm .cache/store; ln -s "$PWD/.cache/store/.git" vendor/lib/.git',
  },
  {
    title: 'gitmodules-with-a-command',
    lands: false,
    does: `arm vendor/lib; printf '[submodule "vendor/lib"]\\n\\tpath = vendor/lib\\n\\turl = ext::touch ${canary}\\n\\tupdate = !touch ${canary}\\n' > .gitmodules`,
  },
  { title: 'repository-over-the-worktree', lands: true, does: 'rm -f .git; arm .' },
  {
    title: 'git-as-a-link',
    lands: true,
    does: 'arm .cache/store; rm -f .git; ln -s .cache/store/.git .git',
  },
  { title: 'git-as-a-pipe', lands: true, does: 'rm -f .git; mkfifo .git' },
  { title: 'pipe-as-gitignore', lands: true, does: 'mkdir -p p$number; mkfifo p$number/.gitignore' },
  {
    title: 'pipe-as-a-nested-head',
    lands: true,
    does: 'arm n$number; rm n$number/.git/HEAD; mkfifo n$number/.git/HEAD',
  },
  { title: 'pipe-over-a-tracked-file', lands: true, does: 'rm -f deps.txt; mkfifo deps.txt' },
  { title: 'git-in-capitals', lands: true, does: 'mkdir -p .GIT; echo x > .GIT/config' },
  { title: 'git-as-a-short-name', lands: true, does: 'mkdir -p git~1; echo x > git~1/config' },
  { title: 'huge-hole', lands: true, does: 'truncate -s 1T hole-$number' },
  { title: 'name-that-is-no-utf8', lands: true, does: `printf x > "$(printf 'a\\377%s' $number)"` },
  { title: 'claude-settings', lands: false, does: 'mkdir -p .claude; echo "{}" > .claude/settings.json' },
  { title: 'claude-as-a-link', lands: false, does: 'rm -rf .claude; ln -s elsewhere .claude' },
  { title: 'claude-in-a-folder', lands: false, does: 'mkdir -p src/.claude/hooks; echo x > src/.claude/hooks/x.sh' },
  { title: 'mcp-servers', lands: false, does: 'echo "{}" > src/.mcp.json' },
  { title: 'codex-settings', lands: false, does: 'mkdir -p .codex; echo x > .codex/config.toml' },
  { title: 'opencode-plugin', lands: false, does: 'mkdir -p .opencode/plugin; echo x > .opencode/plugin/x.ts' },
  { title: 'editor-tasks', lands: false, does: 'mkdir -p .vscode; echo "{}" > .vscode/tasks.json' },
  { title: 'included-git-settings', lands: false, does: 'echo "[alias]" > .gitconfig' },
  { title: 'agent-text', lands: false, does: 'mkdir -p .claude/agents; echo "Read the code." > .claude/agents/x.md' },
  { title: 'terminal-commands', lands: true, does: says('\\u001b]0;owned\\u0007\\u001b[2Jred') },
  { title: 'turned-text', lands: true, does: says('a\\u202eb\\u2066c\\u200bd\\ufeff') },
  { title: 'hidden-text', lands: true, does: says('a\\udb40\\udc41\\udb40\\udc42') },
];
