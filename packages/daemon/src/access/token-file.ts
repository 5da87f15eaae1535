import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { ALL_PROJECTS, AppError, ENGINE, NamedToken } from '@tidemill/contract';
import { z } from 'zod';
import type { Store } from '../ports.ts';

const TokenFile = z.object({ tokens: z.array(NamedToken.extend({ hash: z.string() })) });
type FiledToken = z.infer<typeof TokenFile>['tokens'][number];

/**
 * Earlier versions kept tokens in a file of the data folder. They are imported into the store once, and the file is
 * renamed. Two processes may do this at the same time.
 */
export async function takeOverTokens(file: string, store: Store): Promise<void> {
  if (!existsSync(file)) return;
  for (const token of await read(file)) await takeOver(store, token);
  try {
    await rename(file, `${file}.taken-over`);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** Picks another name if a token of another data folder already has it. */
async function takeOver(store: Store, token: FiledToken): Promise<void> {
  for (let copy = 1; ; copy += 1) {
    const name = copy === 1 ? token.name : `${token.name.slice(0, 46)}-${copy}`;
    const reply = await store.execute({ type: 'token.add', projectId: ALL_PROJECTS, ...token, name, by: ENGINE });
    if (reply.ok) return;
    if (reply.refusal.code !== 'conflict') throw new AppError(reply.refusal.code, reply.refusal.message);
  }
}

async function read(file: string): Promise<FiledToken[]> {
  try {
    return TokenFile.parse(JSON.parse(await readFile(file, 'utf8'))).tokens;
  } catch (cause) {
    if (isAbsent(cause)) return [];
    throw new AppError('bad_config', `${file} is damaged: it does not hold a list of tokens`, {
      hint: 'Its tokens cannot be imported into the store. Move the file away and create the tokens again.',
      cause,
    });
  }
}

const isAbsent = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';
