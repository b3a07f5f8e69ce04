/** Quotes a text as one word of a command line that users copy. */
export const shellWord = (text: string) => (/^[\w./~+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
