/**
 * OpenShift releases in classes that differ in their proxy image:
 * up to 4.13 it is about v0.0.3x, from 4.14 about v0.28, from 4.23 v0.36.
 */
export const releases = ["4.12-4.13", "4.14-4.22", "4.23+"] as const;
export type Release = (typeof releases)[number];

/** True when `release` is `since` or newer. */
export function isAtLeast(release: Release, since: Release): boolean {
  return releases.indexOf(release) >= releases.indexOf(since);
}
