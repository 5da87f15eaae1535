import type { Folder } from './folder.ts';

export interface ProposedGate {
  name: string;
  run: string;
  timeout: string;
  network?: boolean;
  env?: Record<string, string>;
}

/** A gate that looks for something, besides the commands of the repository. */
export interface ProtectingGate {
  name: string;
  kind: 'secrets' | 'docs' | 'audit';
  /** Where the kind's own command does not fit. */
  run?: string;
}

export interface ProposedStep {
  run: string;
  files: string[];
  env?: Record<string, string>;
  /** For the person who reads the config: why it is done this way. */
  comment?: string;
  /** Folders that it creates. git must ignore them, otherwise they are not kept as a result. */
  makes: string[];
}

export interface ConfigProposal {
  prepare: ProposedStep[];
  gates: ProposedGate[];
}

/** A package manager or build tool that `init` knows. To add one, add a row to `tools.ts`. */
export interface Tool {
  name: string;
  /** Of the tools of one language, the first that is found is used. */
  language: string;
  /** One of these shows that it is in use. */
  shownBy: string[];
  /** In a subfolder, one of these shows a separate package, which the tool at the root does not install. */
  ownIn: string[];
  /** Null when the files do not show anything to propose. */
  propose(folder: Folder): Promise<ConfigProposal | null>;
}

export const gate = (name: string, run: string, timeout = '2m', more: Partial<ProposedGate> = {}): ProposedGate => ({
  name,
  run,
  timeout,
  ...more,
});
