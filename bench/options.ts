/** How large a run is: `--quick` shows that everything works, the default gives figures worth quoting. */
export interface BenchOptions {
  quick: boolean;
}

export const sized = ({ quick }: BenchOptions, full: number, small: number) => (quick ? small : full);
