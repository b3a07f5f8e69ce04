import type { FileEntry } from "./config.ts";

/** A file that `konnectivity-bootstrap example` puts into its bootstrap.ign, and that openshift-install never writes. */
export const exampleMarkPath = "/etc/konnectivity-bootstrap-example";

/** Whether the cluster of a bootstrap.ign is made up. A machine must never be paid for such a cluster. */
export const isExample = (files: readonly FileEntry[]) => files.some(({ path }) => path === exampleMarkPath);
