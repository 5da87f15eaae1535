const BESIDE =
  /^(?:readme|license|licence|copying|contributing|agents|claude)(?:\.\w+)?$|^\.(?:git|gitignore|gitattributes|editorconfig)$|^\.tidemill(?:\/|$)/i;

/** Whether a file or folder says nothing about how a repository is built. A repository with only such files is empty. */
export const isBesideCode = (path: string): boolean => BESIDE.test(path);
