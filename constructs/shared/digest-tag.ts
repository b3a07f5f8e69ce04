/** Name of the tag, or metadata entry, with the digest of what a machine was created from. */
export const digestTagName = "konnectivity-bootstrap-made-of";
