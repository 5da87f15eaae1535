import type { Card } from '../fleet/card.ts';
import type { FromPage, ToPage } from '../fleet/messages.ts';
import type { Banner, Overview, Spend } from '../fleet/overview.ts';
import { elapsed } from '../words.ts';
import { element, type Keyed, keyed } from './draw.ts';

// Draws what the extension sends. All text is set as text: titles and errors come from agents and strangers.

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const editor = acquireVsCodeApi();
const main = document.getElementById('fleet')!;

const error = element('p', 'banner error');
error.setAttribute('role', 'alert');
error.hidden = true;
const banners = element('div', 'banners');
banners.setAttribute('aria-live', 'polite');
const counts = element('p', 'counts');
const spend = element('div', 'spend');
const cards = element('ul', 'cards');
const comparison = element('div', 'comparison');
comparison.hidden = true;
const total = element('details', 'total');
const footer = element('div', 'footer');
main.append(element('h1', 'unseen', 'Fleet'), error, counts, spend, banners, cards, comparison, total, footer);

const command = (label: string, name: string, look = '') => {
  const button = element('button', look, label);
  button.addEventListener('click', () => editor.postMessage({ type: 'command', command: name }));
  return button;
};
const add = command('Add agent', 'tidemill.addAgent');
const whole = [command('Pause all', 'tidemill.pauseAll'), command('Resume all', 'tidemill.resumeAll')];
const stop = command('Emergency stop', 'tidemill.emergencyStop', 'danger');
const compare = element('button', '', 'Compare');
compare.setAttribute('aria-pressed', 'false');
footer.append(add, ...whole, compare, stop);

const bannerList = keyed(banners, ({ severity, text }: Banner) => `${severity} ${text}`, drawBanner);
const spendList = keyed(spend, ({ label }: Spend) => label, drawSpend);
const cardList = keyed(cards, ({ name }: Card) => name, drawCard);

function drawBanner(banner: Banner): Keyed<Banner> {
  const { severity, text, action } = banner;
  const box = element('div', `banner ${severity}`, '');
  box.append(element('span', '', text));
  if (action) box.append(command(action.label, action.command));
  return { box, update: () => undefined };
}

function drawSpend({ label }: Spend): Keyed<Spend> {
  const box = element('div', 'account');
  const text = element('span', 'amount');
  const bar = element('progress', '');
  bar.max = 100;
  bar.setAttribute('aria-label', `Spent: ${label}`);
  box.append(element('span', 'label', label), text, bar);
  return {
    box,
    update(value) {
      text.textContent = value.text;
      bar.value = Math.min(100, value.percent);
      box.className = `account ${value.look}`;
    },
  };
}

/** Elements are made once and updated, so that focus and open details stay. */
function drawCard({ name }: Card): Keyed<Card> {
  const box = element('li', 'card');
  box.setAttribute('aria-label', name);
  const status = element('span', 'state');
  const notes = element('span', 'notes');
  const head = element('header', '');
  head.append(element('h2', '', name), status, notes);
  const task = element('button', 'task');
  const doing = element('p', 'doing');
  const stage = element('span', '');
  const time = element('span', 'time');
  doing.append(stage, time);
  const bar = element('progress', '');
  bar.max = 100;
  bar.setAttribute('aria-label', `Progress of ${name}`);
  const progress = element('p', 'progress-text');
  const wrong = element('p', 'problem');
  const buttons = element('div', 'buttons');
  const more = element('details', '');
  more.append(element('summary', '', 'Figures'));
  const figures = element('dl', 'figures');
  more.append(figures);
  box.append(head, task, doing, bar, progress, wrong, buttons, more);
  let number = 0;
  task.addEventListener('click', () => editor.postMessage({ type: 'task', number }));
  let shownButtons = '';
  return {
    box,
    update(card) {
      status.textContent = card.status;
      status.className = `state ${card.status}`;
      box.className = card.isCrashed ? 'card crashed' : 'card';
      notes.textContent = card.notes.join(' · ');
      number = card.task?.number ?? 0;
      task.hidden = card.task === null;
      task.textContent = card.task ? `#${card.task.number} ${card.task.title}` : '';
      stage.textContent = card.doing;
      time.dataset.since = card.since === null ? '' : String(card.since);
      bar.hidden = card.progress === null;
      if (card.progress?.percent === null || !card.progress) bar.removeAttribute('value');
      else bar.value = card.progress.percent;
      progress.textContent = card.progress?.text ?? '';
      wrong.textContent = card.error === null ? '' : card.isCrashed ? card.error : `Last error: ${card.error}`;
      wrong.hidden = card.error === null;
      const wanted = JSON.stringify(card.buttons);
      if (wanted !== shownButtons) drawButtons(buttons, card);
      shownButtons = wanted;
      more.hidden = card.figures.length === 0;
      drawFigures(figures, card.figures);
    },
  };
}

