import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guards } from '../ports.ts';
import { createGuards } from './guards.ts';

let folder: string;
let worktree: string;
let guards: Guards;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-danger-')));
  worktree = join(folder, 'data', 'projects', 'p', 'worktrees', '7');
  mkdirSync(worktree, { recursive: true });
  guards = await createGuards({ root: join(folder, 'no-project'), dataDir: join(folder, 'data') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verdict(command: string): Promise<string> {
  const found = await guards.check({ tool: 'Bash', input: { command } }, { worktree, mode: 'implement' });
  return found.kind === 'deny' ? found.guard : found.kind;
}

describe('an agent may not decide with the command line', () => {
  test.each([
    'tidemill token add me --role admin',
    'tidemill answer Q1.1 Approve',
    'tidemill spec approve S1',
    'tidemill deliver production',
    'tidemill loop approve 1',
    'tidemill loop --on',
    'tidemill task move 1 done',
    'tidemill task start 1',
    'tidemill conflicts settle 1',
    'tidemill memory promote L1',
    'tidemill release 1.0.0',
    'tidemill guards bypass push --why x',
    'tidemill feedback dismiss 1',
    'tidemill inbox ack --all',
    'tidemill budget --daily 9000',
    'tidemill doctor --repair',
    'tidemill up',
    'tidemill mcp --role admin',
    'npx tidemill answer Q1.1 Approve',
    'npx -y tidemill@latest answer Q1.1 Approve',
    'pnpm exec tidemill answer Q1.1 Approve',
    'pnpm dlx tidemill answer Q1.1 Approve',
    'yarn dlx tidemill answer Q1.1 Approve',
    'npm exec -- tidemill answer Q1.1 Approve',
    'bunx tidemill answer Q1.1 Approve',
    'node_modules/.bin/tidemill answer Q1.1 Approve',
    'node bin/tidemill.mjs answer Q1.1 Approve',
    'env -u TIDEMILL_RUN tidemill answer Q1.1 Approve',
    'unset TIDEMILL_RUN && tidemill answer Q1.1 Approve',
    'echo Q1.1 | xargs tidemill answer',
    '$(which tidemill) answer Q1.1 Approve',
    '"$(command -v tidemill)" answer Q1.1 Approve',
    'alias t=tidemill\nt answer Q1.1 Approve',
    'script -qc "tidemill answer Q1.1 Approve" /dev/null',
    'su -c "tidemill answer Q1.1 Approve"',
    'at now <<< "tidemill answer Q1.1 Approve"',
    'systemd-run --user tidemill answer Q1.1 Approve',
    'yarn tidemill answer Q1.1 Approve',
    'npm run tidemill -- answer Q1.1 Approve',
    'bun bin/tidemill.mjs answer Q1.1 Approve',
    'deno run -A bin/tidemill.mjs answer Q1.1 Approve',
    'node --import x node_modules/tidemill/dist/main.js answer Q1.1 Approve',
    'node packages/daemon/src/main.ts answer Q1.1 Approve',
    `node -e "require('child_process').execSync('tidemill answer Q1.1 Approve')"`,
    `python3 -c "import subprocess; subprocess.run(['tidemill', 'answer', 'Q1.1', 'x'])"`,
    'tidemill feedback --json dismiss 1',
    'tidemill agents test default',
  ])('%s', async (command) => {
    expect(await verdict(command)).toBe('tidemill-commands');
  });
});

describe('an agent may read, add and propose with the command line', () => {
  test.each([
    'tidemill',
    'tidemill --version',
    'tidemill task move --help',
    'tidemill status --json',
    'tidemill task add "One" --accept "It works"',
    'tidemill task list --search x',
    'tidemill task note 1 "I looked"',
    'tidemill questions',
    'tidemill guards',
    'tidemill guards propose no-sleep.yaml',
    'tidemill feedback "The list is slow"',
    'tidemill idea say I1 "And this"',
    'tidemill memory add "Start redis first"',
    'tidemill evidence list',
    'tidemill config check',
    'npx tidemill conflicts',
    'yarn tidemill status',
    'node bin/tidemill.mjs task list',
  ])('%s', async (command) => {
    expect(await verdict(command)).toBe('allow');
  });
});

describe('an agent publishes nothing', () => {
  test.each([
    'npm publish',
    'npm -w packages/a publish --access public',
    'npm unpublish left-pad',
    'npm dist-tag add a@1 latest',
    'pnpm -r publish',
    'yarn npm publish',
    'bun publish',
    'npx lerna publish',
    'cargo publish',
    'cargo +nightly publish -p a',
    'cargo yank --vers 1.0.0',
    'twine upload dist/*',
    'python3 -m twine upload dist/*',
    'poetry publish --build',
    'uv publish',
    'gem push a.gem',
    'bundle exec rake release',
    'docker push registry.example/a',
    'docker image push a',
    'docker compose push',
    'docker buildx build . --push -t a',
    'helm push a.tgz oci://registry.example',
    './mvnw -B clean deploy',
    './gradlew :lib:publish',
    'dotnet nuget push a.nupkg',
    'npx semantic-release',
    'npx changeset publish',
    'sh -c "cd pkg && npm publish"',
    'npm --prefix x publish',
    'npm --prefix x pub',
    'npm unpub a@1',
    'npm run deploy',
    'make publish',
    'nohup npm publish &',
    'timeout -k 5 5 npm publish',
    'echo npm publish | xargs -I{} sh -c "{}"',
    'npx -y npm@latest publish',
    'npx -c "npm publish"',
    'script -c "npm publish"',
    'chroot / npm publish',
    'mise exec node@20 -- npm publish',
    'direnv exec . npm publish',
    'nvm exec 20 npm publish',
    'npx cross-env A=1 npm publish',
    'npx concurrently "npm test" "npm publish"',
    '$(which npm) publish',
    'node $(which npm) publish',
    'node /usr/lib/node_modules/npm/bin/npm-cli.js publish',
    `node -e "require('child_process').execSync('npm publish')"`,
    `python3 -c "import subprocess; subprocess.run(['npm', 'publish'])"`,
    'uvx twine upload dist/*',
    'python -m poetry publish',
    'cargo --config a=b publish',
    'docker --context prod push a',
    'npx gh-pages -d dist',
  ])('%s', async (command) => {
    expect(await verdict(command)).toBe('publish');
  });

  test.each([
    'npm publish --dry-run',
    'npm pack',
    'npm run publish-docs-check',
    'cargo package',
    'twine check dist/*',
    'gem build a.gemspec',
    'docker build -t a .',
    './gradlew publishToMavenLocal',
    'mvn verify',
    'grep -rn "npm publish" docs',
    'git commit -m "npm publish is refused"',
    'npm test -- publish.test.ts',
    'npm run release:check',
    'npm -w pub test',
    'cargo test publish',
    'cargo build --release',
    'make release',
    'python3 -m pytest tests/test_upload.py',
    `python3 -c "print('docker')"`,
    'concurrently "npm test" "npm run lint"',
    'mise exec node@20 -- npm test',
  ])('but it may run %s', async (command) => {
    expect(await verdict(command)).toBe('allow');
  });
});

describe('an agent changes no machines and services of others', () => {
  test.each([
    'kubectl delete namespace prod',
    'kubectl -n prod apply -f x.yaml',
    'kubectl get secret db -o yaml',
    'helm upgrade web ./chart',
    'helm --namespace prod uninstall web',
    'terraform apply -auto-approve',
    'terraform -chdir=infra destroy',
    'tofu apply',
    'pulumi up --yes',
    'aws s3 rm s3://bucket --recursive',
    'aws --profile prod ec2 terminate-instances --instance-ids i-1',
    'aws secretsmanager get-secret-value --secret-id x',
    'gcloud projects delete p',
    'gcloud secrets versions access latest --secret x',
    'gsutil rm -r gs://bucket',
    'az group delete -n g',
    'vercel --prod',
    'flyctl deploy',
    'heroku pg:reset',
    'npx wrangler deploy',
    'npx cdk deploy',
    'minikube kubectl -- delete namespace x',
    'helmfile apply',
    'terragrunt run --all apply',
    'docker run hashicorp/terraform:1 apply',
    'pulumi -C infra up',
    // Words that read elsewhere make no exception.
    'gcloud projects delete list',
    'az group delete list',
    'ansible all -m shell -a "rm x --version"',
    'ssh prod systemctl restart web',
    'scp build.tgz prod:/srv',
    'rsync -a dist/ deploy@prod:/srv',
    'gh api -X DELETE repos/a/b',
    'vault kv get secret/x',
  ])('%s', async (command) => {
    expect(await verdict(command)).toBe('infrastructure');
  });

  test.each([
    'kubectl get pods',
    'kubectl apply -f x.yaml --dry-run=client',
    'helm template ./chart',
    'helm lint ./chart',
    'terraform plan',
    'terraform validate && terraform fmt -check',
    'aws s3 ls',
    'aws ec2 describe-instances',
    'aws --version',
    'gcloud compute instances list',
    'az vm list',
    'npx cdk synth',
    'npx wrangler dev',
    'rsync -a --delete src/ dist/',
    'ssh -T git@github.com',
    'gh api repos/a/b/pulls',
    'pulumi -C infra preview',
  ])('but it may run %s', async (command) => {
    expect(await verdict(command)).toBe('allow');
  });
});

describe('an agent does not stop the machine', () => {
  test.each([
    'kill -9 -1',
    'kill -- -1',
    'kill -s KILL -1',
    'kill -9 1',
    'sudo kill -KILL -1',
    'pkill -u root',
    'pkill -9 node',
    'killall node',
    'pkill -f .',
    'shutdown -h now',
    'sudo reboot',
    'systemctl poweroff',
    'init 0',
    'crontab -r',
    'crontab mine.txt',
    'echo "* * * * * x" | crontab -',
    ':(){ :|:& };:',
    'bomb() { bomb | bomb & }; bomb',
    'f() { f & f; }; f',
    'bash -c ":(){ :|:& };:"',
    'kill -9 -01',
    'python3 -c "import os; os.kill(-1, 9)"',
    'node -e "process.kill(-1, 9)"',
    "perl -e 'kill 9, -1'",
    "perl -e 'fork while 1'",
    'python3 -c "import os\nwhile 1: os.fork()"',
    'pkill -f ""',
    'pkill -v nothing',
    'fuser -km /',
  ])('%s', async (command) => {
    expect(await verdict(command)).toBe('whole-machine');
  });

  test.each([
    'kill 4711',
    'kill -9 4711',
    'kill -1 4711',
    'kill %1',
    'kill -- -4711',
    'pkill -f "vite --port 5199"',
    'crontab -l',
    'fact() { if [ $1 -le 1 ]; then echo 1; else fact $(($1 - 1)); fi; }; fact 3',
    'serve() { npm start & }; serve',
    'kill -9 $PID',
    'fuser -k 3000/tcp',
  ])('but it may run %s', async (command) => {
    expect(await verdict(command)).toBe('allow');
  });
});
