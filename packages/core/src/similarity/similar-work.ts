import { wordsOf } from './words.ts';

/** A piece of work, as far as its likeness to others is concerned. */
export interface DescribedWork {
  title: string;
  body: string;
  files: readonly string[];
}

/** From this likeness on it is the same work. */
export const DUPLICATE = 0.8;
/** From this likeness on it is shown as related. */
export const RELATED = 0.6;

/** How much the title counts beside the body, and the text beside the files. */
const TITLE = 0.8;
const TEXT = 0.85;
/** Words in a title say more than those in a body. */
const TITLE_TIMES = 3;

/** Counted words, by their number in the vocabulary. */
interface Counted {
  words: Int32Array;
  counts: Float32Array;
}
interface Entry<Key> {
  key: Key;
  title: Counted;
  body: Counted;
  /** Title and body together. */
  text: Counted;
  files: ReadonlySet<string>;
}
/** A text as a vector over the vocabulary. */
interface Asked {
  weights: Float32Array;
  norm: number;
}

/**
 * Finds work that is like a given piece. Texts are compared as sets of words in which rare words count more (cosine of
 * TF-IDF vectors), files as sets, in the same way. The weights of words follow the work that is known at the time
 * of the question. All texts are gone through each time, as arrays of numbers: some milliseconds for 10,000 of them.
 */
export class SimilarWork<Key> {
  readonly #entries = new Map<string, Entry<Key>>();
  readonly #vocabulary = new Map<string, number>();
  /** In how many works each word occurs. */
  #frequency = new Int32Array(1024);

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a work, or replaces the one with the same id. */
  put(id: string, key: Key, work: DescribedWork): void {
    this.remove(id);
    const entry = { key, ...this.#texts(work), files: new Set(work.files) };
    this.#entries.set(id, entry);
    this.#tally(entry.text, 1);
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#tally(entry.text, -1);
  }

  /** All works with at least this likeness, the most alike first. */
  like(work: DescribedWork, atLeast: number): { key: Key; likeness: number }[] {
    const texts = this.#texts(work);
    const rarity = this.#rarity();
    const asked = {
      title: vector(texts.title, rarity),
      body: vector(texts.body, rarity),
      text: vector(texts.text, rarity),
      files: new Set(work.files),
    };
    const found: { key: Key; likeness: number }[] = [];
    for (const entry of this.#entries.values()) {
      const likeness = likenessOf(entry, asked, rarity);
      if (likeness >= atLeast) found.push({ key: entry.key, likeness });
    }
    return found.sort((a, b) => b.likeness - a.likeness);
  }

  #texts({ title, body }: DescribedWork) {
    const inTitle = wordsOf(title);
    const inBody = wordsOf(body);
    return {
      title: this.#counted(inTitle),
      body: this.#counted(inBody),
      text: this.#counted([...Array<string[]>(TITLE_TIMES).fill(inTitle).flat(), ...inBody]),
    };
  }

  #counted(words: string[]): Counted {
    const counts = new Map<number, number>();
    for (const word of words) {
      const number = this.#vocabulary.get(word) ?? this.#vocabulary.size;
      this.#vocabulary.set(word, number);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    return {
      words: Int32Array.from(counts.keys()),
      // A word that is said ten times does not say ten times as much.
      counts: Float32Array.from(counts.values(), (count) => 1 + Math.log(count)),
    };
  }

  #tally({ words }: Counted, more: number): void {
    if (this.#vocabulary.size > this.#frequency.length) {
      const larger = new Int32Array(this.#vocabulary.size * 2);
      larger.set(this.#frequency);
      this.#frequency = larger;
    }
    for (const word of words) this.#frequency[word]! += more;
  }

  /** How much each word counts, squared: it is needed on both sides of a product. */
  #rarity(): Float32Array {
    const all = this.#entries.size + 1;
    const rarity = new Float32Array(this.#vocabulary.size);
    for (let word = 0; word < rarity.length; word += 1) {
      const inverse = 1 + Math.log(all / (1 + (this.#frequency[word] ?? 0)));
      rarity[word] = inverse * inverse;
    }
    return rarity;
  }
}

function vector({ words, counts }: Counted, rarity: Float32Array): Asked {
  const weights = new Float32Array(rarity.length);
  let sum = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    weights[word] = counts[at]!;
    sum += counts[at]! ** 2 * rarity[word]!;
  }
  return { weights, norm: Math.sqrt(sum) };
}

interface Question {
  title: Asked;
  body: Asked;
  text: Asked;
  files: ReadonlySet<string>;
}

function likenessOf(entry: Entry<unknown>, asked: Question, rarity: Float32Array): number {
  const byTitle = cosine(entry.title, asked.title, rarity);
  const byBody = cosine(entry.body, asked.body, rarity);
  const text = Math.max(cosine(entry.text, asked.text, rarity), TITLE * byTitle + (1 - TITLE) * byBody);
  if (entry.files.size === 0 || asked.files.size === 0) return text;
  return TEXT * text + (1 - TEXT) * shared(entry.files, asked.files);
}

function cosine({ words, counts }: Counted, asked: Asked, rarity: Float32Array): number {
  if (asked.norm === 0) return 0;
  let product = 0;
  let sum = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const weight = counts[at]! * rarity[word]!;
    product += weight * asked.weights[word]!;
    sum += weight * counts[at]!;
  }
  return sum === 0 ? 0 : product / (Math.sqrt(sum) * asked.norm);
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let both = 0;
  for (const file of few) if (many.has(file)) both += 1;
  return both / Math.sqrt(a.size * b.size);
}
