/** `14:05:09`; with the date if it is not today. */
export function timeOf(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
}

const ICONS: [begins: string, icon: string][] = [
  ['worker.crashed', 'error'],
  ['emergency', 'stop-circle'],
  ['worker.', 'person'],
  ['merge.landed', 'pass'],
  ['merge.', 'git-merge'],
  ['evidence.', 'beaker'],
  ['question.', 'question'],
  ['alert.', 'warning'],
  ['budget.', 'credit-card'],
  ['run.', 'rocket'],
  ['task.', 'tasklist'],
];

export const iconOf = (type: string): string => ICONS.find(([begins]) => type.startsWith(begins))?.[1] ?? 'pulse';
