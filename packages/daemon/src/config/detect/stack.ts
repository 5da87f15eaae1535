import type { DetectedStack } from '../../ports.ts';
import { Folder, subfolders } from './folder.ts';

/** Files that show a language, and the packages that they declare. */
const MANIFESTS: { file: string; language: string; packages(text: string): string[] }[] = [
  { file: 'package.json', language: 'JavaScript', packages: fromPackageJson },
  { file: 'pyproject.toml', language: 'Python', packages: (text) => [...fromTomlList(text), ...fromTomlTables(text)] },
  { file: 'requirements.txt', language: 'Python', packages: (text) => all(text, /^[ \t]{0,20}([A-Za-z0-9][\w.-]*)/gm) },
  { file: 'setup.py', language: 'Python', packages: fromTomlList },
  { file: 'Cargo.toml', language: 'Rust', packages: fromTomlTables },
  {
    file: 'go.mod',
    language: 'Go',
    packages: (text) =>
      all(text, /^[ \t]{0,20}(?:require[ \t]{1,20})?([\w.-]{1,100}\.[\w-]{1,100}\/[^\s]{1,200})[ \t]{1,20}v/gm),
  },
  {
    file: 'Gemfile',
    language: 'Ruby',
    packages: (text) => all(text, /^[ \t]{0,20}gem[ \t]{1,20}["']([^"'\n]{1,100})/gm),
  },
  {
    file: 'composer.json',
    language: 'PHP',
    packages: (text) => all(text, /"([\w.-]{1,100}\/[\w.-]{1,100})"[ \t]{0,20}:/g),
  },
  { file: 'pom.xml', language: 'Java', packages: (text) => all(text, /<artifactId>([^<]+)</g) },
  { file: 'build.gradle', language: 'Java', packages: fromGradle },
  { file: 'build.gradle.kts', language: 'Kotlin', packages: fromGradle },
];

const FRAMEWORKS: Record<string, string> = {
  react: 'React',
  vue: 'Vue',
  svelte: 'Svelte',
  '@angular/core': 'Angular',
  next: 'Next.js',
  express: 'Express',
  fastify: 'Fastify',
  '@nestjs/core': 'NestJS',
  vite: 'Vite',
  vitest: 'Vitest',
  jest: 'Jest',
  playwright: 'Playwright',
  electron: 'Electron',
  django: 'Django',
  flask: 'Flask',
  fastapi: 'FastAPI',
  sqlalchemy: 'SQLAlchemy',
  pytest: 'pytest',
  rails: 'Rails',
  sinatra: 'Sinatra',
  rspec: 'RSpec',
  'laravel/framework': 'Laravel',
  'symfony/framework-bundle': 'Symfony',
  tokio: 'Tokio',
  axum: 'Axum',
  'actix-web': 'Actix Web',
  'github.com/gin-gonic/gin': 'Gin',
  'spring-boot-starter': 'Spring Boot',
  'spring-boot-starter-web': 'Spring Boot',
  'junit-jupiter': 'JUnit',
};

/** The languages, frameworks and packages of a repository, from the files that declare them. */
export async function stackOf(root: string): Promise<DetectedStack> {
  const languages = new Set<string>();
  const dependencies = new Set<string>();
  for (const folder of [new Folder(root), ...(await subfolders(root))])
    for (const { file, language, packages } of MANIFESTS) {
      if (!folder.has(file)) continue;
      languages.add(folder.has('tsconfig.json') && language === 'JavaScript' ? 'TypeScript' : language);
      for (const name of packages(await folder.text(file))) dependencies.add(name.toLowerCase());
    }
  if (dependencies.has('typescript')) languages.add('TypeScript');
  const frameworks = Object.entries(FRAMEWORKS).flatMap(([name, shown]) => (dependencies.has(name) ? [shown] : []));
  return { languages: [...languages], frameworks: [...new Set(frameworks)], dependencies };
}

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

function fromPackageJson(text: string): string[] {
  try {
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest !== 'object' || manifest === null) return [];
    const { name } = manifest as { name?: unknown };
    const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
    const lists = fields.map((field) => (manifest as Record<string, unknown>)[field] ?? {});
    return [...(typeof name === 'string' ? [name] : []), ...lists.flatMap((list) => Object.keys(list))];
  } catch (error) {
    // A manifest that is being edited declares nothing for now.
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** `requests>=2` in a list. */
function fromTomlList(text: string): string[] {
  return all(
    text,
    /["']([A-Za-z0-9][\w.-]{0,100})[ \t]{0,20}(?:\[[^\]\n]{0,100}\])?[ \t]{0,20}(?:[<>=!~;][^"'\n]{0,200})?["']/g,
  );
}

/** Keys below a heading such as `[dependencies]`. */
function fromTomlTables(text: string): string[] {
  const tables = text.split(/^\[/m).filter((part) => /^[^\]\n]*dependencies/i.test(part));
  return tables.flatMap((table) => [
    ...all(table.slice(table.indexOf('\n')), /^[ \t]{0,20}([A-Za-z0-9][\w.-]{0,100})[ \t]{0,20}=/gm),
    ...all(table, /^[^\]\n]*dependencies\.([\w-]+)\]/g),
  ]);
}

function fromGradle(text: string): string[] {
  return all(text, /["'][\w.-]{1,100}:([\w.-]{1,100})(?::[^"'\n]{0,100})?["']/g);
}
