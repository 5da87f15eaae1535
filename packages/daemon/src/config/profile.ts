import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlainLine } from '@tidemill/contract';
import { z } from 'zod';
import { YamlFile } from './document.ts';

const PROFILE_FILE = '.tidemill/profile.yaml';

const Line = PlainLine.max(500);
const Lines = z.union([z.array(Line).max(50), Line.transform((line) => [line])]).default([]);
const fields = { goals: Lines, skills: Lines, network: Lines, lifeStage: Line.default('') };

/** Who the people behind the ideas are. `people` has what differs, by name. */
const ProfileFile = z.strictObject({
  ...fields,
  people: z.record(z.string().min(1), z.strictObject(fields)).default({}),
});

/** What a project's profile says about a person, as lines. Nothing without a file. */
export async function readProfile(root: string, person: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(join(root, PROFILE_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const { people, ...all } = new YamlFile(PROFILE_FILE, text).parse(ProfileFile, (content) => content ?? {});
  const own = Object.hasOwn(people, person) ? people[person] : undefined;
  const chosen = (key: 'goals' | 'skills' | 'network') => (own && own[key].length > 0 ? own[key] : all[key]);
  const lifeStage = own?.lifeStage || all.lifeStage;
  return [
    ...listed('Goals', chosen('goals')),
    ...listed('Skills', chosen('skills')),
    ...listed('Network', chosen('network')),
    ...(lifeStage ? [`Life stage: ${lifeStage}`] : []),
  ];
}

const listed = (name: string, lines: string[]) => (lines.length === 0 ? [] : [`${name}: ${lines.join('; ')}`]);
