/** A board of Projects v2: items with a value per field. */
export interface Field {
  id: string;
  name: string;
  options: { id: string; name: string }[];
}

export interface Item {
  id: string;
  issue: number;
  /** The option of each field, by the field's id. */
  values: Map<string, string>;
  isArchived: boolean;
}

export class Project {
  readonly id: string;
  readonly fields: Field[];
  readonly items: Item[] = [];
  readonly number: number;
  readonly title: string;
  #nextItem = 1;
  #changes = 0;

  constructor(number: number, title: string, fields: Record<string, string[]>) {
    this.number = number;
    this.title = title;
    this.id = `PVT_${number}`;
    this.fields = Object.entries(fields).map(([name, options], index) => ({
      id: `PVTSSF_${number}_${index}`,
      name,
      options: options.map((option, place) => ({ id: `opt_${index}_${place}`, name: option })),
    }));
  }

  /** Grows with each change of a card. */
  get updatedAt(): string {
    return new Date(1_700_000_000_000 + this.#changes * 1000).toISOString();
  }

  /** The item of an issue; adding it again returns the same one, as GitHub does. */
  add(issue: number): Item {
    const found = this.items.find((item) => item.issue === issue);
    if (found) return found;
    this.#changes += 1;
    const item = { id: `PVTI_${this.number}_${this.#nextItem++}`, issue, values: new Map(), isArchived: false };
    this.items.push(item);
    return item;
  }

  /** Returns why not, or null. */
  set(itemId: string, fieldId: string, optionId: string | null): string | null {
    const item = this.items.find(({ id }) => id === itemId);
    if (!item) return `Could not resolve to a node with the global id of '${itemId}'`;
    const field = this.fields.find(({ id }) => id === fieldId);
    if (!field) return `Could not resolve to a node with the global id of '${fieldId}'`;
    this.#changes += 1;
    if (optionId === null) item.values.delete(fieldId);
    else if (field.options.some(({ id }) => id === optionId)) item.values.set(fieldId, optionId);
    else return `The single select option Id does not belong to the field`;
    return null;
  }

  /** What a person sees on the board. */
  value(issue: number, fieldName: string): string | null {
    const field = this.fields.find(({ name }) => name === fieldName);
    const option = this.items.find((item) => item.issue === issue)?.values.get(field?.id ?? '');
    return field?.options.find(({ id }) => id === option)?.name ?? null;
  }

  /** A person moves the card. */
  move(issue: number, fieldName: string, optionName: string): void {
    const field = this.fields.find(({ name }) => name === fieldName)!;
    this.#changes += 1;
    this.add(issue).values.set(field.id, field.options.find(({ name }) => name === optionName)!.id);
  }
}
