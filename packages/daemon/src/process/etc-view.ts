import path from 'node:path';
import type { Copied, CopiedFolders } from './copies.ts';
import { type FoundMount, isInside } from './mounts.ts';

const ETC = '/etc';

/** Combines the single files of /etc into one mount, with mount points for the folders. */
export async function gatherEtc(mounts: FoundMount[], dataDir: string, copies: CopiedFolders): Promise<FoundMount[]> {
  const inEtc = mounts.filter(({ at, kind }) => kind !== 'hidden' && isInside(at, ETC));
  if (inEtc.length === 0) return mounts;
  const isCopied = (mount: FoundMount) => !mount.isFolder && mount.kind === 'readable' && inEtc.includes(mount);
  const places = new Map<string, Copied>();
  for (const mount of inEtc) {
    const name = path.relative(ETC, mount.at);
    const place = mount.isFolder ? ('folder' as const) : ('empty file' as const);
    // For a copy, the original file decides whether it is still current.
    const { mark, from } = mount;
    if (isCopied(mount)) places.set(name, { name, is: { file: from ?? mount.at }, mark });
    else if (!places.has(name)) places.set(name, { name, is: place, mark: '' });
  }
  const links = mounts.flatMap((mount) => mount.links.filter(({ at }) => isInside(at, ETC)));
  for (const { at, target } of links) {
    const name = path.relative(ETC, at);
    if (!places.has(name)) places.set(name, { name, is: { link: target }, mark: '' });
  }
  const entries = [...places.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const folder = await copies.folderOf('etc', entries, dataDir);
  const etc: FoundMount = { at: ETC, kind: 'readable', isFolder: true, links: [], mark: '', from: folder };
  return [...mounts.filter((mount) => !isCopied(mount)), etc];
}
