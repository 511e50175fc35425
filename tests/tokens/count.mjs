// How many tokens of the tools a model sees: name, description and input schema, counted without a network.
//   usage: node count.mjs KALENDS NODE_MODULES
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [kalends, modules] = process.argv.slice(2);
const limits = { tokens: 6_000, bytes: 40_000 };
// The vocabularies of current and of somewhat older models of one maker; others are not published.
const vocabularies = ["o200k_base", "cl100k_base"];

const folder = mkdtempSync(join(tmpdir(), "kalends-tokens-"));
const server = spawn(kalends, [], {
  env: { CALDAV_URL: pathToFileURL(folder).href, CALDAV_EVALUATION_TIME_ZONE: "UTC" },
  stdio: ["pipe", "pipe", "inherit"],
});
const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const ask = async (id, method, params) => {
  send({ id, method, params });
  return (await lines.next()).value;
};
await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "count", version: "0" } });
send({ method: "notifications/initialized" });
const list = await ask(2, "tools/list", {});
server.stdin.end();
rmSync(folder, { recursive: true });

const { tools } = JSON.parse(list).result;
const seen = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
const bytes = Buffer.byteLength(list);
console.log(`tools/list: ${tools.length} tools, ${bytes} bytes (at most ${limits.bytes})`);
let failed = bytes > limits.bytes;
for (const vocabulary of vocabularies) {
  const { countTokens } = await import(pathToFileURL(resolve(modules, `gpt-tokenizer/esm/encoding/${vocabulary}.js`)).href);
  const tokens = seen.reduce((sum, text) => sum + countTokens(text), 0);
  console.log(`${vocabulary}: ${tokens} tokens (at most ${limits.tokens})`);
  failed ||= tokens > limits.tokens;
}
if (failed) {
  seen.forEach((text, at) => console.log(`${Buffer.byteLength(text)} bytes: ${tools[at].name}`));
  process.exit(1);
}
