/** Name of the tag (Google: metadata entry) with the digest of what a machine was created from. */
export const digestTagName = "konnectivity-bootstrap-made-of";
