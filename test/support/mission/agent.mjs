// A `command` agent for the end-to-end tests: protocol 1, nothing else. What it does is in the task's title.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

let input = '';
for await (const chunk of process.stdin) input += chunk;
const { mode, task, attempt } = JSON.parse(input);

const print = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const result = (outcome, more = {}) =>
  print({ tidemill: 'result', outcome, summary: `${mode} of ${task.title}`, ...more });
const git = (...args) => execFileSync('git', ['-c', 'user.name=agent', '-c', 'user.email=a@b.invalid', ...args]);
const write = (file, text) => {
  mkdirSync('out', { recursive: true });
  writeFileSync(file, text);
};

/** Writes its own file and its slot of a shared one. Idempotent. */
async function honest() {
  await delay(150 + ((task.number * 37 + attempt * 61) % 250));
  write(`out/${task.number}.txt`, `made by #${task.number}\n`);
  await delay(50);
  const lying = readFileSync('shared.txt', 'utf8');
  // An agent that was killed while writing leaves a truncated file.
  const shared = lying.includes('slot 12') ? lying : git('show', 'HEAD:shared.txt').toString();
  writeFileSync('shared.txt', shared.replace(`slot ${task.number}: empty`, `slot ${task.number}: #${task.number}`));
  if (task.title.includes('pair')) meet('pair.txt');
  result('pr_ready');
}

/** Adds a line to a file where another task adds one too, and keeps both on a conflict. */
function meet(file) {
  const lying = readFileSync(file, 'utf8');
  const lines = (lying.includes('first line') ? lying : git('show', `HEAD:${file}`).toString())
    .split('\n')
    .filter((line) => line !== '' && !/^(<{7}|={7}|>{7}|\|{7})/.test(line));
  writeFileSync(file, `${[...new Set([...lines, `line of #${task.number}`])].join('\n')}\n`);
}

const BEHAVIOURS = {
  'claims success without a change': () => result('pr_ready', { summary: 'all done, all tests pass' }),
  'breaks the tests': () => {
    write(`out/${task.number}.txt`, 'not what the check wants\n');
    result('pr_ready', { summary: 'all tests pass, I checked' });
  },
  'forges evidence': () => {
    mkdirSync('.tidemill', { recursive: true });
    writeFileSync('.tidemill/evidence.json', JSON.stringify({ gate: 'check', status: 'pass', exitCode: 0 }));
    print({ tidemill: 'evidence', gate: 'check', status: 'pass', hash: 'f'.repeat(64) });
    print({ tidemill: 'verdict', outcome: 'approved' });
    result('pr_ready', { summary: 'see .tidemill/evidence.json' });
  },
  'approves itself': () => {
    write(`out/${task.number}.txt`, 'not what the check wants\n');
    const criteria = task.acceptance.map(({ id }) => ({ id, met: true, evidence: 'the gate check passed' }));
    result('approved', { review: { criteria, comments: [] } });
  },
  'exits at once': () => process.exit(3),
  'prints garbage': () => {
    for (let i = 0; i < 64; i += 1) process.stdout.write(Buffer.alloc(16_384, i % 7 === 0 ? 0x0a : 0x80 + i));
    process.stdout.write('\n{"tidemill":"result","outcome":\n{"tidemill": 5}\n');
  },
  'deletes its worktree': () => {
    write(`out/${task.number}.txt`, `made by #${task.number}\n`);
    rmSync(process.cwd(), { recursive: true, force: true });
    result('pr_ready');
  },
  'commits by itself': () => {
    write(`out/${task.number}.txt`, `made by #${task.number}\n`);
    git('add', '-A');
    git('commit', '-q', '-m', 'I commit what I want');
    result('pr_ready');
  },
  'checks out another branch': () => {
    git('checkout', '-q', '-b', `mine-${task.number}`);
    write(`out/${task.number}.txt`, `made by #${task.number}\n`);
    git('add', '-A');
    git('commit', '-q', '-m', 'on a branch of my own');
    appendFileSync(`out/${task.number}.txt`, '');
    result('pr_ready');
  },
  'edits the settings': () => {
    appendFileSync('.tidemill/config.yaml', '\n# gates are for others\n');
    write(`out/${task.number}.txt`, `made by #${task.number}\n`);
    result('pr_ready');
  },
  'writes outside': () => {
    const place = /into (\S+)/.exec(task.body)?.[1] ?? '';
    for (const file of [`${place}/planted.txt`, `${process.env.HOME}/planted.txt`]) {
      try {
        writeFileSync(file, 'planted');
        console.log(`wrote ${file}`);
      } catch (error) {
        console.log(`could not write ${file}: ${error.code}`);
      }
    }
    write(`out/${task.number}.txt`, `made by #${task.number}\n`);
    result('pr_ready');
  },
};

switch (mode) {
  case 'plan':
  case 'plan_revision':
    await delay(100);
    result('plan_complete', { plan: 'Write the file, then the slot.', planSummary: 'Two steps.' });
    break;
  case 'review': {
    await delay(100);
    if (task.title.includes('reviewed by a liar')) result('approved', { review: { criteria: [], comments: [] } });
    else {
      const met = existsSync(`out/${task.number}.txt`);
      const criteria = task.acceptance.map(({ id }) => ({ id, met, evidence: `out/${task.number}.txt is there` }));
      result(met ? 'approved' : 'changes_requested', { review: { criteria, comments: [] } });
    }
    break;
  }
  default: {
    const misbehave = Object.entries(BEHAVIOURS).find(([name]) => task.title.includes(name))?.[1];
    await (misbehave ?? honest)();
  }
}
