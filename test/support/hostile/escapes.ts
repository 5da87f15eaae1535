/** A marker in everything that no agent and no gate may read. */
export const MARK = 'private-51c7';

/** What surrounds a sandboxed command in these trials. */
export interface Surroundings {
  home: string;
  root: string;
  dataDir: string;
  worktree: string;
  /** Another project, another task's worktree, and a folder like a disk that is mounted somewhere. */
  other: string;
  neighbour: string;
  disk: string;
  /** Listeners outside: one like an agent for keys, one on loopback, one with an abstract name. */
  socket: string;
  port: number;
  abstract: string;
  /** A process outside with a secret in its environment. */
  victim: number;
}

export interface Escape {
  name: string;
  does: string;
  /** It may seem to work in a temporary place: only what remains outside counts. */
  maySucceed?: boolean;
}

const connect = (target: string) =>
  `node -e "require('net').connect(${target}).on('data',(d)=>{console.log(''+d);process.exit(0)}).on('error',(e)=>{console.log(e.code);process.exit(1)})"`;

/** Opens without writing, so that success changes nothing on the machine. */
const open = (file: string) => `sh -c 'exec 3>>"${file}"'`;

const reads = ({ home, root, dataDir, other, neighbour, disk, victim, worktree }: Surroundings): Escape[] => [
  { name: 'password hashes', does: 'cat /etc/shadow' },
  { name: 'password hashes of groups', does: 'cat /etc/gshadow' },
  { name: 'who may become root', does: 'cat /etc/sudoers' },
  { name: 'keys of the machine', does: 'cat /etc/ssh/ssh_host_*_key' },
  { name: 'private keys of servers', does: 'ls -A /etc/ssl/private' },
  { name: 'another project', does: `cat '${other}/secret.txt'` },
  { name: 'the folder of all projects', does: `ls -A '${other}'` },
  { name: 'another disk', does: `cat '${disk}/letter.txt'` },
  { name: 'logs and state of services', does: 'ls -A /var/lib/dpkg /var/log' },
  { name: 'the store', does: `cat '${dataDir}/store.db'` },
  { name: 'how to reach the daemon', does: `cat '${dataDir}/daemon.json'` },
  { name: 'tokens', does: `cat '${dataDir}/tokens.json'` },
  { name: 'evidence', does: `cat '${dataDir}'/gates/*.log` },
  { name: 'the worktree of another task', does: `cat '${neighbour}/draft.txt'` },
  { name: 'a key for ssh', does: `cat '${home}/.ssh/id_ed25519'` },
  { name: 'keys for clouds', does: `cat '${home}/.aws/credentials' '${home}/.config/gcloud/credentials.db'` },
  { name: 'logins of tools', does: `cat '${home}/.config/gh/hosts.yml' '${home}/.docker/config.json'` },
  { name: 'what was typed', does: `cat '${home}/.bash_history'` },
  { name: 'an ignored file of the checkout', does: `grep ${MARK} '${root}/.env'` },
  { name: 'the password of the remote', does: `grep ${MARK} '${root}/.git/config'` },
  { name: 'the password of the remote, asked of git', does: `git config --list | grep ${MARK}` },
  { name: 'the password of the remote, through a worktree', does: `grep -r ${MARK} '${root}/.git'` },
  { name: 'a password among settings of git', does: `grep ${MARK} '${home}/.gitconfig'` },
  { name: 'credentials that git stores', does: `cat '${root}/.git/credentials'` },
  { name: 'the daemon’s environment', does: `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep ${MARK}` },
  { name: 'the environment of a process outside', does: `cat /proc/${victim}/environ` },
  { name: 'the memory of a process outside', does: `head -c 16 /proc/${victim}/mem` },
  { name: 'files of a process outside', does: `cat '/proc/${victim}/root${other}/secret.txt'` },
  { name: 'files by way of the first process', does: `cat '/proc/1/root${other}/secret.txt'` },
  {
    name: 'files by way of the old root',
    does: `cat '/oldroot${other}/secret.txt' '/proc/1/cwd/../oldroot${other}/secret.txt'`,
  },
  { name: 'files by way of a link', does: `ln -s '${other}/secret.txt' link; cat link` },
  { name: 'files by way of a link to the root', does: `ln -s / slash; cat 'slash${other}/secret.txt'` },
  { name: 'files above the worktree', does: `cat "$(pwd)/../2/draft.txt" '${worktree}/../../../../store.db'` },
  {
    name: 'anything private, anywhere',
    does: `grep -rlsI ${MARK} /etc /var /run /srv /mnt /media /home /tmp '${home}'`,
  },
];

const writes = ({ root, dataDir, neighbour, other }: Surroundings): Escape[] => [
  { name: 'a hook of the repository', does: `echo 'touch /tmp/x' > '${root}/.git/hooks/post-commit'` },
  { name: 'the repository’s settings', does: `echo '[core]' >> '${root}/.git/config'` },
  { name: 'the repository’s settings, by git', does: `git -C '${root}' config core.fsmonitor ./x` },
  { name: 'a branch', does: `git -C '${root}' update-ref refs/heads/evil HEAD` },
  { name: 'objects', does: 'echo evil | git hash-object -w --stdin' },
  { name: 'the checkout', does: `echo evil > '${root}/file.txt'` },
  { name: 'the checkout, by a hard link', does: `ln '${root}/file.txt' hard && echo evil > hard` },
  { name: 'the checkout, by a link', does: `ln -sf '${root}/file.txt' soft && echo evil > soft` },
  { name: 'the worktree of another task', does: `echo evil > '${neighbour}/draft.txt'`, maySucceed: true },
  { name: 'the store', does: `echo evil >> '${dataDir}/store.db'`, maySucceed: true },
  {
    name: 'evidence',
    does: `mkdir -p '${dataDir}/gates' && echo ok > '${dataDir}/gates/forged.log'`,
    maySucceed: true,
  },
  { name: 'another project', does: `mkdir -p '${other}' && echo evil > '${other}/secret.txt'`, maySucceed: true },
  { name: 'a program of the system', does: 'echo evil > /usr/bin/git' },
  { name: 'a new program on PATH', does: 'echo evil > /usr/local/bin/evil' },
  { name: 'what is loaded into every program', does: 'echo /x.so > /etc/ld.so.preload' },
  { name: 'the list of users', does: 'echo evil:0:0::/:/bin/sh >> /etc/passwd' },
];

