import { createHash } from 'node:crypto';

/** What a browser is shown in place of the page: a few words, no scripts, nothing to load. */
export interface MessagePage {
  status: number;
  title: string;
  /** HTML, our own words only. */
  text: string[];
}

const GET_LINK =
  'Run <code>tidemill status</code> in a terminal, in the repository, and open the link it prints. <code>tidemill up</code> prints it too.';

export const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** A browser that comes from another site sends no strict cookie; from this notice on it does. */
export const noLink = (address: string): MessagePage => ({
  status: 401,
  title: 'This page opens by its link',
  text: [
    GET_LINK,
    'The link holds a key that only your user on this machine can read. Somebody who was given a token has a link with it.',
    `Just opened the link and landed here? <a href="${escaped(address)}">Open the page</a>.`,
  ],
});

export const MESSAGE_PAGES = {
  oldLink: {
    status: 401,
    title: 'This link no longer opens the page',
    text: ['Its key is wrong, or older than the daemon: every start makes a new one.', GET_LINK],
  },
  notBuilt: {
    status: 503,
    title: 'The page is not built',
    text: [
      'Tidemill itself works; only its page is missing here.',
      'Run <code>node scripts/ensure.mjs</code> in the checkout, then load this page again. <code>npm start</code> does so by itself.',
    ],
  },
} satisfies Record<string, MessagePage>;

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.25rem}code{font:0.9em ui-monospace,monospace}`;

/** For the content security policy, which otherwise allows no style in the page itself. */
export const MESSAGE_STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

export function messageHtml({ title, text }: MessagePage): string {
  const paragraphs = text.map((line) => `<p>${line}</p>`).join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Tidemill</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
${paragraphs}
</main>
</html>
`;
}
