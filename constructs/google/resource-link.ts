import { pattern } from "../../src/core/schema/fields.ts";

/** Names of Google's resources: lower case letters, digits and -, at most 63. Network tags too. */
const name = "[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?";
const project = "(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]";
const api = "https://(?:www|compute)\\.googleapis\\.com/compute/(?:v1|beta)/";

const places = { networks: "global", subnetworks: "regions/[a-z0-9-]+", instanceGroups: "zones/[a-z0-9-]+" } as const;

export const googleName = (expected: string) => pattern(expected, new RegExp(`^${name}$`));

export const projectId = () => pattern("a project ID like my-project", new RegExp(`^${project}$`));

/** A resource by its name, by its path, or by its link as gcloud prints it. */
export const googleLink = (kind: keyof typeof places, example: string) =>
  pattern(
    `a name, or a link like ${example}`,
    new RegExp(`^(?:(?:${api})?projects/${project}/${places[kind]}/${kind}/)?${name}$`),
  );

/** An image, or an image family, whose newest image is used. A name alone is ambiguous. */
export const imageLink = () =>
  pattern(
    "a link like projects/my-project/global/images/my-image",
    new RegExp(`^(?:${api})?projects/${project}/global/images/(?:family/)?${name}$`),
  );

/** The parts of a link. */
export interface Link {
  /** @default - only the name was given */
  readonly project?: string;
  /** Region or zone. @default - only the name was given, or it is global */
  readonly location?: string;
  readonly name: string;
}

export function readLink(link: string): Link {
  const [, project, place, location] = /projects\/([^/]+)\/(regions|zones|global)\/([^/]+)\//.exec(link) ?? [];
  return {
    project,
    location: place === "global" ? undefined : location,
    name: link.split("/").at(-1) ?? "",
  };
}
