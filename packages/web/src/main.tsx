import './without-eval.ts';
import './style.css';
import './shell/shell.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();

const cache = new QueryClient({
  defaultOptions: {
    // The daemon is on this machine: what the browser knows of networks says nothing, and retries are live.ts' matter.
    queries: { networkMode: 'always', retry: false, staleTime: 1000 },
  },
});

createRoot(document.getElementById('page')!).render(
  <QueryClientProvider client={cache}>
    <App />
  </QueryClientProvider>,
);
