import './without-eval.ts';
import './style.css';
import './shell/shell.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { every } from './api.ts';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();

const cache = new QueryClient({
  defaultOptions: {
    // The daemon is local, so the browser's network state does not matter. Failures show at once and are retried.
    queries: {
      networkMode: 'always',
      retry: false,
      staleTime: 1000,
      refetchInterval: every(false),
    },
  },
});

createRoot(document.getElementById('page')!).render(
  <QueryClientProvider client={cache}>
    <App />
  </QueryClientProvider>,
);
