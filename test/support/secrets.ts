import type { Lab } from "../../lab/lab.ts";

export interface Secret {
  readonly kind: "key" | "token";
  readonly where: string;
  /** Strings that betray it in a text: plain, and as base64 with anything before it. */
  readonly forms: readonly string[];
}

/** Every private key and token on a lab's machines: in files of their own, in kubeconfigs, in manifests. */
export function secretsOf(lab: Lab): Secret[] {
  const words = "PRIVATE KEY|client-key-data|tls.key:|eyJ[[:alnum:]_-]+[.]eyJ";
  const find = `grep --recursive --files-with-matches --extended-regexp '${words}'`;
  return [lab.bootstrap, ...lab.nodes].flatMap((machine) =>
    machine
      .must(`${find} /opt/openshift /opt/lab /etc/kubernetes /run/lab-kubelet 2>/dev/null || :`)
      .split("\n")
      .filter(Boolean)
      .flatMap((file) => {
        const text = machine.must(`cat ${file}`);
        const where = `${file} of ${machine.name}`;
        return [
          ...keysIn(text).map((key) => ({ kind: "key" as const, where, forms: formsOf(key) })),
          ...tokensIn(text).map((token) => ({ kind: "token" as const, where, forms: [token] })),
        ];
      }),
  );
}

/** The origins of the secrets that a text contains. */
export function leaks(secrets: readonly Secret[], text: string): string[] {
  return secrets.filter(({ forms }) => forms.some((form) => text.includes(form))).map(({ where }) => where);
}

const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Private keys in PEM, also from base64. */
function keysIn(text: string): string[] {
  const encoded = [...text.matchAll(/LS0tLS1CRUdJTi[\w+/]+=*/g)].map(([one]) => Buffer.from(one, "base64").toString());
  return [text, ...encoded].flatMap((one) => [...one.matchAll(pem)].map(([key]) => key));
}

/** Signatures of tokens: a token is worthless without its signature. */
function tokensIn(text: string): string[] {
  return [...text.matchAll(/\beyJ[\w-]+\.eyJ[\w-]+\.([\w-]{20,})/g)].map(([, signature = ""]) => signature);
}

/** Lines of the key's body, and 60 characters from the middle of its base64 form for each of the three byte offsets. */
function formsOf(key: string): string[] {
  const body = key.split("\n").slice(1, -1);
  const shifted = [0, 1, 2].map((shift) => Buffer.from(" ".repeat(shift) + key).toString("base64"));
  return [...body.filter((line) => line.length >= 20), ...shifted.map((one) => one.slice(80, 140))];
}