function drawButtons(box: HTMLElement, { name, buttons }: Card): void {
  const focused = box.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.at : undefined;
  box.replaceChildren(
    ...buttons.map(({ operation, label }, at) => {
      const button = element('button', '', label);
      button.dataset.at = String(at);
      button.setAttribute('aria-label', `${label} ${name}`);
      button.addEventListener('click', () => editor.postMessage({ type: 'worker', worker: name, operation }));
      return button;
    }),
  );
  // "Pause" becomes "Resume" under the person's finger: the focus stays.
  if (focused !== undefined) (box.children[Number(focused)] as HTMLElement | undefined)?.focus();
}

function drawFigures(list: HTMLElement, figures: Card['figures']): void {
  list.replaceChildren(
    ...figures.map(({ name, value, grade }) => {
      const row = element('div', grade ?? '');
      row.append(element('dt', '', name), element('dd', '', grade ? `${value} (${grade})` : value));
      return row;
    }),
  );
}

compare.addEventListener('click', () => {
  const isOn = compare.getAttribute('aria-pressed') !== 'true';
  compare.setAttribute('aria-pressed', String(isOn));
  comparison.hidden = !isOn;
  cards.hidden = isOn;
});

/** All agents side by side: a column each. */
function drawComparison(compared: Card[]): void {
  const table = element('table', '');
  const names = element('tr', '');
  names.append(element('th', '', 'Figure'), ...compared.map(({ name }) => element('th', '', name)));
  const rows = (compared[0]?.figures ?? []).map((figure, at) => {
    const row = element('tr', '');
    row.append(element('th', '', figure.name));
    for (const { figures } of compared) {
      const { value, grade } = figures[at]!;
      row.append(element('td', grade ?? '', grade ? `${value} (${grade})` : value));
    }
    return row;
  });
  table.append(names, ...rows);
  comparison.replaceChildren(rows.length > 0 ? table : element('p', 'counts', 'No figures yet.'));
}

const totalTitle = element('summary', '');
const totalFigures = element('dl', 'figures');
total.append(totalTitle, totalFigures);

function draw(overview: Overview): void {
  counts.textContent = overview.counts;
  counts.hidden = overview.state !== 'ready';
  spendList(overview.spend);
  bannerList(overview.banners);
  cardList(overview.cards);
  totalTitle.textContent = overview.figuresFrom
    ? `All agents, 24 hours. Not up to date: figures from ${overview.figuresFrom}`
    : 'All agents, 24 hours';
  total.hidden = overview.total.length === 0;
  drawFigures(totalFigures, overview.total);
  drawComparison(overview.cards.filter(({ figures }) => figures.length > 0));
  footer.hidden = overview.state !== 'ready';
  stop.disabled = !overview.canStop;
  for (const button of whole) button.disabled = !overview.canAct;
  add.disabled = !overview.canAdd;
  tick();
}

function tick(): void {
  for (const time of document.querySelectorAll<HTMLElement>('.time')) {
    const { since } = time.dataset;
    time.textContent = since ? elapsed(Date.now() - Number(since)) : '';
  }
}
setInterval(tick, 1000);

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  try {
    draw(data.overview);
    error.hidden = true;
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    error.textContent = `The fleet could not be drawn: ${text}. Close and open the view again.`;
    error.hidden = false;
    editor.postMessage({ type: 'broken', text });
  }
});
editor.postMessage({ type: 'ready' });
