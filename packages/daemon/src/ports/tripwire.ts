/** Where it is kept which faults the gates notice. It can be made again at any time. */
export interface TripwireFile {
  /** Null: there is none, or it cannot be read. */
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
}
