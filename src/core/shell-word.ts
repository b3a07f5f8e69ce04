/** Quotes a text as one word of a command line that users copy. */
export const shellWord = (text: string) =>
  /^[\w./+:@-][\w./~+:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The same for a path, which must not look like an option. */
export const shellPath = (path: string) => shellWord(path.startsWith("-") ? `./${path}` : path);
