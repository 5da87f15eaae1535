import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Set by `npm run dev`: `{ daemon, port }`, the daemon's address and the port of the development server. */
const dev = process.env.TIDEMILL_DEV ? JSON.parse(process.env.TIDEMILL_DEV) : null;

/**
 * The daemon refuses other origins. Only what comes from the page of this very server passes as its own; the browser's
 * cookie is still needed, and a foreign origin stays foreign.
 */
function ownOrigin(proxied, request) {
  if (request.headers.origin === `http://${request.headers.host}`) proxied.setHeader('origin', dev.daemon);
}

const toDaemon = (ws) => ({
  target: dev.daemon,
  changeOrigin: true,
  ws,
  configure(proxy) {
    proxy.on('proxyReq', ownOrigin);
    proxy.on('proxyReqWs', ownOrigin);
  },
});

export default defineConfig({
  plugins: [react()],
  server: dev
    ? {
        host: '127.0.0.1',
        port: dev.port,
        strictPort: true,
        // The link with the token goes to the daemon too: its answer sets the cookie.
        proxy: {
          '/v1': toDaemon(true),
          '/openapi.json': toDaemon(false),
          '/docs': toDaemon(false),
          '^/\\?token=': toDaemon(false),
        },
      }
    : undefined,
  // Nothing inlined: the daemon's content security policy allows only files of its own.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A file of its own: within the entry it would run after the parts that load zod.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'without-eval', test: /without-eval/ }] } } },
  },
});
