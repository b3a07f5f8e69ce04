import type { Lab } from "../../lab/lab.ts";

export interface Secret {
  readonly where: string;
  /** What shows that it is in a text: plain, and as base64 with whatever stands before it. */
  readonly forms: readonly string[];
}

/** Every private key of a lab's machines, wherever it is: in files of its own, in kubeconfigs, in manifests. */
export function secretsOf(lab: Lab): Secret[] {
  const find = "grep --recursive --files-with-matches --extended-regexp 'PRIVATE KEY|client-key-data|tls.key:'";
  return [lab.bootstrap, ...lab.nodes].flatMap((machine) =>
    machine
      .must(`${find} /opt/openshift /opt/lab /etc/kubernetes /run/lab-kubelet 2>/dev/null || :`)
      .split("\n")
      .filter(Boolean)
      .flatMap((file) => {
        const text = machine.must(`cat ${file}`);
        return keysIn(text).map((key) => ({ where: `${file} of ${machine.name}`, forms: formsOf(key) }));
      }),
  );
}

const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/g;

/** As PEM, where they stand as they are and where they stand as base64. */
function keysIn(text: string): string[] {
  const encoded = [...text.matchAll(/LS0tLS1CRUdJTi[\w+/]+=*/g)].map(([one]) => Buffer.from(one, "base64").toString());
  return [text, ...encoded].flatMap((one) => [...one.matchAll(pem)].map(([key]) => key));
}

/** Lines of the key's body; and of all of it, 60 characters of base64 from the middle, for each way of falling in threes. */
function formsOf(key: string): string[] {
  const body = key.split("\n").slice(1, -1);
  const shifted = [0, 1, 2].map((shift) => Buffer.from(" ".repeat(shift) + key).toString("base64"));
  return [...body.filter((line) => line.length >= 20), ...shifted.map((one) => one.slice(80, 140))];
}
