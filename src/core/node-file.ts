/** A file to add to the bootstrap machine. */
export interface NodeFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
}

/** The folder of this project's files on the bootstrap machine. */
export const nodeFolder = "/opt/openshift/konnectivity-bootstrap";
