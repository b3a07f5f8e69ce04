/** Texts that Terraform would read as templates, and some that only look like them. */
export const literalTexts = [
  ...['${file("/etc/hostname")}', "%{ if true }x%{ endif }", "$${x}", "%%{x}", "$$${x}", "$$$${x}", "%%%{x}", "${}"],
  ...["$${x}${y}%{z}", "${a${b}c}", "$", "%", "$ {x}", "100%", "a\\${x}", '"${x}"', "it's ${x}", "${x}\n%{y}", "~{x}"],
];
