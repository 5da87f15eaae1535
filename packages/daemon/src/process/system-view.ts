import { existsSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import type { Mount } from './mounts.ts';

// What every sandbox sees of the machine itself: programs, libraries, and the settings that they need. This is an
// allowlist, because a complete denylist is impossible.

const names = (text: string, folder: string) => text.split(' ').map((name) => path.join(folder, name));

const PROGRAMS = [
  ...names('usr bin sbin lib lib32 lib64 libx32 opt snap nix/store nix/var/nix/profiles gnu/store', '/'),
  ...names('current-system', '/run'),
];
/** For programs that read the number of CPUs and the memory limit. */
const HARDWARE = names('devices/system/cpu devices/system/node kernel/mm/transparent_hugepage', '/sys');
/** cgroup v2 is one mount. v1 has a dozen, and each would make every start slower. */
const LIMITS = existsSync('/sys/fs/cgroup/cgroup.controllers') ? ['/sys/fs/cgroup'] : [];
const SETTINGS = [
  ...names('ld.so.cache ld.so.conf ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path', '/etc'),
  ...names(
    'alternatives static profiles passwd group nsswitch.conf hosts host.conf hostname gai.conf networks',
    '/etc',
  ),
  ...names('services protocols ethertypes localtime timezone locale.alias locale.conf default/locale', '/etc'),
  ...names('os-release lsb-release debian_version redhat-release alpine-release shells profile profile.d', '/etc'),
  ...names('bash.bashrc bashrc inputrc mime.types magic fonts login.defs', '/etc'),
  // Server certificates. The private keys next to them stay hidden.
  ...names('ssl/certs ssl/cert.pem ssl/openssl.cnf ca-certificates/extracted crypto-policies', '/etc'),
  ...names('tls/certs tls/cert.pem tls/openssl.cnf ca-trust java nssdb', '/etc/pki'),
  '/var/lib/ca-certificates',
  // Languages with files in /etc.
  ...names('java maven gradle php gemrc dotnet R', '/etc'),
  ...['8', '11', '17', '21', '25'].flatMap((version) => names(`java-${version}-openjdk`, '/etc')),
];
/** For DNS: only useful with network access. */
const RESOLVER = ['/etc/resolv.conf'];
/** Writable, empty and removed with the command. */
const SCRATCH = ['/tmp', '/var/tmp'];
/** Files about the whole machine, not about the sandbox's own processes. */
const MASKED = names('kcore keys timer_list latency_stats sched_debug asound acpi scsi', '/proc');

export function systemMounts(network: boolean): Mount[] {
  const readable = [...PROGRAMS, ...HARDWARE, ...LIMITS, ...SETTINGS, ...(network ? RESOLVER : [])];
  return [
    ...readable.map((at) => ({ at, kind: 'readable' as const })),
    ...SCRATCH.map((at) => ({ at, kind: 'hidden' as const })),
  ];
}

/** Whether every sandbox sees this path. */
export const isSystemPlace = (real: string): boolean =>
  PROGRAMS.some((place) => real === place || real.startsWith(place + path.sep));

/** What users other than root could still write there: settings of the sandbox's own namespaces. */
const UNWRITTEN = names('sys pressure', '/proc');

/**
 * The kernel's own files. For root most of them can be written without any capability, because they belong to root: so
 * for root all of /proc is read-only. Other users keep write access to files of their own processes, which some
 * programs need.
 */
export async function kernelMounts(isRoot: boolean, exists: (at: string) => Promise<boolean>): Promise<string[]> {
  const existing = async (places: string[]) =>
    (await Promise.all(places.map(async (at) => ((await exists(at)) ? [at] : [])))).flat();
  const unwritten = (await existing(UNWRITTEN)).flatMap((at) => ['--ro-bind', at, at]);
  const isFolder = (at: string) => /(asound|acpi|scsi)$/.test(at);
  return [
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    ...(await existing(MASKED)).flatMap((at) => (isFolder(at) ? ['--tmpfs', at] : ['--ro-bind', '/dev/null', at])),
    ...(isRoot ? ['--remount-ro', '/proc'] : unwritten),
  ];
}

/** Some programs search for sockets in /var/run, the old name of /run. */
export async function oldNames(): Promise<string[]> {
  const target = await readlink('/var/run').catch(() => null);
  return target === null ? [] : ['--symlink', target, '/var/run'];
}
