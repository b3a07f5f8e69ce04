import { join } from "node:path";

/** Where a lab is, by its name. Not below a temporary folder: a cleaner must not eat a lab that runs. */
export const labFolder = (name: string) => join("/var/lib/konnectivity-bootstrap/labs", name);
