import type { ChannelConfig } from '@tidemill/contract';
import type { Channel, Clock, OpenChannel } from '../ports.ts';
import type { Screens } from './screens.ts';
import { Secrets, withoutSecrets } from './secret.ts';
import type { TelegramLines } from './telegram.ts';

export interface ChannelHost {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  clock: Clock;
  screens: Screens;
  /** The daemon's address, for receivers that answer through the API. */
  apiUrl: string;
  dataDir: string;
  homeId: string;
}

/** Opens channels. The code and library of a type are loaded with its first channel. */
export function createOpenChannel(host: ChannelHost): OpenChannel {
  let telegram: Promise<TelegramLines> | undefined;
  const open = async (config: ChannelConfig, secrets: Secrets): Promise<Channel> => {
    switch (config.type) {
      case 'terminal':
        return (await import('./terminal.ts')).openTerminalChannel(host.screens);
      case 'desktop':
        return (await import('./desktop.ts')).openDesktopChannel(host);
      case 'webhook': {
        const about = { apiUrl: host.apiUrl, now: () => host.clock.now() };
        return (await import('./webhook.ts')).openWebhook(config, secrets, about);
      }
      case 'telegram':
        telegram ??= import('./telegram.ts').then(({ TelegramLines }) => new TelegramLines());
        return (await telegram).open(config, secrets);
      case 'slack':
        return (await import('./slack.ts')).openSlack(config, secrets);
      case 'email':
        return (await import('./email.ts')).openEmail(config, secrets);
      case 'ntfy':
        return (await import('./ntfy.ts')).openNtfy(config, secrets);
    }
  };
  return async (config) => {
    const secrets = new Secrets(host.env);
    try {
      return withoutSecrets(await open(config, secrets), secrets);
    } catch (error) {
      throw secrets.channelError(error);
    }
  };
}

/** The destination of a channel, for people. */
export function targetOf(config: ChannelConfig): string {
  switch (config.type) {
    case 'terminal':
      return 'where `tidemill up` runs';
    case 'desktop':
      return 'this machine';
    case 'webhook':
      return config.url;
    case 'telegram':
      return `chat ${config.chat}`;
    case 'slack':
      return config.channel;
    case 'email':
      return config.to.join(', ');
    case 'ntfy':
      return `${config.baseUrl.replace(/\/+$/, '')}/${config.topic}`;
  }
}

export function takesAnswers(config: ChannelConfig): boolean {
  if (config.type === 'slack') return config.appTokenEnv !== undefined;
  if (config.type === 'ntfy') return config.secretEnv !== undefined;
  return config.type === 'telegram' || config.type === 'webhook';
}
