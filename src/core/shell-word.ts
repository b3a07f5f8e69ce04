/** One word of a command line that is copied. */
export const shellWord = (text: string) => (/^[\w./~+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
