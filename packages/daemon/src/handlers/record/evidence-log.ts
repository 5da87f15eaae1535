import { type FileHandle, open } from 'node:fs/promises';
import { AppError, type CutText, type RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { removalText } from './removed-log.ts';

const GONE = 'The output of this gate is no longer stored, only its receipt.';

/** The output of a gate: all of it, or its beginning and its end. */
export async function showEvidenceLog(services: Services, input: RouteRequest<'evidenceLog'>): Promise<CutText> {
  const project = await projectOf(services, input.project);
  const link = await services.store.evidenceById(input.evidence);
  if (link?.projectId !== project.id)
    throw new AppError('not_found', `there is no evidence "${input.evidence}" in ${project.name}`, {
      hint: '`tidemill task show NUMBER` lists the evidence of a task.',
    });
  // The value becomes part of a path, so only a hash is accepted.
  if (!/^[0-9a-f]{64}$/.test(link.logHash)) return { text: GONE, isCut: false };
  let handle: FileHandle;
  try {
    handle = await open(services.machine.folder.gateLog(link.logHash));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const removed = await removalText(services, 'gates', link.logHash);
    return {
      text: removed === null ? GONE : `The output of this gate was ${removed}. Its receipt is kept.`,
      isCut: false,
    };
  }
  try {
    return await headAndTail(handle, input.maxBytes);
  } finally {
    await handle.close();
  }
}

async function headAndTail(handle: FileHandle, maxBytes: number): Promise<CutText> {
  const { size } = await handle.stat();
  if (size <= maxBytes) return { text: (await read(handle, 0, size)).toString('utf8'), isCut: false };
  const half = Math.ceil(maxBytes / 2);
  const head = await read(handle, 0, half);
  const tail = await read(handle, size - (maxBytes - half), maxBytes - half);
  const mark = `\n[${((size - maxBytes) / 1e6).toFixed(1)} MB of output left out here]\n`;
  return { text: `${untilLetter(head)}${mark}${fromLetter(tail)}`, isCut: true };
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** A character that was cut in two is left out of both parts. */
const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function untilLetter(bytes: Buffer): string {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && isInside(bytes[end - 1])) end -= 1;
  const first = bytes[end - 1] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  const isWhole = bytes.length - end === length - 1;
  return bytes.subarray(0, isWhole ? bytes.length : end - 1).toString('utf8');
}

function fromLetter(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && isInside(bytes[start])) start += 1;
  return bytes.subarray(start).toString('utf8');
}
