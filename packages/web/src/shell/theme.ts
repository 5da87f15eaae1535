import { useState } from 'react';

const KEY = 'tidemill-theme';
const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'auto';
}

export function applyTheme(theme: Theme = read()): void {
  document.documentElement.dataset.theme = theme;
}

export function useTheme(): [theme: Theme, next: () => void] {
  const [theme, setTheme] = useState(read);
  return [
    theme,
    () => {
      const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
      localStorage.setItem(KEY, next);
      applyTheme(next);
      setTheme(next);
    },
  ];
}
