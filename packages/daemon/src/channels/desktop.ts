import type { Channel, ChannelMessage } from '../ports.ts';
import { type ChildHost, startChild } from '../process/child.ts';
import { ChannelError } from './channel-error.ts';
import { bodyText, headline } from './render.ts';

const LIMIT = 500;
const TIMEOUT_MS = 10_000;
/** The variables by which a program finds the person's desktop. */
const DESKTOP_VARIABLES = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'XAUTHORITY'];

export interface DesktopOptions {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  dataDir: string;
  homeId: string;
}

/** Uses the desktop's own program; a library would only start the same one. */
export function openDesktopChannel({ env, platform, dataDir, homeId }: DesktopOptions): Channel {
  const host: ChildHost = { root: dataDir, dataDir, homeId, sandbox: 'off' };
  const given = DESKTOP_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    line: 'desktop',
    async send(message, signal) {
      const command = commandFor(platform, message);
      let output = '';
      const { end } = startChild({
        host,
        runId: message.id,
        command,
        cwd: dataDir,
        network: false,
        timeoutMs: TIMEOUT_MS,
        signal,
        env: { ...Object.fromEntries(given), ...(env.PATH === undefined ? {} : { PATH: env.PATH }) },
        onOutput: (chunk) => {
          output = (output + chunk.toString('utf8')).slice(-300);
        },
      });
      const ended = await end;
      if (ended.kind === 'unstartable')
        throw new ChannelError('denied', `the desktop cannot be reached: ${ended.message}`, {
          hint: platform === 'linux' ? 'Install notify-send (package libnotify-bin), or use another channel.' : '',
        });
      if (ended.kind !== 'exited' || ended.exitCode !== 0)
        throw new ChannelError('down', `${command[0]} failed: ${output.trim() || ended.kind}`);
      return null;
    },
    close: async () => undefined,
  };
}

function commandFor(platform: NodeJS.Platform, message: ChannelMessage): string[] {
  const title = headline(message, 100);
  const body = bodyText(message, LIMIT, { isAnswerable: false });
  if (platform === 'darwin') {
    // As arguments, never as part of the script.
    const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run';
    return ['osascript', '-e', script, title, body];
  }
  if (platform !== 'linux')
    throw new ChannelError('denied', `there are no desktop notifications on ${platform}`, {
      hint: 'Use another channel.',
    });
  const urgency = { info: 'low', warning: 'normal', error: 'normal', critical: 'critical' }[message.severity];
  return ['notify-send', '--app-name=Tidemill', `--urgency=${urgency}`, '--', title, escaped(body)];
}

/** Desktops read the text as markup. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
