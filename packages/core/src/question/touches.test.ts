import { AUTONOMY_PRESETS } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { defaultRules } from '../../../../test/support/mill.ts';
import { foldersOf, isManifest, touchesOf } from './touches.ts';

const words = (text: string) => text.trim().split(/\s+/);
const MANIFESTS = words(`
  package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock pnpm-workspace.yaml bun.lockb
  deno.json deno.jsonc deno.lock bower.json pyproject.toml poetry.lock uv.lock pdm.lock Pipfile Pipfile.lock setup.py
  setup.cfg environment.yml environment.yaml pixi.toml pixi.lock Cargo.toml Cargo.lock go.mod go.sum go.work go.work.sum
  Gemfile Gemfile.lock composer.json composer.lock mix.exs mix.lock pubspec.yaml pubspec.lock Package.swift
  Package.resolved Podfile Podfile.lock Cartfile Cartfile.resolved pom.xml build.gradle build.gradle.kts settings.gradle
  settings.gradle.kts gradle.lockfile libs.versions.toml build.sbt project.clj deps.edn packages.config packages.lock.json
  Directory.Packages.props paket.dependencies paket.lock conanfile.txt conanfile.py vcpkg.json rebar.config rebar.lock
  stack.yaml stack.yaml.lock cabal.project Project.toml Manifest.toml flake.nix flake.lock .gitmodules MODULE.bazel
  MODULE.bazel.lock requirements.txt requirements-dev.txt requirements.in constraints.txt app.csproj app.fsproj
  app.vbproj mill.gemspec mill.cabal`);
const STRUCTURE = words(`
  Dockerfile dockerfile.dev Containerfile docker-compose.yml compose.dev.yaml Procfile Jenkinsfile Vagrantfile
  .gitlab-ci.yml azure-pipelines.yml cloudbuild.yaml serverless.yml fly.toml vercel.json netlify.toml Chart.yaml
  kustomization.yml skaffold.yaml main.tf dev.tfvars main.bicep job.nomad openapi.yaml swagger-v2.json api.proto
  api.graphqls api.wsdl user.avsc user.thrift schema.prisma schema.graphql schema.sql schema.rb
  .github/workflows/ci.yml .circleci/config.yml db/migrations/1.py db/migrate/1.rb alembic/versions/1.py`);
const PLAIN = words(
  'src/a.ts README.md package.json.md src/requirements.ts docs/dockerfiles.md proto.ts migrations.md',
);

const task = { files: ['src/**'], pipeline: 'feature', hilConfig: null };
const touched = (files: string[], fields: object = {}, added?: Set<string>) =>
  Object.fromEntries(touchesOf(files, { ...task, ...fields }, defaultRules, added));

describe('a change is judged by its files', () => {
  test.each(MANIFESTS)('%s declares dependencies, in any folder', (name) => {
    expect(isManifest(name)).toBe(true);
    expect(touched([`src/lib/${name}`])).toMatchObject({ dependencyModifications: [`src/lib/${name}`] });
  });

  test.each(STRUCTURE)('%s is architecture, in any folder', (name) => {
    expect(touched([`src/${name}`])).toEqual({ architectureDecisions: [`src/${name}`] });
  });

  test.each(PLAIN)('%s is neither', (name) => {
    expect(touched([name], { files: [] })).toEqual({});
  });

  test('files outside of the scope are a matter, those in it are none; without a scope there is no outside', () => {
    expect(touched(['src/a.ts', 'lib/b.ts'])).toEqual({ scopeChanges: ['lib/b.ts'] });
    expect(touched(['src/a.ts', 'lib/b.ts'], { files: [] })).toEqual({});
  });

  test('every file is outside where a person confirms everything and nobody plans', () => {
    const { confirm_all, major_only } = AUTONOMY_PRESETS;
    const all = { scopeChanges: ['src/a.ts'] };
    expect(touched(['src/a.ts'], { pipeline: 'quick', hilConfig: confirm_all })).toEqual(all);
    expect(touched(['src/a.ts'], { pipeline: 'quick', hilConfig: major_only })).toEqual({});
    expect(touched(['src/a.ts'], { pipeline: 'feature', hilConfig: confirm_all })).toEqual({});
  });

  test('critical files, new folders and new manifests are architecture', () => {
    expect(touched(['migrations/1.sql'], { files: [] })).toEqual({ architectureDecisions: ['migrations/1.sql'] });
    const added = new Set(['lib', 'src/go.mod']);
    expect(touched(['lib/a.ts', 'src/a.ts', 'src/go.mod'], { files: [] }, added)).toEqual({
      architectureDecisions: ['lib/a.ts', 'src/go.mod'],
      dependencyModifications: ['src/go.mod'],
    });
  });

  test('wildcards in the name of a file have no meaning', () => {
    expect(touched(['**/x.ts'])).toEqual({ scopeChanges: ['**/x.ts'] });
  });

  test('the folders of files are those at the top, each once', () => {
    expect(foldersOf(['src/a/b.ts', 'src/c.ts', 'lib/d.ts', 'README.md'])).toEqual(['src', 'lib']);
  });
});
