// One conversation of an official MCP client for TypeScript with a stdio server. As client.py:
//   node client.mjs sdk|legacy|auto FOLDER <plan >record        FOLDER holds node_modules
// `sdk` is the 1.x line (@modelcontextprotocol/sdk), the others are modes of the 2.x line (@modelcontextprotocol/client).
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { resolve } from "node:path";

const [mode, folder] = process.argv.slice(2);
const load = createRequire(resolve(folder, "package.json"));
const { command, env, steps } = JSON.parse(readFileSync(0, "utf8"));
const name = { name: "kalends-live", version: "1" };
const inherited = Object.fromEntries(["PATH", "HOME"].flatMap((k) => (process.env[k] ? [[k, process.env[k]]] : [])));
const server = { command: command[0], args: command.slice(1), env: { ...inherited, ...env } };

function read(result) {
  const text = result.content.filter((c) => c.type === "text").map((c) => c.text).join("");
  const content = result.structuredContent;
  return { error: result.isError === true, content, mirrored: isDeepStrictEqual(JSON.parse(text), content) };
}

let asked = [], answer = {};
const confirm = async ({ params }) => {
  asked.push(params.message);
  return answer;
};

// The arguments of a step, with what they take from earlier answers.
function filled({ args, use = {} }, done) {
  args = structuredClone(args);
  for (const [path, [number, source]] of Object.entries(use)) {
    const value = source.split("/").reduce((value, name) => value[name], done[number].content);
    const names = path.split("/");
    const last = names.pop();
    names.reduce((place, name) => place[name], args)[last] = value;
  }
  return args;
}

async function step(client, s, done) {
  if (s.answer) {
    const before = asked;
    asked = [];
    answer = s.answer;
    return before;
  }
  if (s.get) return (await fetch(s.get)).json();
  if (s.tools) return (await client.listTools()).tools;
  const out = read(await client.callTool({ name: s.tool, arguments: filled(s, done) }));
  for (let more; s.all && !out.error && (more = further(out.content)); ) {
    const page = read(await client.callTool({ name: s.tool, arguments: { ...more, pageSize: s.args.pageSize } }));
    out.mirrored &&= page.mirrored;
    if (page.error) Object.assign(out, { error: true, content: page.content });
    else {
      const rows = "items" in page.content ? "items" : "changes";
      out.content = { ...page.content, [rows]: [...out.content[rows], ...page.content[rows]] };
    }
  }
  if (s.all && !out.error && out.content.checkpoint)
    out.later = read(await client.callTool({ name: s.tool, arguments: { checkpoint: out.content.checkpoint } }));
  return out;
}

// The arguments of the next page.
function further({ hasMore, checkpoint, pagination }) {
  if (hasMore) return { checkpoint };
  return pagination?.nextCursor && { cursor: pagination.nextCursor };
}

const record = { steps: [] };
const asking = steps.some((s) => s.answer);
try {
  let client, transport;
  if (mode === "sdk") {
    const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
    client = new Client(name, { capabilities: asking ? { elicitation: {} } : {} });
    if (asking) client.setRequestHandler(load("@modelcontextprotocol/sdk/types.js").ElicitRequestSchema, confirm);
    transport = new StdioClientTransport(server);
    const said = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => { record.revision = version; said?.(version); };
  } else {
    const { Client } = load("@modelcontextprotocol/client");
    const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
    client = new Client(name, { capabilities: asking ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode } });
    if (asking) client.setRequestHandler("elicitation/create", confirm);
    transport = new StdioClientTransport(server);
  }
  await client.connect(transport);
  record.revision ??= client.getNegotiatedProtocolVersion?.();
  record.server = client.getServerVersion()?.name;
  record.instructions = client.getInstructions();
  for (const s of steps) record.steps.push(await step(client, s, record.steps));
  await client.close();
} catch (e) {
  record.exception = e.stack ?? String(e);
}
process.stdout.write(JSON.stringify(record));
