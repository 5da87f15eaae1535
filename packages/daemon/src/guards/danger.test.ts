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
  ])('but it may run %s', async (command) => {
    expect(await verdict(command)).toBe('allow');
  });
});
