import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // Nothing inlined: the daemon's content security policy allows only files of its own.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A file of its own: within the entry it would run after the parts that load zod.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'without-eval', test: /without-eval/ }] } } },
  },
});