const powers = ({ victim, other, root, socket, port, abstract }: Surroundings): Escape[] => [
  { name: 'the program for core dumps', does: open('/proc/sys/kernel/core_pattern') },
  { name: 'the program for new devices', does: open('/sys/kernel/uevent_helper') },
  { name: 'the program for new modules', does: open('/proc/sys/kernel/modprobe') },
  { name: 'the keys that restart the machine', does: open('/proc/sysrq-trigger') },
  {
    name: 'limits of processes',
    does: 'for f in $(find /sys/fs/cgroup -name "cgroup.procs" | head -50); do echo $$ >> "$f" && exit 0; done; exit 1',
  },
  {
    name: 'a read-only mount made writable',
    does: `mount -o remount,rw,bind '${root}' && echo evil > '${root}/file.txt'`,
  },
  { name: 'the root made writable', does: 'mount -o remount,rw / && touch /evil' },
  { name: '/proc made writable', does: `mount -o remount,rw /proc && ${open('/proc/sys/kernel/core_pattern')}` },
  { name: 'a mount taken away', does: `umount '${root}/.git' && cat '${root}/.git/config'` },
  {
    name: 'a user namespace with a fresh /proc',
    does: `unshare -Urpf --mount-proc ${open('/proc/sys/kernel/core_pattern')}`,
  },
  {
    name: 'a user namespace with mounts',
    does: `unshare -Urm sh -c "umount -l '${root}/.git' && grep ${MARK} '${root}/.git/config'"`,
  },
  { name: 'a disk', does: 'mknod disk b 8 0 && head -c 1 disk' },
  { name: 'the disk of the root', does: 'ls /dev/sda /dev/vda /dev/nvme0n1 /dev/mem /dev/kmsg 2>/dev/null | grep .' },
  { name: 'the namespaces of the first process', does: `nsenter -t 1 -m -p cat '${other}/secret.txt'` },
  { name: 'the namespaces of a process outside', does: `nsenter -t ${victim} -m cat '${other}/secret.txt'` },
  { name: 'another root', does: `chroot /proc/1/root cat '${other}/secret.txt'` },
  { name: 'to trace a process outside', does: `cat /proc/${victim}/maps` },
  { name: 'to end a process outside', does: `kill -9 ${victim}` },
  { name: 'to end all', does: `kill -STOP ${victim}; kill -9 -${victim}` },
  { name: 'to type into a terminal', does: 'exec 3<>/dev/tty' },
  { name: 'to rename the machine', does: 'hostname evil' },
  { name: 'memory that others share', does: 'ipcs -m | grep 0x' },
  { name: 'an agent for keys', does: connect(`'${socket}'`) },
  { name: 'containers', does: connect(`'/var/run/docker.sock'`) },
  { name: 'containers of root', does: connect(`'/run/containerd/containerd.sock'`) },
  { name: 'services of the system', does: connect(`'/run/dbus/system_bus_socket'`) },
  { name: 'a service on loopback', does: connect(`${port},'127.0.0.1'`) },
  { name: 'a socket with an abstract name', does: connect(`'\\0${abstract}'`) },
  {
    name: 'open files of the daemon',
    does: 'ls -l /proc/self/fd | grep -c -v "pipe:\\|/proc/\\|/dev/null\\|total\\|socket:" | grep -v "^0$"',
  },
];

export const escapes = (around: Surroundings): Escape[] => [...reads(around), ...writes(around), ...powers(around)];

/** Runs the commands on its standard input in order, and prints the result of each. */
export const TRIER = `
import { spawnSync } from 'node:child_process';
let input = '';
for await (const chunk of process.stdin) input += chunk;
for (const { name, does } of JSON.parse(input)) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', does], { encoding: 'utf8', timeout: 10_000 });
  console.log(JSON.stringify({ name, status, said: (stdout + stderr).slice(0, 2_000) }));
}
`;

/** Tries to open everything below these folders for writing, and prints what could be. */
export const OPENER = `
import { closeSync, constants, openSync, readdirSync } from 'node:fs';
const look = (folder) => {
  let entries = [];
  try { entries = readdirSync(folder, { withFileTypes: true }); } catch { return; }
  for (const entry of entries) {
    const at = folder + '/' + entry.name;
    if (folder === '/proc' && /^\\d+$/.test(entry.name) && process.env.OWN !== 'too') continue;
    if (entry.isDirectory()) look(at);
    else if (entry.isFile()) {
      try { closeSync(openSync(at, constants.O_WRONLY | constants.O_NONBLOCK)); console.log(at); } catch {}
    }
  }
};
for (const folder of ['/proc', '/sys']) look(folder);
console.log('looked');
`;
