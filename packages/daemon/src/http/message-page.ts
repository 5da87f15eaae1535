import { createHash } from 'node:crypto';

/** A short text shown instead of the page, without scripts or assets. */
export interface MessagePage {
  status: number;
  title: string;
  /** HTML; contains no text from outside. */
  text: string[];
}

const GET_LINK =
  'Run <code>tidemill status</code> in the repository and open the link that it prints. <code>tidemill up</code> prints it too.';

export const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** A browser that comes from another site does not send the strict cookie; a link on this page does. */
export const noLink = (address: string): MessagePage => ({
  status: 401,
  title: 'Open Tidemill from its link',
  text: [
    GET_LINK,
    'The link contains a key that only your user on this machine can read. If you have a token, use the link with that token.',
    `Did you just open the link? <a href="${escaped(address)}">Open the page</a>.`,
  ],
});

export const MESSAGE_PAGES = {
  oldLink: {
    status: 401,
    title: 'This link is no longer valid',
    text: ['Its key is wrong or old. Every start of the daemon creates a new key.', GET_LINK],
  },
  notBuilt: {
    status: 503,
    title: 'The page is not built',
    text: [
      'Tidemill is running, but its page is missing.',
      'Run <code>node scripts/ensure.mjs</code> in the checkout, then reload this page. <code>npm start</code> builds it automatically.',
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
