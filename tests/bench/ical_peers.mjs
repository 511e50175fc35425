// What ical_peers.sh measures of ical.js: one line of measure, contender and nanoseconds each.
//   node ical_peers.mjs FOLDER MODULES
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, modules] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const module = await import(pathToFileURL(require.resolve("ical.js")));
const ICAL = module.default ?? module;
const name = "ical.js " + JSON.parse(readFileSync(modules + "/ical.js/package.json")).version;

const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) * 1e3; };

// The best time of a run, after enough of them for the compiler to have done its work.
function best(run, count) {
  let least = Infinity, repeats = 1, round = 0;
  while (round < 7) {
    const start = cpu();
    for (let n = 0; n < repeats; n++) run();
    const taken = cpu() - start;
    if (taken < 200e6 && round === 0) { repeats *= 2; continue; }
    round++;
    least = Math.min(least, taken / repeats);
  }
  return (least / count).toFixed(1);
}

for (const file of ["event.ics", "calendar.ics"]) {
  const bytes = readFileSync(`${folder}/${file}`), text = bytes.toString();
  const run = () => { if (new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").length === 0) process.exit(1); };
  console.log(`parse of ${bytes.length} bytes into lines and components\t${name}\t${best(run, 1)}`);
}
for (const [rule, start, count] of [
  ["FREQ=WEEKLY;BYDAY=MO,WE,FR", "2024-01-01T09:00:00", 1000],
  ["FREQ=DAILY", "2024-01-01T09:00:00", 10000],
  ["FREQ=MONTHLY;BYDAY=-1FR", "2024-01-26T09:00:00", 1000],
  ["FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "2024-11-28T09:00:00", 200],
]) {
  const run = () => {
    const made = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateTimeString(start));
    for (let n = 0; n < count; n++) if (!made.next()) process.exit(2);
  };
  console.log(`one of ${count}: ${rule}\t${name}\t${best(run, count)}`);
}
