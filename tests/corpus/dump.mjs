// What ical.js reads of files: see random_edits.py.
//   usage: node dump.mjs PATH-OF-ICAL.JS < paths, one a line. For each: [[depth, component, [[property, value], ...]], ...] or null.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { default: ICAL } = await import(pathToFileURL(process.argv[2]));

function* flat([name, properties, inside], depth) {
  yield [depth, name, properties.map(([own, parameters, , ...values]) => [own, JSON.stringify([[parameters.tzid, parameters.range], ...values])])];
  for (const component of inside) yield* flat(component, depth + 1);
}

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let out = null;
  try {
    const roots = ICAL.parse(new TextDecoder().decode(readFileSync(path)));
    out = (typeof roots[0] === "string" ? [roots] : roots).flatMap((root) => [...flat(root, 0)]);
  } catch {}
  console.log(JSON.stringify(out));
}
