// What ical.js reads of edited files: see check.py.
//   usage: node check.mjs PATH-OF-ICAL.JS < jobs, one JSON object a line
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

const { default: ICAL } = await import(pathToFileURL(process.argv[2]));

// The components of a file in the order of their BEGIN lines, or null if ical.js refuses it.
function read(path) {
  try {
    const roots = ICAL.parse(new TextDecoder().decode(readFileSync(path)));
    return typeof roots[0] === "string" ? [roots] : roots;
  } catch {
    return null;
  }
}

function* inOrder(components) {
  for (const component of components) {
    yield component;
    yield* inOrder(component[2]);
  }
}

function* tree(components, depth) {
  for (const [name, , inside] of components) {
    yield [name, depth];
    yield* tree(inside, depth + 1);
  }
}

const entities = (roots) => [...inOrder(roots)].filter(([name]) => name === "vevent" || name === "vtodo");
const first = (roots, name) => {
  for (const [, properties] of entities(roots)) {
    const found = properties.find((property) => property[0] === name);
    if (found) return [properties, found];
  }
  return [];
};

function judge(job) {
  const before = read(job.file);
  if (!before) return "refused";
  // What is wrong counts only if ical.js and the scanner were of one mind about the file.
  const same = isDeepStrictEqual([...tree(before, 0)], job.tree);
  const result = sees(job, before);
  return same || ["read", "refused"].includes(result) ? result : "read otherwise";
}

function sees({ out, edit, text, value, parameters }, before) {
  const after = read(out);
  if (!after) return "is not read any more";
  if (edit === "summary") {
    const [, summary] = first(before, "summary");
    if (!summary) return "refused";
    summary[3] = text.replaceAll("\r\n", "\n");
    const [, changed] = first(after, "summary");
    if (changed?.[3] !== summary[3]) return `SUMMARY is ${JSON.stringify(changed?.[3])}`;
  } else if (edit === "attendee") {
    const [target] = entities(after);
    if (!target) return "refused";
    const at = target[1].findLastIndex((property) => property[0] === "attendee" && property[3] === value);
    if (at < 0) return "no new guest";
    const [guest] = target[1].splice(at, 1);
    for (const [name, wanted] of parameters) {
      const found = guest[1][name.toLowerCase()];
      if (found !== wanted) return `${name} is ${JSON.stringify(found)}`;
    }
  } else if (edit === "exdate") {
    const [properties, exdate] = first(before, "exdate");
    if (!exdate) return "refused";
    exdate.splice(3, 1);
    if (exdate.length === 3) properties.splice(properties.indexOf(exdate), 1);
  }
  return isDeepStrictEqual(before, after) ? "read" : "something else has changed";
}

const jobs = readFileSync(0, "utf8").split("\n").filter(Boolean);
for (const job of jobs) console.log(JSON.stringify(judge(JSON.parse(job))));
