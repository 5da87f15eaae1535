/** The program to run with Node 24; it exists only when the installation is complete. */
export declare const CODE_SERVER: string;
