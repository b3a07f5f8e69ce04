/** The tag (Google: the metadata key) by which a machine says what it was made of. */
export const recordName = "konnectivity-bootstrap-made-of";
