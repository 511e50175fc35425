// Reads VTIMEZONEs with ical.js. usage: node icaljs.mjs NODE_MODULES FILE
// FILE: a JSON list of [calendar, [[instant, local time, fold, plain] ...]]; prints a list of lists of offsets. Only the local
// times count: ical.js converts from UTC by the offset of the UTC time taken as a local one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, file] = process.argv.slice(2);
const path = createRequire(join(modules, "_.js")).resolve("ical.js");
const { default: ICAL } = await import(pathToFileURL(path));
const answers = JSON.parse(readFileSync(file, "utf8")).map(([text, queries]) => {
  const calendar = new ICAL.Component(ICAL.parse(text));
  const zone = new ICAL.Timezone(calendar.getFirstSubcomponent("vtimezone"));
  zone.utcOffset(new ICAL.Time({ year: 2061, month: 1, day: 1, hour: 0, minute: 0, second: 0 }));
  return queries.map(([, clock]) => {
    const t = new Date(clock * 1000);
    return zone.utcOffset(
      new ICAL.Time({
        year: t.getUTCFullYear(),
        month: t.getUTCMonth() + 1,
        day: t.getUTCDate(),
        hour: t.getUTCHours(),
        minute: t.getUTCMinutes(),
        second: t.getUTCSeconds(),
      }),
    );
  });
});
console.log(JSON.stringify(answers));
