/** Lines as openshift-install writes them into .openshift_install.log. */
export const logLines = (...messages: readonly string[]) =>
  messages
    .map((text, index) => {
      const level = text.includes("Discarding") ? "warning" : "debug";
      return `time="2026-11-18T15:00:${String(index).padStart(2, "0")}Z" level=${level} msg="${text}"\n`;
    })
    .join("");

/** The beginning of a run of "create cluster", and more. */
export const createClusterLog = (...more: readonly string[]) =>
  logLines("OpenShift Installer 4.18.1", "Built from commit 0123456789abcdef", "Fetching Metadata...", ...more);
